"""What a worker asks of the runs of a log, again and again: light queries, without selections and rows of items."""

import sqlalchemy as sa

from spectrace.store import tables
from spectrace.store.projections import storable
from spectrace.store.sql import SqlEventStore


def uncancelled(store: SqlEventStore, kind: str) -> list[tuple[str, str]]:
    """Return (name, settings) of the runs of a kind that nobody cancelled, the oldest first."""
    runs = tables.runs.c
    query = sa.select(runs.name, runs.settings).where(runs.kind == kind, runs.cancelled_at.is_(None))
    with store.database.reading() as connection:
        return [(name, settings) for name, settings in connection.execute(query.order_by(runs.created_at, runs.id))]


def first_episode(store: SqlEventStore, run: str, protocol: str) -> str | None:
    """Return the first episode of a protocol that was recorded for a run; None while there is none."""
    summary, episode = tables.summaries.c, tables.episodes.c
    query = (
        sa.select(episode.episode)
        .join(tables.summaries, episode.number == summary.number)
        .where(summary.run == storable(run), summary.protocol == protocol)
        .order_by(episode.started_at, episode.number)
        .limit(1)
    )
    with store.database.reading() as connection:
        return connection.scalar(query)
