"""Long texts put back where a parsed body refers to them. Counterpart of `blobs.TextReferences`, which took them out.

A body is searched once, all blobs of a batch are fetched at once, each is checked against its name and decoded once,
and the texts are put into the parsed value itself: nobody else holds it.
"""

from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from spectrace.core.digest import bytes_text
from spectrace.core.digest import digest as digest_of_bytes
from spectrace.errors import NewerSchema
from spectrace.store.blobs import REFERENCE
from spectrace.store.rows import Damage

MARK = b'"$blob"'
"""In the bytes of every body that refers to a text: a quote inside a JSON text never stands bare."""

HEAD_CHARS = 2_000
"""What is read of a text at a glance; the rest of a field of many megabytes stays in the database."""

HEAD_BYTES = 4 * HEAD_CHARS
"""Enough for them in UTF-8."""

FetchBlobs = Callable[[set[str]], Mapping[str, bytes]]
"""Returns the blobs that are there; raises Damage for one that cannot be unpacked."""


class Head(NamedTuple):
    """The beginning of a blob, and the length of the whole in bytes."""

    data: bytes
    length: int


FetchHeads = Callable[[set[str]], Mapping[str, Head]]


Hole = tuple[Any, Any, str, str]
"""A place where a text belongs: the dict or list, the key or index in it, the text's digest and codec."""


def holes(value: object, found: list[Hole], marks: int | None = None) -> None:
    """Add the places in a parsed body where a text belongs; the search ends with as many as its bytes have `marks`.

    In a loop: calls would cost more than what they find. Most of a body is texts and numbers, so these go first.
    """
    full = None if marks is None else len(found) + marks
    inside = [value]
    while inside and len(found) != full:
        value = inside.pop()
        items: Iterable[tuple[object, object]] = value.items() if type(value) is dict else enumerate(value)  # type: ignore[arg-type]
        for at, item in items:
            kind = type(item)
            if kind is str or kind is int:
                continue
            if type(item) is dict:
                if type(digest := item.get(REFERENCE)) is str:
                    found.append((value, at, digest, str(item.get("codec", "utf-8"))))
                elif item:
                    inside.append(item)
            elif kind is list and item:
                inside.append(item)


def fill(found: Sequence[Hole], fetch: FetchBlobs) -> None:
    """Put the texts in; raise Damage, and change nothing, where one is missing, altered or none."""
    codecs = {digest: codec for _, _, digest, codec in found}
    if codecs:
        blobs = fetch(set(codecs))
        _put(found, {digest: text_of(digest, codec, blobs) for digest, codec in codecs.items()})


def fill_heads(found: Sequence[Hole], fetch: FetchHeads) -> None:
    """Put in the beginnings of the texts, each saying what it is the beginning of. They are not checked."""
    codecs = {digest: codec for _, _, digest, codec in found}
    if codecs:
        heads = fetch(set(codecs))
        _put(found, {digest: _head_of(digest, codec, heads.get(digest)) for digest, codec in codecs.items()})


def _put(found: Sequence[Hole], texts: Mapping[str, str]) -> None:
    for inside, at, digest, _ in found:
        inside[at] = texts[digest]


def text_of(digest: str, codec: str, blobs: Mapping[str, bytes]) -> str:
    """Return the text of a blob; raise Damage where it is missing, altered or no text."""
    data = blobs.get(digest)
    if data is None:
        raise Damage(f"blob {digest} is missing from the database.")
    if digest != digest_of_bytes(data):
        raise Damage(f"blob {digest} holds other bytes than its name says: it was altered or damaged.")
    try:
        return bytes_text(data, codec)
    except KeyError:
        raise NewerSchema(f"blob {digest} is a text of codec {codec!r}, which this spectrace does not know.") from None
    except UnicodeDecodeError as error:
        raise Damage(f"blob {digest} is referred to as {codec} text but is not: {error}.") from error


_ERRORS = {"wtf-8": "surrogatepass", "bytes": "surrogateescape"}


def _head_of(digest: str, codec: str, head: Head | None) -> str:
    if head is None:
        raise Damage(f"blob {digest} is missing from the database.")
    text = getincrementaldecoder("utf-8")(_ERRORS.get(codec, "replace")).decode(head.data, final=False)
    if len(head.data) == head.length and len(text) <= HEAD_CHARS:
        return text
    return f"{text[:HEAD_CHARS]}… ({head.length:,} bytes in all, {digest})"
