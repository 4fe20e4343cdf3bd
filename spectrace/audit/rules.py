"""What must never happen, recognised in a recording: a registry of rules. `spectrace audit violations` asks them all.

A rule reads one episode's events and names the act that breaks it. It judges what a log says was done, an imported log
too; whether the log itself is whole is `verify`'s to say. New rules are added to RULES, and nowhere else.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from spectrace.audit.speculation import speculative_writes
from spectrace.core.events import Event

Rule = Callable[[Sequence[Event]], Iterator[tuple[int, str]]]
"""Yields the number of the event that breaks the rule, and how it does, in a sentence."""

RULES: Mapping[str, Rule] = MappingProxyType({"speculative_write": speculative_writes})
"""Name -> rule."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that an event breaks."""

    episode: str
    seq: int
    rule: str
    detail: str


def violations(events: Sequence[Event], rules: Mapping[str, Rule] = RULES) -> list[Violation]:
    """Return what an episode's events break, in their order; of no events, nothing."""
    found = [
        Violation(events[0].episode, seq, name, detail) for name, rule in rules.items() for seq, detail in rule(events)
    ]
    return sorted(found, key=lambda one: (one.seq, one.rule))
