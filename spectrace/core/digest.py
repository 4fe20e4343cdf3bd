"""Canonical bytes, digests and the chain link.

Canonical JSON is sorted keys, no white space, UTF-8, and by construction no floats and no integer beyond
2^53: within that, orjson's sorted output *is* RFC 8785 (a test compares it with an independent implementation).
A digest carries its algorithm's tag: `sha256:<hex>`.
"""

import hashlib
from collections.abc import Sequence

import orjson

from spectrace.core.types import Task, ToolSpec

CANONICAL = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER
"""orjson's options: what it writes with them is canonical, where the value holds no float."""
_CHAIN_TAG = b"spectrace.v1"


def canonical(value: object) -> bytes:
    """Return the canonical JSON bytes of None, bool, int, str, list and dict; raise TypeError for anything else."""
    _refuse_floats(value)
    return checked_canonical(value)


def checked_canonical(value: object) -> bytes:
    """Return the canonical bytes of a value that is known to hold no float (the walk costs six times the writing)."""
    return orjson.dumps(value, option=CANONICAL)


def _refuse_floats(value: object) -> None:
    match value:
        case None | bool() | int() | str():
            return
        case dict():
            for item in value.values():
                _refuse_floats(item)
        case list() | tuple():
            for item in value:
                _refuse_floats(item)
        case _:
            msg = f"a body holds None, bool, int, str, list and dict only, not {type(value).__name__}"
            raise TypeError(msg)


def digest(data: bytes) -> str:
    """Return `sha256:<hex>` of the bytes."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def text_bytes(text: str) -> tuple[bytes, str]:
    """Return (bytes, codec) of a text: utf-8, or what `_with_halves` says. Different texts have different bytes."""
    try:
        return text.encode(), "utf-8"
    except UnicodeEncodeError:
        return _with_halves(text)


def _with_halves(text: str) -> tuple[bytes, str]:
    """Return the bytes of a text with lone surrogates.

    Codec `bytes`: what was read is not UTF-8, and each surrogate stands for one of its bytes (PEP 383). Else wtf-8; so
    is what would look like wtf-8, or two texts could have the same bytes.
    """
    wtf8 = text.encode("utf-8", "surrogatepass")
    try:
        data = text.encode("utf-8", "surrogateescape")
        if bytes_text(data, "bytes") != text:
            return wtf8, "wtf-8"
        bytes_text(data, "wtf-8")
    except UnicodeEncodeError:
        return wtf8, "wtf-8"
    except UnicodeDecodeError:
        return data, "bytes"
    return wtf8, "wtf-8"


def bytes_text(data: bytes, codec: str) -> str:
    """Return the text of bytes that `text_bytes` made; raise UnicodeDecodeError where it cannot have."""
    return data.decode("utf-8", {"utf-8": "strict", "wtf-8": "surrogatepass", "bytes": "surrogateescape"}[codec])


def text_digest(text: str) -> str:
    """Return the digest of a text's bytes."""
    return digest(text_bytes(text)[0])


def first_link(episode: str) -> bytes:
    """Return link 0 of an episode's chain (32 bytes)."""
    return hashlib.sha256(_CHAIN_TAG + episode.encode()).digest()


def next_link(link: bytes, header: bytes, salt: bytes, body: bytes) -> bytes:
    """Return SHA-256(link || SHA-256(header) || SHA-256(salt || body)): erasing salt and body keeps the link.

    The salted digest is what remains of an erased body; `body_proof` gives it.
    """
    return link_over(link, header, body_proof(salt, body))


def body_proof(salt: bytes, body: bytes) -> bytes:
    """Return SHA-256(salt || body), 32 bytes."""
    return hashlib.sha256(salt + body).digest()


def link_over(link: bytes, header: bytes, proof: bytes) -> bytes:
    """Return the next link from a body's proof alone, for a body that was erased."""
    return hashlib.sha256(link + hashlib.sha256(header).digest() + proof).digest()


def header_bytes(  # noqa: PLR0913 - the header is these ten values, in this order
    episode: str,
    seq: int,
    lane: str,
    type_: str,
    version: int,
    at: int,
    effect: str | None,
    authority: str | None,
    outcome: str | None,
    tool: str | None,
) -> bytes:
    """Return the canonical header: a JSON array in this order."""
    return checked_canonical([episode, seq, lane, type_, version, at, effect, authority, outcome, tool])


def digest_of(parts: Sequence[object] | dict[str, object]) -> str:
    """Return the digest of a canonical JSON value."""
    return digest(canonical(parts))


def task_digest(task: Task) -> str:
    """Return the digest of a task: its id, request and data, each by its own, for texts may hold lone surrogates."""
    return digest_of([text_digest(text) for text in (task.id, task.request, task.data)])


def tools_digest(tools: tuple[ToolSpec, ...]) -> str:
    """Return the digest of tools as the models see them, with the effects that they were declared with."""
    return digest_of(
        [
            [*(text_digest(text) for text in (tool.name, tool.description, tool.parameters)), tool.effect.value]
            for tool in tools
        ]
    )
