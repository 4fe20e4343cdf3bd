"""RunArbiter: the arbiter of a run on a database's `run_items`, whose unique key lets one verdict count.

The children of a run are found by the summaries, which are begun in the transaction that begins the episode. Only rows
that are new since the last look are read: a run of many thousand episodes looks as often. What a look misses (on
Postgres a lower number may be committed later) is judged twice at worst, and counts once.
"""

import threading
from collections.abc import Sequence

import sqlalchemy as sa

from spectrace.core.rereviews import REVERIFY
from spectrace.store import runs, tables
from spectrace.store.arbiter import Item
from spectrace.store.projections import storable
from spectrace.store.sql import SqlEventStore

_OVERLAP = 256
"""Numbers before the last one seen that are looked at again."""


class RunArbiter:
    """The arbiter of one run that was begun."""

    def __init__(self, store: SqlEventStore, run: str) -> None:
        """Know the run's selection; raise UsageError where there is no such run."""
        self._store = store
        self._run = run
        self._heads = dict(runs.get(store, run).selection)
        self._children: dict[str, dict[tuple[int, str], None]] = {}
        self._seen = 0
        self._looking = threading.Lock()

    def head(self, parent: str) -> str | None:
        """Return the head (hex) that an episode had when it was selected."""
        return self._heads.get(parent)

    def cancelled(self) -> bool:
        """Whether the run was cancelled."""
        query = sa.select(tables.runs.c.cancelled_at).where(tables.runs.c.name == self._run)
        with self._store.database.reading() as connection:
            return connection.scalar(query) is not None

    def items(self, parent: str) -> Sequence[Item]:
        """Return what counts of an episode."""
        return runs.items(self._store, self._run, parent)

    def children(self, parent: str) -> Sequence[str]:
        """Return the run's episodes that judge an episode, those begun first in front."""
        with self._looking:
            self._look()
            return [episode for _, episode in sorted(self._children.get(parent, ()))]

    def count(self, item: Item) -> bool:
        """Let an item count, unless one does already. Unflushed: the child, committed before, says the same."""
        return runs.record(self._store, self._run, item, durable=False)

    def _look(self) -> None:
        summary, episode = tables.summaries.c, tables.episodes.c
        query = (
            sa.select(episode.number, episode.started_at, episode.episode, summary.parent)
            .join(tables.episodes, episode.number == summary.number)
            .where(summary.run == storable(self._run), summary.protocol == REVERIFY)
            .where(summary.number > self._seen - _OVERLAP)
        )
        with self._store.database.reading() as connection:
            found = connection.execute(query).all()
        for number, started_at, name, parent in found:
            self._seen = max(self._seen, number)
            self._children.setdefault(parent, {})[started_at, name] = None
