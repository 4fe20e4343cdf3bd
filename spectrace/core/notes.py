"""Signed notes and checkpoints as texts: C2SP signed-note, tlog-checkpoint and tlog-cosignature. No signature is made.

A note is a text, an empty line, and a line for each who signed it. A checkpoint is the note of a tree: who keeps it,
how many leaves, the root, further lines. Read strictly, since a lenient reader sees another text than the one that was
signed. `audit.signing` signs and verifies what these functions say is to be signed.
"""

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from spectrace.core.merkle import HASH_BYTES

ED25519, COSIGNATURE = 0x01, 0x04
"""What a key does: it signs a note, or a note with the time at which its holder saw it."""

MAX_BYTES = 1 << 20
_MAX_SIGNATURES = 100
_ID_BYTES = 4
_TIME_BYTES = 8
_SIGNATURE_BYTES = 64
_DASH = "\N{EM DASH}"
_MAX_TIME = (1 << 63) - 1
_SIZE = re.compile(r"0|[1-9][0-9]{0,15}")
_ID = re.compile(r"[0-9a-f]{8}")
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_PRIVATE = "PRIVATE+KEY+"
_WEAK = frozenset(
    bytes.fromhex(text)
    for text in (
        "00" * 32,
        "01" + "00" * 31,
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ec" + "ff" * 30 + "7f",
        "ed" + "ff" * 30 + "7f",
        "ee" + "ff" * 30 + "7f",
    )
)
"""The points of small order, without their sign bit: under such a key anybody can sign anything."""


class BadNote(ValueError):
    """A text is no signed note, no checkpoint, or no key."""


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature line: whose (a name and a short id of the key, neither proved), and its bytes."""

    name: str
    key_id: bytes
    data: bytes


@dataclass(frozen=True, slots=True)
class Note:
    """A text that ends with a line feed, and who signed it."""

    text: str
    signatures: tuple[Signature, ...]

    def __str__(self) -> str:
        """Write it as it is kept."""
        lines = [f"{_DASH} {one.name} {_encoded(one.key_id + one.data)}\n" for one in self.signatures]
        return f"{self.text}\n{''.join(lines)}"

    def signed_by(self, signature: Signature) -> "Note":
        """Return the note with one more signature; an earlier one of the same key gives way to it."""
        kept = [one for one in self.signatures if (one.name, one.key_id) != (signature.name, signature.key_id)]
        return replace(self, signatures=(*kept, signature))


@dataclass(frozen=True, slots=True)
class Key:
    """A verifier key: `name+id+base64(kind || public key)`."""

    name: str
    kind: int
    public: bytes

    @property
    def id(self) -> bytes:
        """The first four bytes of SHA-256(name || LF || kind || public key)."""
        return sha256(self.name.encode() + b"\n" + bytes([self.kind]) + self.public).digest()[:_ID_BYTES]

    @property
    def cosigner(self) -> "Key":
        """The same key as one that cosigns."""
        return replace(self, kind=COSIGNATURE)

    def __str__(self) -> str:
        """Write it as it is handed out."""
        return f"{self.name}+{self.id.hex()}+{_encoded(bytes([self.kind]) + self.public)}"

    def among(self, signatures: Sequence[Signature]) -> list[Signature]:
        """Return the lines that say they are this key's."""
        return [one for one in signatures if (one.name, one.key_id) == (self.name, self.id)]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What is said of a tree."""

    origin: str
    size: int
    root: bytes
    extensions: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Write it as it is signed."""
        return "".join(f"{line}\n" for line in (self.origin, self.size, _encoded(self.root), *self.extensions))

    def extension(self, name: str) -> str | None:
        """Return what stands behind a word, in the first further line that begins with it."""
        found = (line.removeprefix(f"{name} ") for line in self.extensions if line.startswith(f"{name} "))
        return next(found, None)

    @property
    def at(self) -> int | None:
        """When it was made, in UTC microseconds, by the word of whoever signed it."""
        said = self.extension("at")
        return int(said) if said is not None and _SIZE.fullmatch(said) else None


