"""The same action done more than once in an episode: grouped for the reader, never merged; a wanted repeat is one too.

Episodes that go on from one another, or from the same one, work on one state: they are grouped as one.
Model APIs mint a new id for each call, so only the tool and its arguments can say that two are alike. Numbers of equal
value are equal here (150 and 150.0), unlike in `core.sameness`, which decides what may be taken for what: grouping
decides nothing. A write without outcome makes a count a range: it may have happened.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from spectrace.core.deeds import Deed, changes_state


@dataclass(frozen=True, slots=True)
class Repeated:
    """One action that was sent more than once, in an episode or in others that go on from it."""

    episode: str
    """Where it was sent first."""
    tool: str
    arguments: str
    """As the first one has them."""
    seqs: tuple[int, ...]
    """act.requested of each, in the episodes of `places`."""
    least: int
    """How many are known to have been done."""
    most: int
    """The same with those of which nobody knows."""
    places: tuple[str, ...] = ()
    """Each as EP:SEQ."""


def repeated(deeds: Iterable[Deed], families: Mapping[str, str] | None = None) -> list[Repeated]:
    """Return the calls that were sent more than once in one episode, in the order of their first ones.

    `families` (episode -> the first one that it goes on from) counts resumed episodes as the one that they are.
    """
    groups: dict[tuple[str, str, object], list[Deed]] = {}
    for deed in deeds:
        if deed.tool is not None and deed.requested_at is not None and changes_state(deed):
            family = (families or {}).get(deed.episode, deed.episode)
            groups.setdefault((family, deed.tool, key_of(deed.arguments)), []).append(deed)
    return [_repeated(group) for group in groups.values() if _is_repeat(group)]


def _is_repeat(group: list[Deed]) -> bool:
    """Whether it was sent twice. One that a person says never ran, and that a child then did, was done once."""
    if len({deed.episode for deed in group}) > 1:
        return sum(deed.outcome != "never" and not deed.taken_over for deed in group) > 1
    return len(group) > 1


def _repeated(group: list[Deed]) -> Repeated:
    first = group[0]
    done = sum(deed.outcome == "ok" for deed in group)
    unknown = sum(deed.outcome == "indeterminate" for deed in group)
    seqs = tuple(deed.seq for deed in group)
    places = tuple(f"{deed.episode}:{deed.seq}" for deed in group)
    return Repeated(first.episode, str(first.tool), first.arguments, seqs, done, done + unknown, places)


def key_of(arguments: str) -> str:
    """Return a text that is equal for equal JSON: no order of members, no spaces, numbers by their value."""
    try:
        value = json.loads(arguments or "{}", parse_int=_number, parse_float=_number)
        return json.dumps(value, sort_keys=True, default=str)
    except (ValueError, RecursionError, InvalidOperation):
        return arguments


def _number(text: str) -> list[str]:
    """Return a number's value as no other JSON value looks here; 1e999999 must not become a million digits."""
    number = Decimal(text)
    return ["number", str(number.normalize() if number else Decimal(0))]
