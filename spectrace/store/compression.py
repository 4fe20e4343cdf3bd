"""How bytes lie in a row: raw, zstd, or zstd with a fixed, shipped dictionary; the row's `codec` says which.

A dictionary holds made-up text only (one trained on users' data would hold their text), has a number, and never
changes: old rows need it. A database keeps the ones it uses, so the file can be read on its own. From dictionary 2 on
frames lie without zstd's 4 magic bytes, which say nothing that the codec does not.
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

BODIES = 2
BLOBS = 3
CURRENT = (BODIES, BLOBS)
"""Numbers of the dictionaries that new rows are packed with; `training` says how they were made."""
_BODY, _BLOB = DICTIONARY + BODIES, DICTIONARY + BLOBS
_FIRST_WITHOUT_MAGIC = 2

_LEVEL = 3
"""Levels above gain 4 to 9 % for 2 to 10 times the time (measured); level 1 saves an eighth of an append for 5 %."""
_PARAMETERS = zstandard.ZstdCompressionParameters.from_level(
    _LEVEL,
    format=zstandard.FORMAT_ZSTD1_MAGICLESS,
    write_dict_id=False,  # the codec names it: 4 bytes a frame
)
_DAMAGE = (zstandard.ZstdError, MemoryError, TypeError)
"""What unpacking raises: a damaged frame may claim any length, and SQLite holds whatever it is given, numbers too."""
LARGEST = 1 << 30
"""Bytes that one body or text may have: neither SQLite nor Postgres takes a value that is larger."""
_HARMLESS = 4096
"""A frame below this holds at most some 140 MB (128 KiB in 4 bytes); a look at its header costs more than it saves."""
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
    _refuse_huge(data)
    packed = _compressor(BODIES).compress(data)
    return (_BODY, packed) if len(packed) < len(data) else (RAW, data)


def pack_blob(data: bytes) -> tuple[int, bytes]:
    """Return (codec, bytes) of a blob: a text of any kind."""
    _refuse_huge(data)
    packed = _compressor(BLOBS).compress(data)
    return (_BLOB, packed) if len(packed) < len(data) else (RAW, data)


def unpack(codec: int, data: bytes, length: int | None = None) -> bytes:
    """Return the bytes that were packed; they are damaged where a longer text is claimed than is known to be there."""
    try:
        return _raw(data) if codec == RAW else _decompressor(codec).decompress(_sane(codec, data, length))
    except _DAMAGE as error:
        raise _damaged(codec, error) from error


def unpack_all(codec: int, packed: Iterable[bytes]) -> list[bytes]:
    """Return the bytes of many that were packed alike: looking up how, for each, costs a tenth of it."""
    try:
        if codec == RAW:
            return list(map(_raw, packed))
        decompress = _decompressor(codec).decompress
        return [decompress(one if len(one) < _HARMLESS else _sane(codec, one)) for one in packed]
    except _DAMAGE as error:
        raise _damaged(codec, error) from error


def unpack_head(codec: int, data: bytes, size: int) -> bytes:
    """Return the first bytes of what was packed; `data` may be cut off behind them."""
    try:
        if codec == RAW:
            return _raw(data)[:size]
        return _decompressor(codec).stream_reader(data).read(size)
    except _DAMAGE as error:
        raise _damaged(codec, error) from error


def _raw(data: bytes) -> bytes:
    if type(data) is not bytes:
        msg = f"{type(data).__name__} is where bytes belong"
        raise TypeError(msg)
    return data


def _sane(codec: int, data: bytes, length: int | None = None) -> bytes:
    """Return the frame unless it would unpack to more than is right: a few kilobytes may hold gigabytes."""
    if len(data) < _HARMLESS:
        return data
    claimed = zstandard.get_frame_parameters(data, format=_format(codec)).content_size
    most = LARGEST if type(length) is not int else min(length, LARGEST)
    if claimed > most:
        msg = f"they would take {claimed:,} bytes, where at most {most:,} can be"
        raise zstandard.ZstdError(msg)
    return data


def _refuse_huge(data: bytes) -> None:
    if len(data) > LARGEST:
        raise StoreError(f"a body or text of {len(data):,} bytes cannot be stored: one has at most {LARGEST:,}.")


def _format(codec: int) -> int:
    return zstandard.FORMAT_ZSTD1_MAGICLESS if codec - DICTIONARY >= _FIRST_WITHOUT_MAGIC else zstandard.FORMAT_ZSTD1


def _damaged(codec: int, error: Exception) -> StoreError:
    return StoreError(
        f"the stored bytes (codec {codec}) cannot be unpacked ({str(error) or 'too long'}): they were altered or "
        "damaged."
    )


def _compressor(number: int) -> zstandard.ZstdCompressor:
    """Return this thread's compressor: the objects are not thread-safe and dear to make."""
    try:
        return _PER_THREAD.compressors[number]  # type: ignore[no-any-return]
    except AttributeError:
        _PER_THREAD.compressors = {
            each: zstandard.ZstdCompressor(compression_params=_PARAMETERS, dict_data=_prepared(each))
            for each in CURRENT
        }
        return _compressor(number)


@cache
def _prepared(number: int) -> zstandard.ZstdCompressionDict:
    """Return a dictionary made ready, once for all threads: its tables take some 0.8 MB."""
    prepared = zstandard.ZstdCompressionDict(dictionary(number))
    prepared.precompute_compress(compression_params=_PARAMETERS)
    return prepared


def _decompressor(codec: int) -> zstandard.ZstdDecompressor:
    """Return this thread's decompressor for a codec."""
    held: dict[int, zstandard.ZstdDecompressor] = _PER_THREAD.__dict__.setdefault("decompressors", {})
    if codec not in held:
        number = codec - DICTIONARY
        if codec != ZSTD and number <= 0:
            raise NewerSchema(f"a row is packed with codec {codec}, which this spectrace does not know.")
        held[codec] = zstandard.ZstdDecompressor(
            dict_data=None if codec == ZSTD else zstandard.ZstdCompressionDict(dictionary(number)),
            format=_format(codec),
        )
    return held[codec]