def parse_note(text: str) -> Note:
    """Read a signed note; raise BadNote with what is wrong."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise BadNote(f"it is longer than {MAX_BYTES:,} bytes, which no note is")
    if any((ord(one) < 0x20 and one != "\n") or 0xD800 <= ord(one) < 0xE000 for one in text):  # noqa: PLR2004 - ASCII
        raise BadNote("it holds a control character, or bytes that are no text")
    said, between, lines = text.rpartition("\n\n")
    if not between or not lines.endswith("\n"):
        raise BadNote("a signed note is a text, an empty line and signature lines, each with its line feed")
    signed = lines[:-1].split("\n")
    if len(signed) > _MAX_SIGNATURES:
        raise BadNote(f"it has {len(signed)} signature lines, {_MAX_SIGNATURES} are the most")
    return Note(f"{said}\n", tuple(map(_signature, signed)))


def parse_checkpoint(text: str) -> Checkpoint:
    """Read the text of a note as a checkpoint; raise BadNote with what is wrong."""
    lines = text.removesuffix("\n").split("\n")
    if not text.endswith("\n") or "" in lines or len(lines) < 3:  # noqa: PLR2004 - the three that there must be
        raise BadNote("a checkpoint is an origin, a size and a root, each on a line, and further lines, none empty")
    origin, size, top, *further = lines
    if not _SIZE.fullmatch(size):
        raise BadNote(f"its second line is the number of leaves, found {size[:40]!r}")
    hashed = decoded(top)
    if len(hashed) != HASH_BYTES:
        raise BadNote(f"its third line is the root, {HASH_BYTES} bytes in base64, found {top[:60]!r}")
    return Checkpoint(origin, int(size), hashed, tuple(further))


def parse_key(text: str) -> Key:
    """Read a verifier key; raise BadNote with what is wrong."""
    if text.startswith(_PRIVATE):
        raise BadNote("this is a secret key; the public one is expected")
    name, kind, public, said = _parts(text)
    key = Key(name, kind, public)
    if kind not in {ED25519, COSIGNATURE}:
        raise BadNote(f"its kind is 0x{kind:02x}, which a later spectrace may know; known are 0x01 and 0x04 (Ed25519)")
    if len(public) != HASH_BYTES:
        raise BadNote(f"an Ed25519 key has {HASH_BYTES} bytes, found {len(public)}")
    if public[:-1] + bytes([public[-1] & 0x7F]) in _WEAK:
        raise BadNote("it is a point of small order, for which anybody can sign")
    if key.id != said:
        raise BadNote(f"its id is {said.hex()}, by its bytes {key.id.hex()}: it was altered or cut")
    return key


def parse_secret(text: str) -> tuple[str, bytes, bytes]:
    """Read a signer's secret key: its name, its seed and the id that it says; raise BadNote, which repeats none."""
    if not text.startswith(_PRIVATE):
        raise BadNote(f"a secret key begins with {_PRIVATE}")
    name, kind, seed, said = _parts(text.removeprefix(_PRIVATE))
    if kind != ED25519 or len(seed) != HASH_BYTES:
        raise BadNote("it is no Ed25519 key (kind 0x01 and 32 bytes)")
    return name, seed, said


def secret_text(key: Key, seed: bytes) -> str:
    """Write a signer's secret key."""
    return f"{_PRIVATE}{key.name}+{key.id.hex()}+{_encoded(bytes([key.kind]) + seed)}"


def check_name(name: str) -> str:
    """Return the name of a key; raise BadNote for one that none may have."""
    if not name or "+" in name or any(one.isspace() or not one.isprintable() for one in name):
        raise BadNote(f"a key's name is some visible characters without white space and `+`, found {name[:60]!r}")
    return name


def cosigned_text(text: str, time_s: int) -> bytes:
    """Return what a cosigner signs: tlog-cosignature, cosignature/v1."""
    return f"cosignature/v1\ntime {time_s}\n{text}".encode()


def cosignature(time_s: int, signature: bytes) -> bytes:
    """Return the bytes of a cosignature."""
    return time_s.to_bytes(_TIME_BYTES, "big") + signature


def split_cosignature(data: bytes) -> tuple[int, bytes]:
    """Return a cosignature's time and signature; raise BadNote for what is none."""
    time_s = int.from_bytes(data[:_TIME_BYTES], "big")
    if len(data) != _TIME_BYTES + _SIGNATURE_BYTES or time_s > _MAX_TIME:
        raise BadNote("a cosignature is 8 bytes of time and 64 of signature")
    return time_s, data[_TIME_BYTES:]


def decoded(text: str) -> bytes:
    """Return the bytes of base64 as RFC 4648 writes it, one spelling for each; raise BadNote for any other."""
    try:
        data = base64.b64decode(text, validate=True) if _BASE64.fullmatch(text) else None
    except binascii.Error:
        data = None
    if data is None or _encoded(data) != text:
        raise BadNote(f"{text[:60]!r} is no base64")
    return data


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _signature(line: str) -> Signature:
    dash, _, rest = line.partition(" ")
    name, space, data = rest.partition(" ")
    if dash != _DASH or not space:
        raise BadNote(f"a signature line is `{_DASH} name base64`, found {line[:60]!r}")
    found = decoded(data)
    if len(found) <= _ID_BYTES:
        raise BadNote(f"the signature of {name[:60]!r} is too short")
    return Signature(check_name(name), found[:_ID_BYTES], found[_ID_BYTES:])


def _parts(text: str) -> tuple[str, int, bytes, bytes]:
    """Split a key into its name, kind, bytes and id; nothing of it is repeated, since it may be a secret."""
    name, _, rest = text.partition("+")
    said, plus, data = rest.partition("+")
    try:
        found = decoded(data)
    except BadNote:
        found = b""
    if not plus or not _ID.fullmatch(said) or not found:
        raise BadNote("a key is name+id+base64, the id eight hex digits")
    return check_name(name), found[0], found[1:], bytes.fromhex(said)
