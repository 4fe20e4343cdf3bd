"""The ledger of deeds: every action that changed or may have changed something, or was drafted to and never ran.

It reads the deeds from projections, a window of time at a time, and folds only the episodes whose projections cannot be
relied on (see `store.ledger`). Asked for plain reads, for named episodes or of a log in memory, it folds one episode
after the other. Both ways give the same answer, and a test says so.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from spectrace.audit.answers import Filters
from spectrace.core.deeds import Deed, changes_state
from spectrace.store import ledger as kept
from spectrace.store.listing import Listable
from spectrace.store.sql import SqlEventStore

Between = tuple[int | None, int | None]
"""[from, to) in UTC microseconds; None leaves that end open."""
Fold = Callable[[str], list[Deed]]
"""Returns an episode's deeds, read from its events."""
Told = Callable[[int, int], None]
"""Is told how many episodes of how many were read."""

_OLDEST_FIRST, _NEWEST_FIRST = "started_at", "-started_at"


def within(deed: Deed, between: Between) -> bool:
    """Whether a deed was asked, or else drafted, in that time."""
    at = deed.requested_at if deed.requested_at is not None else deed.drafted_at
    low, high = between
    return at is None or ((low is None or at >= low) and (high is None or at < high))


def can_choose(store: Listable, filters: Filters) -> bool:
    """Whether the deeds can be chosen in the database: by time and tool, and by what it knows of episodes."""
    rest = replace(filters, tool=(), env=(), run=(), since=None, until=None, sort=_NEWEST_FIRST)
    return (
        isinstance(store, SqlEventStore)
        and kept.can_tell((*filters.tool, *filters.env, *filters.run))
        and rest == Filters()
        and filters.sort in {_OLDEST_FIRST, _NEWEST_FIRST}
    )


def chosen(
    store: SqlEventStore, filters: Filters, between: Between, fold: Fold, told: Told | None = None
) -> Iterator[Deed]:
    """Yield the deeds that `filters` choose, in the order of its episodes."""
    low, high = between
    window = (kept.FOREVER[0] if low is None else low, kept.FOREVER[1] if high is None else high)
    newest_first = filters.sort == _NEWEST_FIRST
    accounts = kept.accounts(store.database, filters.tool, window, newest_first=newest_first)
    for number, one in enumerate(accounts, 1):
        if told is not None:
            told(number, len(accounts))
        if not _passes(one, filters):
            continue
        for deed in fold(one.episode) if one.deeds is None else one.deeds:
            if (not filters.tool or deed.tool in filters.tool) and changes_state(deed) and within(deed, between):
                yield deed


def _passes(one: kept.Account, filters: Filters) -> bool:
    return (
        (not filters.env or one.env in filters.env)
        and (not filters.run or one.run in filters.run)
        and (filters.since is None or one.started_at >= filters.since)
        and (filters.until is None or one.started_at < filters.until)
    )
