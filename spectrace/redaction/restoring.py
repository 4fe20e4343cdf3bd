"""Where placeholders stand in a text, and how deep inside JSON strings: what is put back there is escaped as often.

Counterpart of `json_walk`: it walks the same way.
"""

import json
from typing import NamedTuple

from spectrace.redaction.findings import MARK, NUMBER, PLACEHOLDER
from spectrace.redaction.json_reading import Decoded, literals
from spectrace.redaction.json_walk import MAX_NESTED


class Standing(NamedTuple):
    """A placeholder in a text: its place, and how many strings it lies in."""

    start: int
    end: int
    name: str
    depth: int


def standing(text: str, depth: int = 0) -> list[Standing]:
    """Return the placeholders of a text, in order."""
    if MARK not in text:
        return []
    read = literals(text) if depth <= MAX_NESTED else None
    if read is None:
        return [Standing(*match.span(), match[0], depth) for match in PLACEHOLDER.finditer(text)]
    found: dict[int, Standing] = {}  # an object's `value` is told twice
    for one in read:
        if one.text is None or MARK not in one.text:
            continue
        decoded = Decoded(one.text) if "\\" in one.text else None
        for place in standing(one.text if decoded is None else decoded.text, depth + 1):
            start, end = place.start, place.end
            if decoded is not None:
                start, end = decoded.back(start), decoded.back(end)
            found[one.start + start] = place._replace(start=one.start + start, end=one.start + end)
    return [found[start] for start in sorted(found)]


def put_back(text: str, place: Standing, value: str) -> tuple[int, int, str]:
    """Return the place that a value takes, quotes of a number included, and the value as it is written there."""
    if not place.name.startswith(f"{MARK}{NUMBER}-") or place.depth == 0:
        return place.start, place.end, escaped(value, place.depth)
    quote = escaped('"', place.depth - 1)
    start, end = place.start - len(quote), place.end + len(quote)
    if text[max(0, start) : place.start] == quote and text[place.end : end] == quote:
        return start, end, value
    return place.start, place.end, value


def escaped(value: str, depth: int) -> str:
    """Return a text as it is written inside so many strings."""
    for _ in range(depth):
        value = json.dumps(value, ensure_ascii=False)[1:-1]
    return value
