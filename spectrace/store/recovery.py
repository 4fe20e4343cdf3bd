"""Ending an episode whose writer is gone: one `episode.ended`, interrupted, and nothing else is written or run.

What could have gone otherwise: the end is an event of the episode and not a mark on its row, so the chain covers it and
the projections are written with it. It is the last word on this recording only: `resume` goes on in a child episode,
and a replay takes an interrupted end for the place where the record stops (`core.endings.cut_short`).

Stricter than the state that listings show: a writer whose process certainly lives on this machine is never ended by
somebody else, though its lease ran out (a laptop slept, the clock was set forward), unless it let the episode go.
"""

from spectrace.core.admin_events import ADMIN_PREFIX
from spectrace.core.events import EpisodeEnded
from spectrace.core.tally import Tally
from spectrace.core.versions import first_newer, newer_version
from spectrace.errors import Conflict, UsageError
from spectrace.store.event_store import EventStore, Pending
from spectrace.store.memory import MemoryEventStore
from spectrace.store.process import Process, is_alive, this_process
from spectrace.store.sql import SqlEventStore

INTERRUPTED, RECOVERED = "interrupted", "recovered"


def end_interrupted(store: SqlEventStore | MemoryEventStore, episode: str, at: int) -> bool:
    """Write the end that a gone writer owes; False where there is one. Raises Conflict while somebody writes."""
    if episode.startswith(ADMIN_PREFIX):
        raise UsageError(f"{episode} is an administrative log, which has no end: there is nothing to recover.")
    if store.row(episode).state == "ended":
        return False
    if isinstance(store, SqlEventStore):
        _require_gone(store, episode)
    try:
        _end(store, episode, at)
    except Conflict:
        if store.row(episode).state != "ended":  # another `recover` was faster
            raise
        return False
    return True


def _end(store: EventStore, episode: str, at: int) -> None:
    writer = store.reopen(episode)
    try:
        events = list(store.read(episode))
        if (newer := first_newer(events)) is not None:  # what was left open cannot be told without it
            raise newer_version(newer)
        tally = Tally()
        for event in events:
            tally.count(event.body)
        ended = EpisodeEnded(outcome=INTERRUPTED, reason=RECOVERED, answer=None, reward=None, totals=tally.totals)
        writer.append([Pending(len(events), "", at, ended)], durable=True)
    finally:
        writer.close()


def _require_gone(store: SqlEventStore, episode: str) -> None:
    """Raise Conflict for a writer that lives on this machine and has not let go, whatever its lease says."""
    row = store.log.episode(episode)
    writer = Process(row.writer_host, row.writer_pid, row.writer_started)
    if row.lease_until and is_alive(writer, this_process()):
        raise Conflict(
            f"{episode} is being written by process {writer.pid} on {writer.host}, which lives: wait for it, or end "
            "that process, and recover then."
        )
