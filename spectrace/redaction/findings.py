"""What was found in a text: places that do not overlap. Shared by the detectors."""

import re
from collections.abc import Iterable
from typing import NamedTuple

PLACEHOLDER = re.compile(r"REDACTED-[a-z][a-z0-9-]{0,31}-[0-9a-f]{12}")
"""What stands in a secret's place: plain ASCII that no escape, markup or shell takes for something of its own."""
MARK = "REDACTED-"
SECRET = "secret"  # noqa: S105 - the kind of every credential
NUMBER = "number"
"""The kind of a secret that was a JSON number: its placeholder is a JSON string of its own."""


class Found(NamedTuple):
    """A secret in a text: `text[start:end]`, what kind of thing it is, and what gave it away."""

    start: int
    end: int
    kind: str
    why: str
    value: str | None = None
    """What it says where the text writes it otherwise, inside a JSON string; None: as it stands."""
    depth: int = 0
    """How many JSON strings it lies in."""


def merged(text: str, found: Iterable[Found]) -> list[Found]:
    """Return the findings in order, overlapping ones as one, and around placeholders what stands beside them."""
    made: list[Found] = []
    for one in sorted(found, key=lambda item: (item.start, -item.end)):
        if one.end <= one.start:
            continue
        if made and one.start < made[-1].end:
            last = made[-1]
            if one.end > last.end:
                made[-1] = last._replace(end=one.end, value=None)
        else:
            made.append(one)
    if MARK not in text:
        return made
    return [part for one in made for part in beside_placeholders(text, one)]


def beside_placeholders(text: str, one: Found) -> list[Found]:
    """Return the parts of a finding that no placeholder covers, whoever wrote that."""
    if MARK not in text:
        return [one]
    parts, at = [], one.start
    for match in PLACEHOLDER.finditer(text, one.start, one.end):
        parts.append((at, match.start()))
        at = match.end()
    if at == one.start:
        return [one]
    bare = ((start, end, text[start:end]) for start, end in (*parts, (at, one.end)))
    return [
        one._replace(start=end - len(rest.lstrip()), end=start + len(rest.rstrip()), value=None)
        for start, end, rest in bare
        if sum(letter.isalnum() for letter in rest) > 1
    ]


def without_placeholders(text: str) -> str:
    """Return a text without the placeholders in it."""
    return PLACEHOLDER.sub("", text) if MARK in text else text


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())
