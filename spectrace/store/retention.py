"""How long recordings are kept: `[retention]` of spectrace.toml, read strictly.

    [retention]
    days = 90                  # from an episode's end on; without it nothing is erased by itself

    [retention.projects]
    support = 30               # a project with a time of its own
    research = 0               # 0: kept for good

Nothing happens by itself: `spectrace erase --retention` does it, as often as somebody runs it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from spectrace.errors import UsageError
from spectrace.store.erasing_plan import Before

_DAY_US = 86_400_000_000
_MOST_DAYS = 36_500
_KNOWN = ("days", "projects")


@dataclass(frozen=True, slots=True)
class Retention:
    """Days from an episode's end; None keeps it for good."""

    days: int | None = None
    projects: Mapping[str, int | None] = field(default_factory=dict)

    @property
    def is_set(self) -> bool:
        """Whether anything is ever to be erased."""
        return any(days is not None for days in (self.days, *self.projects.values()))

    def due(self, now: int) -> Before:
        """Return what is over at a time (UTC microseconds)."""
        at = {name: _before(now, days) for name, days in self.projects.items()}
        return Before(_before(now, self.days), at, "retention")


def _before(now: int, days: int | None) -> int | None:
    return None if days is None else now - days * _DAY_US


def read_retention(table: Mapping[str, object], where: str) -> Retention:
    """Read the table; raise UsageError naming the key that is wrong."""
    for name in table:
        if name not in _KNOWN:
            raise UsageError(f"{where}: retention.{name} is not known. Known: {', '.join(_KNOWN)}.")
    projects = table.get("projects", {})
    if not isinstance(projects, dict):
        raise UsageError(f"{where}: retention.projects is a table of project = days, found {projects!r:.80}.")
    own = {name: _days(days, f"{where}: retention.projects.{name}") for name, days in projects.items()}
    return Retention(_days(table["days"], f"{where}: retention.days") if "days" in table else None, own)


def _days(value: object, where: str) -> int | None:
    if type(value) is not int or not 0 <= value <= _MOST_DAYS:
        raise UsageError(f"{where} is a whole number of days, 0 for ever, found {value!r:.80}.")
    return value or None
