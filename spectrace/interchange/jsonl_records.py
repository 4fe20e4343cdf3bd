"""The records of a `jsonl` file: its first line, an episode's line, a text, an event. `schemas/FORMAT.md`, section 8.

Counterpart of `jsonl_export`, which writes them, and of `jsonl_scan`, which finds them in a file that may be damaged.
"""

import base64
import binascii
import re
from dataclasses import dataclass

import orjson

from spectrace.core.digest import digest
from spectrace.core.events import MAX_SEQ
from spectrace.errors import NewerSchema
from spectrace.store.lines import Line, read_line
from spectrace.store.names import is_episode_id
from spectrace.store.rows import Damage

FORMAT = "spectrace.jsonl.v1"
EXPECTED = f'a file of JSON lines whose first is {{"format": "{FORMAT}", ...}}, as `spectrace export jsonl` writes it'

_FORMAT = re.compile(r"spectrace\.jsonl\.v([1-9][0-9]{0,3})")
_HEX = re.compile(r"[0-9a-f]{64}")
_STATES = ("ended", "interrupted", "running")


@dataclass(frozen=True, slots=True)
class First:
    """The file's first line: which episodes follow."""

    spectrace: str
    episodes: tuple[str, ...]

    def line(self) -> bytes:
        """Return it as a line, without its line break."""
        return orjson.dumps({"format": FORMAT, "spectrace": self.spectrace, "episodes": list(self.episodes)})


@dataclass(frozen=True, slots=True)
class Section:
    """An episode's line: what of it follows."""

    episode: str
    events: int
    head: bytes
    state: str

    def line(self) -> bytes:
        """Return it as a line, without its line break."""
        parts = {"episode": self.episode, "events": self.events, "head": self.head.hex(), "state": self.state}
        return orjson.dumps(parts)


@dataclass(frozen=True, slots=True)
class Text:
    """A text that bodies refer to, whole by its own name."""

    digest: str
    data: bytes

    def line(self) -> bytes:
        """Return it as a line, without its line break."""
        try:
            return orjson.dumps({"blob": self.digest, "text": self.data.decode()})
        except UnicodeDecodeError:
            return orjson.dumps({"blob": self.digest, "base64": base64.b64encode(self.data).decode()})


Record = First | Section | Text | Line


def read_record(value: dict[str, object]) -> Record:
    """Return the record that a JSON object is; raise Damage saying why it is none."""
    if "header" in value:
        return read_line(value)
    if "blob" in value:
        return _text(value)
    if "format" in value:
        return _first(value)
    if "episode" in value and "head" in value:
        return _section(value)
    raise Damage(
        f"an object that is no record of {FORMAT}: it has {', '.join(map(repr, list(value)[:6])) or 'nothing'}"
    )


def _first(value: dict[str, object]) -> First:
    found, spectrace, episodes = value["format"], value.get("spectrace"), value.get("episodes")
    match = _FORMAT.fullmatch(found) if isinstance(found, str) else None
    if match is not None and found != FORMAT:
        raise NewerSchema(
            f"the file is of format {found}, which this spectrace does not know: it reads {FORMAT}. Install a newer "
            f"spectrace, one that reads version {match[1]}."
        )
    if found != FORMAT or not isinstance(spectrace, str) or not isinstance(episodes, list):
        raise Damage(f"a first line of another kind: its format is {found!r:.80}")
    return First(spectrace, tuple(str(one) for one in episodes))


def _section(value: dict[str, object]) -> Section:
    match value:
        case {"episode": str(episode), "events": int(events), "head": str(head), "state": str(state)} if (
            is_episode_id(episode) and 0 <= events <= MAX_SEQ + 1 and _HEX.fullmatch(head) and state in _STATES
        ):
            return Section(episode, events, bytes.fromhex(head), state)
    raise Damage("an episode's line needs `episode` (an id), `events`, `head` (64 hex digits) and `state`")


def _text(value: dict[str, object]) -> Text:
    match value:
        case {"blob": str(name), "text": str(text)}:
            data = text.encode()
        case {"blob": str(name), "base64": str(encoded)}:
            try:
                data = base64.b64decode(encoded, validate=True)
            except binascii.Error as error:
                raise Damage(f"the blob {name[:80]} is not base64 ({error})") from None
        case _:
            raise Damage("a blob's line needs `blob` and `text`, or `base64`")
    if digest(data) != name:
        raise Damage(f"the blob {name[:80]} holds other bytes than its name says")
    return Text(name, data)
