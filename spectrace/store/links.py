"""Events as the chain covers them, for verification: nothing is parsed, and nothing made that is not hashed."""

from collections.abc import Mapping, Sequence
from typing import Any

from spectrace.core.digest import checked_canonical
from spectrace.store.event_store import Link
from spectrace.store.statements import SEQ_MASK


def links_of(
    episode: str,
    found: Sequence[Sequence[Any]],
    bodies: Sequence[bytes | None],
    types: Mapping[int, str],
    tools: Mapping[int | None, str | None],
) -> list[Link]:
    """Return the links of rows of `events` whose bodies are unpacked."""
    return [
        (
            seq := key_ & SEQ_MASK,
            type_ := types[number],
            checked_canonical(  # `digest.header_bytes`, in line
                [episode, seq, lane, type_, version, at, effect, authority, outcome, tools[tool]]
            ),
            body,
            salt,
            link,
        )
        for (key_, number, tool, lane, version, at, effect, authority, outcome, _, _, salt, link), body in zip(
            found, bodies, strict=True
        )
    ]
