"""One event as one line of JSON, from which anybody gets the exact bytes back: what bundles and `jsonl` files hold.

    {"header": "<canonical text>", "body": "<canonical text>", "salt": "<hex>", "link": "<hex>"}

Header and body are strings *holding* JSON, so that a reader hashes what was hashed and serialises nothing again. The
header comes first: of a line that was torn, it says what is lost. An erased body is null, and its `proof` stands in
the salt's place. `schemas/FORMAT.md` says the same to people who have no spectrace.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeGuard, cast

import orjson

from spectrace.core.digest import body_proof, first_link, link_over
from spectrace.core.events import MAX_SEQ
from spectrace.errors import StoreError
from spectrace.store.blobs import INLINE_BYTES
from spectrace.store.codec import Lifted
from spectrace.store.event_store import StoredEvent
from spectrace.store.names import is_episode_id
from spectrace.store.rows import SALT_BYTES, Damage, Row

MAX_LINE_BYTES = 256 << 20
"""A longer line is refused before it is parsed: long texts are blobs, so a body has a few thousand bytes."""

_LINK_BYTES = 32
_HEADER_FIELDS = 10
_MAX_VERSION = 2**15 - 1
_MAX_AT = 2**53 - 1


@dataclass(frozen=True, slots=True)
class Line:
    """An event as a line tells it."""

    episode: str
    row: Row
    proof: bytes | None = None
    """SHA-256(salt || body) of a body that was erased."""


def line_of(event: StoredEvent, proof: bytes | None = None) -> bytes:
    """Return the line of an event, without its line break."""
    try:
        body = None if event.body is None else event.body.decode()
    except UnicodeDecodeError as error:
        raise Damage(f"the body of event {event.seq} is not UTF-8 text ({error}): it was altered or damaged.") from None
    parts: dict[str, object] = {"header": event.header.decode(), "body": body}
    if event.body is None or event.salt is None:
        if proof is None:
            raise Damage(f"the body of event {event.seq} is missing, and no erasure of it is on record.")
        parts["proof"] = proof.hex()
    else:
        parts["salt"] = event.salt.hex()
    line = orjson.dumps({**parts, "link": event.link.hex()})
    if len(line) > MAX_LINE_BYTES:
        raise StoreError(
            f"event {event.seq} takes {len(line):,} bytes as a line, and no reader takes more than {MAX_LINE_BYTES:,}: "
            "`spectrace db copy` takes it."
        )
    return line


def parse_line(data: bytes) -> Line:
    """Return the event of a line; raise Damage saying what of it is not as it should be."""
    try:
        record = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise Damage(f"not a line of JSON ({error}).") from None
    if not isinstance(record, dict):
        raise Damage(f"a JSON {type(record).__name__}; an object with header, body, salt and link was expected.")
    return read_line(record)


def read_line(record: Mapping[str, object]) -> Line:
    """Return the event of a parsed line; members that are not known are passed over."""
    header = _text(record, "header")
    body = None if record.get("body", "") is None else _text(record, "body").encode()
    link = _hex(record, "link", _LINK_BYTES)
    salt = None if body is None else _hex(record, "salt", SALT_BYTES)
    proof = _hex(record, "proof", _LINK_BYTES) if body is None else None
    episode, row = _row(header, body, salt, link)
    return Line(episode, row, proof)


def line_from(event: StoredEvent, proof: bytes | None = None) -> Line:
    """Return a stored event with its header taken apart; `proof` is that of an erased one."""
    episode, row = _row(event.header.decode(), event.body, event.salt, event.link)
    return Line(episode, row, proof)


@dataclass(slots=True)
class Chain:
    """Follow an episode's lines, one after the other, from its first."""

    episode: str
    seq: int = 0
    """The next event expected."""
    link: bytes = field(init=False)

    def __post_init__(self) -> None:
        """Begin with the link that the episode's id gives."""
        self.link = first_link(self.episode)

    def follow(self, line: Line) -> None:
        """Take the next line; raise Damage where it is not the one that the chain was computed over."""
        row = line.row
        if line.episode != self.episode:
            raise Damage(f"event {row.seq} says that it belongs to episode {line.episode}, not to {self.episode}.")
        if row.seq != self.seq:
            raise Damage(f"event {self.seq} of {self.episode} was expected, event {row.seq} was found.")
        link = link_over(self.link, row.header(self.episode), proof_of(line))
        if link != row.link:
            raise Damage(
                f"event {row.seq} ({row.type}) of {self.episode} is not the one that was recorded: its bytes give the "
                f"link {link.hex()[:16]}, the line has {row.link.hex()[:16]}."
            )
        self.seq, self.link = row.seq + 1, link


def proof_of(line: Line) -> bytes:
    """Return the salted digest of a line's body, erased or not."""
    if line.row.body is not None and line.row.salt is not None:
        return body_proof(line.row.salt, line.row.body)
    if line.proof is None:
        raise Damage(f"the body of event {line.row.seq} is missing, and so is its proof.")
    return line.proof


def _row(header: str, body: bytes | None, salt: bytes | None, link: bytes) -> tuple[str, Row]:
    try:
        values = orjson.loads(header)
    except orjson.JSONDecodeError as error:
        raise Damage(f"the header is not JSON ({error}).") from None
    if not isinstance(values, list) or len(values) != _HEADER_FIELDS:
        raise Damage(f"a header is an array of {_HEADER_FIELDS} values, found {header[:80]}.")
    episode, seq, lane, type_, version, at, *lifted = values
    wrong = (
        ([] if isinstance(episode, str) and is_episode_id(episode) else ["episode"])
        + [name for name, value in (("lane", lane), ("type", type_)) if not _is_word(value)]
        + [f"field {place}" for place, value in enumerate(lifted, 6) if value is not None and not _is_word(value)]
        + [
            name
            for name, value, low, high in (
                ("seq", seq, 0, MAX_SEQ),
                ("version", version, 1, _MAX_VERSION),
                ("at", at, 0, _MAX_AT),
            )
            if type(value) is not int or not low <= value <= high
        ]
    )
    if wrong:
        raise Damage(f"what the header holds as {' and '.join(wrong)} cannot stand there: {header[:200]}.")
    row = Row(seq, lane, type_, version, at, Lifted(*cast("list[str | None]", lifted)), body, salt, link)
    if row.header(episode) != header.encode():
        raise Damage(f"the header of event {seq} is not canonical JSON, so it could not be given back: {header[:200]}.")
    return episode, row


def _is_word(value: object) -> TypeGuard[str]:
    """Whether a header may hold this text; what is longer, or holds NUL, stands there as its digest."""
    return isinstance(value, str) and "\0" not in value and len(value.encode()) < INLINE_BYTES


def _text(record: Mapping[str, object], name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str):
        raise Damage(f"`{name}` is {_kind(record, name)}; text was expected.")
    return value


def _hex(record: Mapping[str, object], name: str, size: int) -> bytes:
    value = record.get(name)
    try:
        data = bytes.fromhex(value) if isinstance(value, str) else b""
    except ValueError:
        data = b""
    if len(data) != size or data.hex() != value:
        raise Damage(f"`{name}` is {_kind(record, name)}; {2 * size} lower-case hex digits were expected.")
    return data


def _kind(record: Mapping[str, object], name: str) -> str:
    if name not in record:
        return "missing"
    value = record[name]
    return f"{value[:80]!r}" if isinstance(value, str) else f"a JSON {type(value).__name__}"
