"""What a report counts of the ledger: actions by outcome, authority, effect, tool and time, reviewers and persons.

Counted while the ledger streams by; nothing but the counts is kept.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from spectrace.core.deeds import Deed

OUTCOMES = ("ok", "error", "indeterminate", "never")
DAY, WEEK, MONTH, YEAR = "day", "week", "month", "year"
_MOST_BARS = 62
"""More bars than this are no picture: then each stands for a week, a month or a year."""
_MICRO = 1_000_000
UNDATED = "undated"


@dataclass(slots=True)
class Figures:
    """Counts over the actions of a report."""

    total: int = 0
    ran: int = 0
    """Asked of the environment, whatever came of it."""
    by_outcome: Counter[str] = field(default_factory=Counter)
    by_authority: Counter[str] = field(default_factory=Counter)
    """Of those that ran: the kind alone, `verdict` and not `verdict:28`."""
    by_effect: Counter[str] = field(default_factory=Counter)
    by_kind: Counter[str] = field(default_factory=Counter)
    by_tool: dict[str, Counter[str]] = field(default_factory=dict)
    """Tool -> outcome -> how many; replies and final answers have none."""
    by_day: dict[str, Counter[str]] = field(default_factory=dict)
    """Day (UTC) on which it was asked, or else drafted -> outcome -> how many."""
    changed: Counter[str] = field(default_factory=Counter)
    """Of those that ran, whether the state changed: yes, no, unknown."""
    reviewers: Counter[str] = field(default_factory=Counter)
    """Model -> actions that ran on its verdict or its repair."""
    persons: Counter[str] = field(default_factory=Counter)
    """Person -> actions that ran on their word."""
    started_by: Counter[str] = field(default_factory=Counter)
    held: int = 0
    """Held back for a verdict, whatever became of it."""
    erased: int = 0
    simulated: int = 0

    def count(self, deed: Deed) -> None:
        """Add one action."""
        self.total += 1
        self.by_outcome[deed.outcome] += 1
        self.by_kind[deed.kind] += 1
        self.by_effect[deed.effect_declared or "not declared"] += 1
        self.started_by[deed.started_by] += 1
        self.held += deed.held_seq is not None
        self.erased += deed.erased
        self.simulated += deed.simulated
        if deed.tool is not None:
            self.by_tool.setdefault(deed.tool, Counter())[deed.outcome] += 1
        self.by_day.setdefault(day_of(deed), Counter())[deed.outcome] += 1
        if deed.requested_at is not None:
            self._sent(deed)

    def _sent(self, deed: Deed) -> None:
        self.ran += 1
        kind, _, who = (deed.authority or "none").partition(":")
        self.by_authority[kind] += 1
        self.changed[{True: "yes", False: "no", None: "unknown"}[deed.state_changed]] += 1
        if kind in {"verdict", "repair"}:
            self.reviewers[deed.reviewer_model or "not named by the log"] += 1
        elif kind == "person":
            self.persons[who] += 1


@dataclass(frozen=True, slots=True)
class Span:
    """A day, a week, a month or a year: its name, and how many actions of each outcome fall into it."""

    name: str
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """How many in all."""
        return sum(self.counts.values())


def day_of(deed: Deed) -> str:
    """Return the day (UTC) on which an action was asked, or else drafted."""
    at = deed.requested_at if deed.requested_at is not None else deed.drafted_at
    if at is None:
        return UNDATED
    try:
        return datetime.fromtimestamp(at // _MICRO, UTC).date().isoformat()
    except (OverflowError, ValueError, OSError):  # a recorded time may be none that a calendar has
        return UNDATED


def spans(by_day: Mapping[str, Mapping[str, int]]) -> tuple[str, tuple[Span, ...]]:
    """Return day, week, month or year, whichever gives few enough, and all of them from the first to the last.

    Where even the years are too many (a clock that was wrong), only those with an action.
    """
    dated = {date.fromisoformat(name): counts for name, counts in by_day.items() if name != UNDATED}
    unit, places = _places(dated)
    summed: dict[int, Counter[str]] = {place: Counter() for place in places}
    for day, counts in dated.items():
        summed[_place(day, unit)].update(counts)
    found = [Span(_name(place, unit), counts) for place, counts in summed.items()]
    if UNDATED in by_day:
        found.append(Span(UNDATED, by_day[UNDATED]))
    return unit, tuple(found)


def _places(days: Collection[date]) -> tuple[str, Sequence[int]]:
    if not days:
        return DAY, ()
    for unit in (DAY, WEEK, MONTH, YEAR):
        low, high = _place(min(days), unit), _place(max(days), unit)
        if high - low < _MOST_BARS:
            return unit, range(low, high + 1)
    return YEAR, sorted({_place(day, YEAR) for day in days})


def _place(day: date, unit: str) -> int:
    """Return the number of the span that a day lies in."""
    match unit:
        case "day":
            return day.toordinal()
        case "week":
            return (day.toordinal() - 1) // 7  # day 1 of the calendar is a Monday
        case "month":
            return day.year * 12 + day.month - 1
        case _:
            return day.year


def _name(place: int, unit: str) -> str:
    match unit:
        case "day":
            return date.fromordinal(place).isoformat()
        case "week":
            year, week, _ = date.fromordinal(place * 7 + 1).isocalendar()
            return f"{year:04}-W{week:02}"
        case "month":
            return f"{place // 12:04}-{place % 12 + 1:02}"
        case _:
            return f"{place:04}"
