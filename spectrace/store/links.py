"""Events as the chain covers them, for verification: nothing is parsed, and nothing made that is not hashed."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from spectrace.core.digest import CANONICAL
from spectrace.store.event_store import Link
from spectrace.store.rows import Damage
from spectrace.store.statements import SEQ_MASK


def links_of(
    episode: str,
    found: Sequence[Sequence[Any]],
    bodies: Sequence[bytes | None],
    types: Mapping[int, str],
    tools: Mapping[int | None, str | None],
) -> list[Link]:
    """Return the links of rows of `events` whose bodies are unpacked; raise Damage where a column holds no JSON."""
    dumps, options, mask = orjson.dumps, CANONICAL, SEQ_MASK
    try:
        return [
            (
                seq := key_ & mask,
                type_ := types[number],
                # `digest.header_bytes`, in line
                dumps([episode, seq, lane, type_, version, at, effect, authority, outcome, tools[tool]], None, options),
                body,
                salt,
                link,
            )
            for (key_, number, tool, lane, version, at, effect, authority, outcome, _, _, salt, link), body in zip(
                found, bodies, strict=True
            )
        ]
    except TypeError as error:  # SQLite holds what it is given, bytes too
        raise Damage(
            f"a column of its header holds what no header does ({error}): it was altered or damaged."
        ) from error
