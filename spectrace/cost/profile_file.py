"""Profiles of one's own: a TOML file that names shipped architectures and hardware, or states others.

    # profile.toml
    name = "ours"
    source = "config.json of the served checkpoints, measured bandwidth"
    weak = {architecture = "Qwen3.5-4B", hardware = "H20"}
    strong = {architecture = "big", hardware = "H20"}

    [architectures.big]
    source = "its config.json"
    layers = 64
    ...

Every field is checked and none is guessed: a wrong figure here is a wrong table later.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path

from spectrace.cost.architecture import Architecture
from spectrace.cost.hardware import Hardware
from spectrace.cost.profiles import ARCHITECTURES, HARDWARE, PROFILES, Deployment, Profile
from spectrace.errors import UsageError


def load_profile(named: str) -> Profile:
    """Return a shipped profile, or read a file; raise UsageError naming what is wrong."""
    if named in PROFILES:
        return PROFILES[named]
    path = Path(named).expanduser()
    if not path.suffix and not path.exists():
        raise UsageError(f"no profile is named {named!r}; there are {', '.join(PROFILES)}, or name a TOML file.")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"{path} cannot be read: {why}.") from None
    return read_profile(text, str(path))


def read_profile(text: str, where: str) -> Profile:
    """Read the text of a profile file."""
    try:
        values: dict[str, object] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{where} is not TOML: {error}.") from None
    _only(where, values, ("name", "source", "weak", "strong", "architectures", "hardware"))
    own = {
        name: Architecture(**_read(f"{where}: architectures.{name}", Architecture, name, table))  # type: ignore[arg-type]  # checked there
        for name, table in _table(where, values, "architectures").items()
    }
    devices = {
        name: Hardware(**_read(f"{where}: hardware.{name}", Hardware, name, table))  # type: ignore[arg-type]  # checked there
        for name, table in _table(where, values, "hardware").items()
    }
    for name in ("name", "source"):
        if not isinstance(values.get(name), str):
            raise UsageError(f"{where}: {name} must be a text: what this profile is, and where its figures are from.")
    weak, strong = (
        _deployment(where, role, _table(where, values, role), {**ARCHITECTURES, **own}, {**HARDWARE, **devices})
        for role in ("weak", "strong")
    )
    return Profile(str(values["name"]), str(values["source"]), weak, strong)


def _deployment(
    where: str,
    role: str,
    table: Mapping[str, object],
    architectures: Mapping[str, Architecture],
    devices: Mapping[str, Hardware],
) -> Deployment:
    _only(f"{where}: {role}", table, ("architecture", "hardware"))
    model, device = table.get("architecture"), table.get("hardware")
    if not isinstance(model, str) or model not in architectures:
        raise UsageError(f"{where}: {role}.architecture must be one of {', '.join(architectures)}; found {model!r}.")
    if device is not None and (not isinstance(device, str) or device not in devices):
        raise UsageError(f"{where}: {role}.hardware must be one of {', '.join(devices)}; found {device!r}.")
    return Deployment(architectures[model], None if device is None else devices[device])


def _table(where: str, values: Mapping[str, object], name: str) -> dict[str, object]:
    table = values.get(name, {})
    if not isinstance(table, dict):
        raise UsageError(f"{where}: {name} must be a table, found {type(table).__name__}.")
    return table


def _only(where: str, values: Mapping[str, object], known: tuple[str, ...]) -> None:
    unknown = [name for name in values if name not in known]
    if unknown:
        raise UsageError(f"{where}: {unknown[0]} is not known. Known: {', '.join(known)}.")


def _read(where: str, kind: type[Architecture | Hardware], name: str, table: object) -> dict[str, object]:
    """Return the fields of a dataclass out of a table, each of its kind: nothing is guessed, nothing passed over."""
    if not isinstance(table, dict):
        raise UsageError(f"{where} must be a table, found {type(table).__name__}.")
    known = {one.name: one for one in fields(kind) if one.name != "name"}
    _only(where, table, tuple(known))
    missing = [one for one in known if one not in table and known[one].default is MISSING]
    if missing:
        raise UsageError(f"{where}: {', '.join(missing)} must be given.")
    for one, value in table.items():
        if not _fits(known[one].type, value):
            raise UsageError(f"{where}: {one} is not what it must be ({_words(known[one].type)}); found {value!r}.")
    return {**table, "name": name}


def _fits(wanted: object, value: object) -> bool:
    match value:
        case bool():
            return wanted is bool
        case int() | float() if wanted in (int, int | None):
            return isinstance(value, int) and value >= 0
        case int() | float():
            return wanted is float and value > 0
        case str():
            return wanted is str
        case dict():
            return wanted not in (int, float, str, bool) and all(_fits(float, number) for number in value.values())
        case _:
            return False


def _words(wanted: object) -> str:
    words = {bool: "true or false", int: "a whole number, 0 or more", float: "a number above 0", str: "a text"}
    return words.get(wanted, "a whole number, or FLOP a second by kind of number")  # type: ignore[call-overload, no-any-return]  # a type is a key
