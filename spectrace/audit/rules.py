"""What must never happen, recognised in a recording: a registry of rules. `spectrace audit violations` asks them all.

A rule reads one episode's events and names the act that breaks it. It judges what a log says was done, an imported log
too; whether the log itself is whole is `verify`'s to say. New rules are added to RULES, and nowhere else.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from spectrace.audit.speculation import judged, speculative_writes
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


@dataclass(slots=True)
class Tally:
    """How much there was to judge. It counts while violations are looked for."""

    acts: int = 0
    """Actions that changed something or spoke to somebody."""
    unjudged: int = 0
    """Those to which no rule could be applied."""

    def count(self, events: Sequence[Event]) -> None:
        """Add an episode."""
        for applied in judged(events):
            self.acts += 1
            self.unjudged += not applied

    @property
    def nothing_judged(self) -> bool:
        """Whether there were such actions, and every one of them is beyond judgement."""
        return 0 < self.acts == self.unjudged


def violations(events: Sequence[Event], rules: Mapping[str, Rule] = RULES) -> list[Violation]:
    """Return what an episode's events break, in their order; of no events, nothing."""
    found = [
        Violation(events[0].episode, seq, name, detail) for name, rule in rules.items() for seq, detail in rule(events)
    ]
    return sorted(found, key=lambda one: (one.seq, one.rule))
