"""Which architecture and hardware a run's models stand for: shipped by name, or a file of one's own.

`paper` prices a log as if it had run in the paper's deployment, `local` is the pair of `spectrace demo`. Without a
profile each recorded model is looked up by its own name; one that is not known has no FLOPs and no bytes, not 0.

    # profile.toml
    name = "ours"
    source = "config.json of the served checkpoints, measured bandwidth"
    weak = {architecture = "Qwen3.5-4B", hardware = "H20"}
    strong = {architecture = "big", hardware = "H20"}

    [architectures.big]
    source = "its config.json"
    layers = 64
    ...
"""

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path

from spectrace.cost.architecture import Architecture
from spectrace.cost.hardware import Hardware
from spectrace.errors import UsageError

_QWEN35 = "model configuration classes and published configurations; totals agree with the makers' names"
_GGUF = "the checkpoint's configuration; bytes per weight: size of the Q4_K_M file over its parameters"

ARCHITECTURES: Mapping[str, Architecture] = {
    one.name: one
    for one in (
        Architecture(
            name="Qwen3.5-4B",
            source=_QWEN35,
            layers=32,
            full_layers=8,
            hidden=2560,
            heads=16,
            kv_heads=4,
            head_dim=256,
            gated=True,
            ffn=9216,
            vocab=248_320,
            tied=True,
            gdn_key_heads=16,
            gdn_value_heads=32,
            gdn_dim=128,
            gdn_conv=4,
        ),
        Architecture(
            name="Qwen3.5-397B-A17B",
            source=f"{_QWEN35}; its count of GDN heads is inferred from the total",
            layers=60,
            full_layers=15,
            hidden=4096,
            heads=32,
            kv_heads=2,
            head_dim=256,
            gated=True,
            ffn=1024,
            vocab=248_320,
            tied=False,
            experts=512,
            experts_per_token=10,
            shared_experts=1,
            gdn_key_heads=16,
            gdn_value_heads=64,
            gdn_dim=128,
            gdn_conv=4,
        ),
        Architecture(
            name="Qwen2.5-Coder-0.5B",
            source=_GGUF,
            layers=24,
            hidden=896,
            heads=14,
            kv_heads=2,
            head_dim=64,
            qkv_bias=True,
            ffn=4864,
            vocab=151_936,
            tied=True,
            bytes_per_weight=491_400_064 / 494_032_768,
        ),
        Architecture(
            name="Qwen2.5-Coder-1.5B",
            source=_GGUF,
            layers=28,
            hidden=1536,
            heads=12,
            kv_heads=2,
            head_dim=128,
            qkv_bias=True,
            ffn=8960,
            vocab=151_936,
            tied=True,
            bytes_per_weight=1_117_320_768 / 1_543_714_304,
        ),
        Architecture(
            name="SmolLM2-135M",
            source="the checkpoint's configuration, served as bf16",
            layers=30,
            hidden=576,
            heads=9,
            kv_heads=3,
            head_dim=64,
            ffn=1536,
            vocab=49_152,
            tied=True,
        ),
    )
}

HARDWARE: Mapping[str, Hardware] = {
    "H20": Hardware(
        name="H20",
        source="NVIDIA H20: 96 GB HBM3, published figures",
        bandwidth=4.0e12,
        flops={"bf16": 148e12, "fp16": 148e12, "fp8": 296e12},
    ),
    "CPU": Hardware(
        name="CPU",
        source="round figures of two server cores with AVX-512; measure your own",
        bandwidth=2.0e10,
        flops={"fp32": 1.0e11, "bf16": 1.0e11},
    ),
}

_NAMES: Mapping[str, str] = {
    "qwen2.5-coder-0.5b-q4_k_m": "Qwen2.5-Coder-0.5B",
    "qwen2.5-coder-1.5b-q4_k_m": "Qwen2.5-Coder-1.5B",
    "smollm2": "SmolLM2-135M",
    **{name.lower(): name for name in ARCHITECTURES},
}
"""Other names that servers give their models, in lower case and without `-instruct`."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """One of the two models as it is served."""

    architecture: Architecture
    hardware: Hardware | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """What the weak and the strong model are taken to be."""

    name: str
    source: str
    weak: Deployment
    strong: Deployment

    def deployment(self, who: str) -> Deployment | None:
        """Return that of `weak` or `strong`; the models inside an environment have none."""
        return {"weak": self.weak, "strong": self.strong}.get(who)


PROFILES: Mapping[str, Profile] = {
    "paper": Profile(
        "paper",
        "the paper's deployment: weak on one H20, strong split over 16",
        Deployment(ARCHITECTURES["Qwen3.5-4B"], HARDWARE["H20"]),
        Deployment(ARCHITECTURES["Qwen3.5-397B-A17B"], HARDWARE["H20"]),
    ),
    "local": Profile(
        "local",
        "the pair that `spectrace demo` runs in this process",
        Deployment(ARCHITECTURES["Qwen2.5-Coder-0.5B"], HARDWARE["CPU"]),
        Deployment(ARCHITECTURES["Qwen2.5-Coder-1.5B"], HARDWARE["CPU"]),
    ),
}


def architecture_of(name: str) -> Architecture | None:
    """Return the shipped architecture of a model by the name that it was recorded under, or None."""
    short = name.rsplit("/", 1)[-1].lower().removesuffix(".gguf").replace("-instruct", "")
    found = _NAMES.get(short)
    return None if found is None else ARCHITECTURES[found]


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
