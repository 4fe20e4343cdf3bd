"""The same action done more than once in an episode: grouped for the reader, never merged; a wanted repeat is one too.

Model APIs mint a new id for each call, so only the tool and its arguments can say that two are alike. Numbers of equal
value are equal here (150 and 150.0), unlike in `core.sameness`, which decides what may be taken for what: grouping
decides nothing. A write without outcome makes a count a range: it may have happened.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from spectrace.core.deeds import Deed, changes_state


@dataclass(frozen=True, slots=True)
class Repeated:
    """One action of an episode that was sent more than once."""

    episode: str
    tool: str
    arguments: str
    """As the first one has them."""
    seqs: tuple[int, ...]
    """act.requested of each."""
    least: int
    """How many are known to have been done."""
    most: int
    """The same with those of which nobody knows."""


def repeated(deeds: Iterable[Deed]) -> list[Repeated]:
    """Return the calls that were sent more than once in one episode, in the order of their first ones."""
    groups: dict[tuple[str, str, object], list[Deed]] = {}
    for deed in deeds:
        if deed.tool is not None and deed.requested_at is not None and changes_state(deed):
            groups.setdefault((deed.episode, deed.tool, _key(deed.arguments)), []).append(deed)
    return [_repeated(group) for group in groups.values() if len(group) > 1]


def _repeated(group: list[Deed]) -> Repeated:
    first, done = group[0], sum(deed.outcome == "ok" for deed in group)
    unknown = sum(deed.outcome == "indeterminate" for deed in group)
    seqs = tuple(deed.seq for deed in group)
    return Repeated(first.episode, str(first.tool), first.arguments, seqs, done, done + unknown)


def _key(arguments: str) -> str:
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
