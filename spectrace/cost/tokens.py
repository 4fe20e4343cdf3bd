"""Token ids of a prompt, for the radix model. Real ones come from the server; else four bytes are one token.

`Tokenize` is the hook: messages -> ids, as a server's own chat template and tokenizer make them. `approximate` stands
in where a log has no ids. What it gives is deterministic, and prompts that share a text share its ids; as a count it
is off by tens of per cent, so only the *share* of a prompt that is found in the cache is taken from it, and applied to
the server's own count of the prompt (`in_tokens_of`).
"""

import struct
from collections.abc import Callable, Sequence

from spectrace.core.types import Message

Tokenize = Callable[[Sequence[Message]], Sequence[int]]

BYTES = 4
"""Of one token, roughly, in English and in JSON."""
_TURN = 1 << 32
"""Begins a message; no four bytes are it."""


def approximate(messages: Sequence[Message]) -> list[int]:
    """Return stand-in ids: one that begins each message and names its role, then one for every four bytes."""
    return [number for message in messages for number in message_ids(message)]


def message_ids(message: Message) -> list[int]:
    """Return the stand-in ids of one message; a tool call's id is not among them: templates leave it out."""
    ids = [_TURN + sum(message.role.encode())]
    for text in (message.content, *(part for call in message.calls for part in (call.name, call.arguments))):
        if text:
            ids += _words(text)
    return ids


def _words(text: str) -> tuple[int, ...]:
    raw = text.encode("utf-8", "surrogatepass")
    return struct.unpack(f"<{-(-len(raw) // BYTES)}I", raw + b"\xff" * (-len(raw) % BYTES))


def in_tokens_of(server: int, ids: int, cached: int) -> int:
    """Return `cached` of `ids` stand-in tokens in the server's own tokens; its last one is always read."""
    if ids <= 0 or server <= 0:
        return 0
    return min(round(cached / ids * server), server - 1)
