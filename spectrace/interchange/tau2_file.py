"""A τ²-bench result file as it lies on disk: read, recognised, taken apart. It decides nothing about its contents.

Every part is kept as its text, less the file's layout (`json_text`). A file that is something else is refused by saying
what was expected and what was found; no file is ever read as an empty one.
"""

import codecs
from dataclasses import dataclass
from pathlib import Path

from spectrace.core.digest import digest
from spectrace.errors import UsageError
from spectrace.interchange import json_text

EXPECTED = (
    "a τ²-bench result file: a JSON object with `info.environment_info.domain_name` and a list `simulations` "
    "whose items hold `messages`"
)
_LFS = b"version https://git-lfs.github.com/spec"
_WIDE = {codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16"}


@dataclass(frozen=True, slots=True)
class Simulation:
    """One entry of `simulations`. `parts` are its members' JSON texts."""

    entry: str
    """Its id; made unique within the file."""
    task: str | None
    """The id of the task that it is taken to be a run of; None when nothing says."""
    names_task: bool
    """Whether the entry itself says so, or only its place in the list."""
    parts: dict[str, str]


@dataclass(frozen=True, slots=True)
class ResultFile:
    """A recognised file, taken apart."""

    name: str
    digest: str
    domain: str
    parts: dict[str, str]
    info: dict[str, str]
    environment: dict[str, str]
    tasks: dict[str, str]
    """id -> its JSON text."""
    simulations: tuple[Simulation, ...]


def read_result_file(path: Path) -> ResultFile:
    """Read and recognise a file; raise UsageError for anything else."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}).") from None
    text = _decoded(path.name, data)
    try:
        return _recognised(path.name, digest(data), text)
    except RecursionError:
        raise _not_one(path.name, "JSON nested too deeply to be one") from None
    except ValueError as error:  # JSONDecodeError is one
        raise _not_one(path.name, f"text that is not such JSON ({error})") from None


def _not_one(name: str, found: str) -> UsageError:
    return UsageError(f"{name}: expected {EXPECTED}; found {found}.")


def _decoded(name: str, data: bytes) -> str:
    if data.startswith(_LFS):
        raise UsageError(
            f"{name} is a git-lfs pointer, not the file itself: run `git lfs pull` where it comes from, then import it."
        )
    for mark, encoding in _WIDE.items():
        if data.startswith(mark):
            raise UsageError(f"{name} is {encoding} text; τ²-bench writes UTF-8: convert it, then import it.")
    if not data.strip():
        raise _not_one(name, "an empty file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8 text: byte {error.start} is {data[error.start]:#04x}.") from None


def _recognised(name: str, digest_: str, text: str) -> ResultFile:
    if not json_text.is_object(text.lstrip()):
        raise _not_one(name, "JSON that is no object")
    json_text.members(text)  # names a fault's place in the file as it is, not as it is taken apart
    parts = json_text.members(json_text.compact(text))
    info = _object(parts.get("info"))
    environment = _object(info.get("environment_info"))
    domain = json_text.string(environment.get("domain_name"))
    if domain is None or not json_text.is_array(parts.get("simulations")):
        raise _not_one(name, f"an object with {', '.join(map(repr, list(parts)[:12])) or 'no members'}")
    tasks = _tasks(parts.get("tasks"))
    simulations = json_text.items(parts["simulations"])
    if not simulations:
        raise _not_one(name, "no simulation in it")
    return ResultFile(name, digest_, domain, parts, info, environment, tasks, _entries(name, simulations, list(tasks)))


def _object(text: str | None) -> dict[str, str]:
    return json_text.members(text or "{}") if json_text.is_object(text) else {}


def _tasks(text: str | None) -> dict[str, str]:
    tasks = json_text.items(text or "[]") if json_text.is_array(text) else []
    return {identifier: task for task in tasks if (identifier := _id(_object(task).get("id"))) is not None}


def _id(text: str | None) -> str | None:
    """Return an id: a string, or a number's text."""
    if text is None or text == "null":
        return None
    return json_text.string(text) if text.startswith('"') else text


def _entries(name: str, texts: list[str], tasks: list[str]) -> tuple[Simulation, ...]:
    seen: dict[str, int] = {}
    found = []
    for place, text in enumerate(texts):
        parts = _object(text)
        if not json_text.is_array(parts.get("messages")):
            raise _not_one(name, f"simulation {place} without `messages`")
        entry = _id(parts.get("id")) or f"#{place}"
        seen[entry] = seen.get(entry, 0) + 1
        entry = entry if seen[entry] == 1 else f"{entry}#{seen[entry]}"
        task = _id(parts.get("task_id"))
        listed = tasks[place] if len(tasks) == len(texts) else None
        found.append(Simulation(entry, task or listed, task is not None, parts))
    return tuple(found)
