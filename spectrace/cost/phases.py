"""What model calls are made for, and what each phase cost: calls, tokens, work, time, money.

A count that nobody knows is counted apart, never as 0: a sum with unknown parts is "at least" so much.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from spectrace.core.types import Usage
from spectrace.cost.estimate import Work

PHASES = ("draft", "verify", "repair", "act", "plan", "progress", "re-ask", "user", "judge")
"""In the order of a report. `re-ask`: what was asked beyond the first time because a reply could not be read."""
MEASURES = ("flops", "hbm_read_low", "hbm_read_high", "seconds", "usd")
"""What a cost is measured in; never mixed."""
TOKENS = ("input", "cached_measured", "cached_modelled", "uncached_measured", "uncached_modelled", "output")
"""Cached tokens by the server's word, and by the radix model: two columns."""

_PLAN, _PROGRESS = re.compile(r"s\d+\.p"), re.compile(r"s\d+\.j")


def phase_of(role: str, position: str, *, again: bool) -> str:
    """Return what a call was made for; `again`: the same was asked before and its reply could not be read."""
    if again:
        return "re-ask"
    if _PLAN.fullmatch(position):
        return "plan"
    if _PROGRESS.fullmatch(position):
        return "progress"
    return {"drafter": "draft", "reviewer": "verify", "repairer": "repair", "actor": "act"}.get(role, role)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One model call, as it was counted and as it is estimated."""

    phase: str
    who: str
    """weak, strong, user or judge."""
    usage: Usage
    cached_modelled: int | None = None
    """Leading tokens of the prompt that the radix model finds; None where the prompt's length is unknown."""
    work: Work | None = None
    """None where the model's architecture or a count is unknown."""
    latency_us: int | None = None
    micro_usd: int | None = None
    retries: int = 0
    """Transport attempts beyond the first."""
    failed: bool = False

    def cost(self, measure: str) -> float | None:
        """Return the call's cost in one of MEASURES; None is unknown."""
        match measure:
            case "seconds":
                return None if self.latency_us is None else self.latency_us / 1e6
            case "usd":
                return None if self.micro_usd is None else self.micro_usd / 1e6
            case _:
                return None if self.work is None else float(getattr(self.work, measure))

    def tokens(self, kind: str) -> int | None:
        """Return one of TOKENS; None is unknown."""
        match kind:
            case "input":
                return self.usage.input
            case "output":
                return self.usage.output
            case "cached_measured":
                return self.usage.cached
            case "cached_modelled":
                return self.cached_modelled
            case "uncached_measured":
                return _without(self.usage.input, self.usage.cached)
            case _:
                return _without(self.usage.input, self.cached_modelled)


def _without(read: int | None, cached: int | None) -> int | None:
    """Return the tokens read anew; a server may count more cached than sent after a retraction (SGLang #11900)."""
    return None if read is None or cached is None else max(read - cached, 0)


@dataclass(slots=True)
class Sum:
    """A sum of what is known, and how many parts are not."""

    known: float = 0.0
    unknown: int = 0
    parts: int = 0

    def add(self, value: float | None) -> None:
        """Add one part."""
        self.parts += 1
        if value is None:
            self.unknown += 1
        else:
            self.known += value

    @property
    def least(self) -> float | None:
        """What it is at least; None where parts are there and nobody knows any."""
        return None if self.parts and self.unknown == self.parts else self.known

    @property
    def exact(self) -> float | None:
        """The sum, if every part is known."""
        return None if self.unknown else self.known


@dataclass(slots=True)
class PhaseCost:
    """What the calls of a phase, or of any other set, cost together."""

    calls: int = 0
    failed: int = 0
    retries: int = 0
    sums: dict[str, Sum] = field(default_factory=lambda: {name: Sum() for name in (*TOKENS, *MEASURES)})
    """By TOKENS and MEASURES."""

    def add(self, call: Call) -> None:
        """Count one call."""
        self.calls += 1
        self.failed += call.failed
        self.retries += call.retries
        for name in TOKENS:
            self.sums[name].add(call.tokens(name))
        for name in MEASURES:
            self.sums[name].add(call.cost(name))


def by_phase(calls: Iterable[Call]) -> dict[tuple[str, str], PhaseCost]:
    """Sum calls by (phase, who), in the order of PHASES."""
    found: dict[tuple[str, str], PhaseCost] = {}
    for call in calls:
        found.setdefault((call.phase, call.who), PhaseCost()).add(call)
    return dict(sorted(found.items(), key=lambda item: (PHASES.index(item[0][0]), item[0][1])))


def summed(calls: Iterable[Call]) -> PhaseCost:
    """Sum calls."""
    total = PhaseCost()
    for call in calls:
        total.add(call)
    return total
