"""A file of chat messages in OpenAI's format as it lies on disk: read, recognised, taken apart.

Four layouts are common: one message a line; one array of messages; one object with `messages` and what was sent beside
them; one such object a line (a file for fine-tuning), which are several dialogues. Every part is kept as its text, less
the layout.
"""

import codecs
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spectrace.core.digest import digest
from spectrace.errors import UsageError
from spectrace.interchange import json_text

EXPECTED = (
    "chat messages in OpenAI's format: one message a line, an array of them, or an object with a list `messages` "
    "(one, or one a line), each message an object with a `role`"
)
LINES, ARRAY, OBJECT = "lines", "array", "object"
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BLANK = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One dialogue of a file: its messages' JSON texts, and the other members of the object that they lay in."""

    entry: str
    layout: str
    messages: tuple[str, ...]
    beside: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChatFile:
    """A recognised file, taken apart."""

    name: str
    digest: str
    dialogues: tuple[Dialogue, ...]


def read_chat_file(path: Path) -> ChatFile:
    """Read and recognise a file; raise UsageError for anything else."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}).") from None
    text = _decoded(path.name, data)
    try:
        return ChatFile(path.name, digest(data), tuple(_dialogues(path.name, text)))
    except RecursionError:
        raise _not_one(path.name, "JSON nested too deeply to be one") from None
    except ValueError as error:  # JSONDecodeError is one
        raise _not_one(path.name, f"text that is not such JSON ({error})") from None


def _not_one(name: str, found: str) -> UsageError:
    return UsageError(f"{name}: expected {EXPECTED}; found {found}.")


def _decoded(name: str, data: bytes) -> str:
    if data.startswith(_WIDE):
        raise UsageError(f"{name} is UTF-16 text; chat messages are UTF-8: convert it, then import it.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8 text: byte {error.start} is {data[error.start]:#04x}.") from None
    if not text.strip(_BLANK):
        raise _not_one(name, "an empty file")
    return text


def _dialogues(name: str, text: str) -> list[Dialogue]:
    """Return the dialogues: a whole JSON document is one, else every line is a JSON text of its own."""
    stem = Path(name).stem
    try:
        return [_document(name, stem, json_text.compact(text.strip(_BLANK)))]
    except ValueError as error:
        if "\n" not in text.strip(_BLANK):
            raise _no_json(name, text, error) from None
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip(_BLANK)]
    texts, objects = list[str](), list[dict[str, str]]()
    for number, line in lines:
        try:
            texts.append(json_text.compact(line.strip(_BLANK)))
            objects.append(_object(name, texts[-1], f"line {number}"))
        except ValueError as error:  # where not even the first line is JSON, the file is one document, over several
            raise (_no_json(name, line, error, number) if objects else _no_json(name, text, error)) from None
    if all("messages" in parts for parts in objects):
        return [_of_object(name, f"{stem}#{number}", parts) for number, parts in enumerate(objects, 1)]
    return [Dialogue(stem, LINES, _checked(name, texts))]


def _no_json(name: str, text: str, error: ValueError, line: int = 1) -> UsageError:
    """Say where the text, which begins on that line of the file, ceases to be JSON."""
    where = f"line {line}: {error}"
    try:
        json.loads(text, parse_int=len, parse_float=len, parse_constant=len)
    except json.JSONDecodeError as found:
        where = f"line {line + found.lineno - 1}, column {found.colno}: {found.msg}"
    return _not_one(name, f"text that is not such JSON ({where})")


def _document(name: str, stem: str, text: str) -> Dialogue:
    if json_text.is_array(text):
        return Dialogue(stem, ARRAY, _checked(name, json_text.items(text)))
    parts = _object(name, text, "the file")
    if "messages" not in parts and "role" in parts:
        return Dialogue(stem, LINES, _checked(name, [text]))
    return _of_object(name, stem, parts)


def _of_object(name: str, entry: str, parts: dict[str, str]) -> Dialogue:
    messages = parts.get("messages")
    if not json_text.is_array(messages):
        raise _not_one(name, f"an object with {', '.join(map(repr, list(parts)[:12])) or 'no members'}")
    beside = {key: text for key, text in parts.items() if key != "messages"}
    return Dialogue(entry, OBJECT, _checked(name, json_text.items(messages or "")), beside)


def _object(name: str, text: str, what: str) -> dict[str, str]:
    if not json_text.is_object(text):
        json_text.items(f"[{text}]")  # says what is wrong with it where it is no JSON at all
        raise _not_one(name, f"JSON that is no object ({what})")
    return json_text.members(text)


def _checked(name: str, messages: Sequence[str]) -> tuple[str, ...]:
    """Refuse a list in which something is no message; none is read as an empty one."""
    if not messages:
        raise _not_one(name, "no message in it")
    for number, text in enumerate(messages, 1):
        role = json_text.members(text).get("role") if json_text.is_object(text) else None
        if json_text.string(role) is None:
            raise _not_one(name, f"a message without a `role` (number {number})")
    return tuple(messages)
