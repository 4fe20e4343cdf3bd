"""Which members a zip may have to be read as a bundle, and how large they may be; decided before any is unpacked.

Names are compared with those that a bundle has, so that an absolute path, `..`, a link or a device never gets as far
as to be refused for what it is. `bundle` keeps to the same limits, `bundle_reader` reads what is left.
"""

import re
import stat
import struct
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from spectrace.store.rows import Damage

EPISODES, BLOBS, SCHEMAS = "episodes/", "blobs/sha256/", "schemas/events/"
ZIP = b"PK\x03\x04"
"""How a zip with any members begins."""

_LOCAL = struct.Struct("<26xHxx")
"""What stands before a member's name; its length is all that is asked of it."""

_ID = r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"
_NAMES = re.compile(
    rf"manifest\.json|FORMAT\.md|episodes/{_ID}\.jsonl|blobs/sha256/[0-9a-f]{{64}}|schemas/bundle\.v1\.json"
    rf"|schemas/events/{_ID}\.json|checkpoints/{_ID}\.json"
)
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_ENCRYPTED = 0x1
_MAX_BLOB = 1_000_000_000
"""What SQLite can hold in one value."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a bundle may ask of whoever reads it. A log packs 5 to 20 times; a zip bomb a thousand times."""

    members: int = 2_000_000
    bytes: int = 64 << 30
    """Unpacked, all members together."""
    ratio: int = 200
    """Unpacked to packed, from `free` bytes on."""
    free: int = 256 << 20


LIMITS = Limits()


def checked(infos: Sequence[zipfile.ZipInfo], limits: Limits) -> dict[str, zipfile.ZipInfo]:
    """Return the members by name; raise Damage for the first that no bundle has."""
    if len(infos) > limits.members:
        raise Damage(f"it has {len(infos):,} members, more than {limits.members:,}.")
    twice = [name for name, n in Counter(info.filename for info in infos).items() if n > 1]
    if twice:
        raise Damage(f"two members have the name {twice[0][:80]!r}.")
    for info in infos:
        _check(info)
    unpacked, packed = sum(info.file_size for info in infos), sum(info.compress_size for info in infos)
    if unpacked > limits.bytes:
        raise Damage(
            f"it would unpack to {unpacked:,} bytes; the limit is {limits.bytes:,} (`unpack --max-gib` raises it)."
        )
    if too_dense(infos, limits):
        raise Damage(f"{packed:,} bytes that unpack to {unpacked:,}: no bundle packs so well, a zip bomb does.")
    return {info.filename: info for info in infos}


def too_dense(infos: Sequence[zipfile.ZipInfo], limits: Limits) -> bool:
    """Whether the members unpack to so much more than they are packed that a reader takes them for a bomb."""
    unpacked, packed = sum(info.file_size for info in infos), sum(info.compress_size for info in infos)
    return unpacked > limits.free and unpacked > packed * limits.ratio


def is_ours(name: str) -> bool:
    """Whether a member's name tells a bundle: other zips have a manifest.json, too."""
    return _NAMES.fullmatch(name) is not None and name.startswith((EPISODES, BLOBS))


def first_name(file: IO[bytes]) -> str:
    """Return the name of the first member of a zip whose directory is lost; nothing if there is none."""
    file.seek(0)
    start = file.read(_LOCAL.size)
    if len(start) < _LOCAL.size or not start.startswith(ZIP):
        return ""
    (length,) = _LOCAL.unpack(start)
    return file.read(length).decode("ascii", "replace")


def _check(info: zipfile.ZipInfo) -> None:
    """Refuse whatever could do more than be read."""
    name, mode = info.orig_filename, info.external_attr >> 16
    if info.flag_bits & _ENCRYPTED:
        raise Damage(f"the member {name[:80]!r} is encrypted.")
    if stat.S_IFMT(mode) not in {0, stat.S_IFREG}:
        raise Damage(f"the member {name[:80]!r} is no plain file (mode {mode:o}).")
    if _NAMES.fullmatch(name) is None or name != info.filename:
        raise Damage(f"a bundle has no member {name[:80]!r}.")
    if info.compress_type not in _METHODS:
        raise Damage(f"the member {name[:80]!r} is packed with method {info.compress_type}; deflate was expected.")
    if name.startswith(BLOBS) and info.file_size > _MAX_BLOB:
        raise Damage(f"the text {name} has {info.file_size:,} bytes; no database takes more than {_MAX_BLOB:,}.")
