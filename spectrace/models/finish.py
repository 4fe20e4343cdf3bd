"""Finish reasons as servers send them -> one text, and what was odd: whether a model ended by itself depends on it.

The core believes only the reasons of `ENDED`. So a reason that is no text becomes a text that is none of them, and of
the several reasons of a stream the first that is none of them stands: a last chunk's `stop` is often a placeholder.
"""

import json
from collections.abc import Mapping, Sequence

from spectrace.core.unwrapping import ENDED

_LONGEST = 80


def given(value: object) -> bool:
    """Whether a finish reason was sent: some servers put an empty text into every chunk before the last."""
    return value is not None and value != ""


def read(value: object) -> tuple[str | None, tuple[str, ...]]:
    """Return a finish reason as text, and notes. SGLang's /generate has {"type": REASON, ...}."""
    if not given(value):
        return None, ()
    if isinstance(value, str):
        return value, ()
    kind = value.get("type") if isinstance(value, Mapping) else None
    text = kind if isinstance(kind, str) and kind else f"not text: {json.dumps(value)}"[:_LONGEST]
    return text, (f"the finish reason came as {type(value).__name__}, not text",)


def settled(values: Sequence[object]) -> tuple[object, tuple[str, ...]]:
    """Return the one that stands of a stream's finish reasons, as it was sent, and a note where they disagree."""
    texts = [text for value in values if (text := read(value)[0]) is not None]
    differ = list(dict.fromkeys(texts))
    notes = (f"the stream told {len(differ)} finish reasons: {', '.join(map(repr, differ))}",) if differ[1:] else ()
    cut = [value for value in values if (text := read(value)[0]) is not None and text.lower() not in ENDED]
    return (cut[0] if cut else values[-1] if values else None), notes
