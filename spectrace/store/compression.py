"""How bytes lie in a row: raw, zstd, or zstd with a fixed, shipped dictionary; the row's `codec` says which.

The dictionary holds generic envelope text only (one trained on users' data would hold their text), has a number, and
never changes: old rows need it. A database keeps the ones it uses, so the file can be read on its own.
"""

import threading
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

import zstandard

from spectrace.errors import NewerSchema, StoreError

RAW = 0
ZSTD = 1
DICTIONARY = 100
"""codec = DICTIONARY + the dictionary's number."""

CURRENT = 1
"""Number of the dictionary that new bodies are packed with; `training` says how it was made."""

_LEVEL = 3
"""Levels above gain 4 to 9 % for 2 to 10 times the time (measured)."""
_WORTH_TRYING = 64
_PER_THREAD = threading.local()


@cache
def dictionary(number: int) -> bytes:
    """Return a shipped dictionary's bytes."""
    path = files("spectrace.store").joinpath("dictionaries", f"v{number}.zdict")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise NewerSchema(f"a row is packed with dictionary {number}, which this spectrace does not carry.") from None


def pack_body(data: bytes) -> tuple[int, bytes]:
    """Return (codec, bytes) of an event's body."""
    return _smaller(DICTIONARY + CURRENT, _compressor(CURRENT).compress(data), data)


def pack_blob(data: bytes) -> tuple[int, bytes]:
    """Return (codec, bytes) of a blob: texts of any kind, so no dictionary."""
    return _smaller(ZSTD, _compressor(0).compress(data), data) if len(data) >= _WORTH_TRYING else (RAW, data)


def unpack(codec: int, data: bytes) -> bytes:
    """Return the bytes that were packed."""
    if codec == RAW:
        return data
    try:
        return _decompressor(0 if codec == ZSTD else codec - DICTIONARY).decompress(data)
    except zstandard.ZstdError as error:
        raise StoreError(
            f"the stored bytes (codec {codec}) cannot be unpacked ({error}): they were altered or damaged."
        ) from error


def unpack_all(codec: int, packed: Iterable[bytes]) -> list[bytes]:
    """Return the bytes of many that were packed alike: looking up how, for each, costs a tenth of it."""
    if codec == RAW:
        return list(packed)
    try:
        return list(map(_decompressor(0 if codec == ZSTD else codec - DICTIONARY).decompress, packed))
    except zstandard.ZstdError as error:
        raise StoreError(f"stored bytes (codec {codec}) cannot be unpacked ({error}): altered or damaged.") from error


def unpack_head(codec: int, data: bytes, size: int) -> bytes:
    """Return the first bytes of what was packed; `data` may be cut off behind them."""
    if codec == RAW:
        return data[:size]
    try:
        return _decompressor(0 if codec == ZSTD else codec - DICTIONARY).stream_reader(data).read(size)
    except zstandard.ZstdError as error:
        raise StoreError(
            f"the stored bytes (codec {codec}) cannot be unpacked ({error}): they were altered or damaged."
        ) from error


def _smaller(codec: int, packed: bytes, data: bytes) -> tuple[int, bytes]:
    return (codec, packed) if len(packed) < len(data) else (RAW, data)


def _compressor(number: int) -> zstandard.ZstdCompressor:
    """Return this thread's compressor: the objects are not thread-safe and dear to make."""
    held: dict[int, zstandard.ZstdCompressor] = _PER_THREAD.__dict__.setdefault("compressors", {})
    if number not in held:
        trained = None
        if number:
            trained = zstandard.ZstdCompressionDict(dictionary(number))
            trained.precompute_compress(level=_LEVEL)
        # The row's codec names the dictionary: 4 bytes saved in each frame.
        held[number] = zstandard.ZstdCompressor(level=_LEVEL, dict_data=trained, write_dict_id=False)
    return held[number]


def _decompressor(number: int) -> zstandard.ZstdDecompressor:
    held: dict[int, zstandard.ZstdDecompressor] = _PER_THREAD.__dict__.setdefault("decompressors", {})
    if number not in held:
        trained = zstandard.ZstdCompressionDict(dictionary(number)) if number else None
        held[number] = zstandard.ZstdDecompressor(dict_data=trained)
    return held[number]
