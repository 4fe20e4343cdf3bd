"""Many episodes verified, in several processes where there is enough to hash: each opens the log for itself.

Every event and every blob is hashed once, so this is bound by the processor, and Python runs on one core at a time. A
process takes most of a second to start, in which one core verifies tens of thousands of events: fewer are not shared.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import sqlalchemy as sa

from spectrace.audit.integrity import Verifier, VerifyResult
from spectrace.errors import StoreError
from spectrace.store import tables
from spectrace.store.listing import Listable
from spectrace.store.sql import SqlEventStore, open_store

SHARED_EVENTS = 100_000
"""Below this, one process is done before others have started."""
_TASK_EVENTS = 10_000
"""What a process is given at once: Ctrl-C waits for no more than that, a fraction of a second."""

Told = Callable[[int, int], None]
"""Told how many of how many episodes are verified."""


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def verify_all(
    store: Listable, episodes: Sequence[str], jobs: int | None = None, told: Told | None = None
) -> Iterator[VerifyResult]:
    """Yield each episode's result, in the order given; with at most `jobs` processes (None: one a core)."""
    for done, result in enumerate(_results(store, episodes, cores() if jobs is None else jobs), 1):
        if told is not None:
            told(done, len(episodes))
        yield result


def _results(store: Listable, episodes: Sequence[str], jobs: int) -> Iterator[VerifyResult]:
    tasks = _tasks(episodes, _events(store)) if jobs > 1 and isinstance(store, SqlEventStore) else []
    if len(tasks) > 1 and isinstance(store, SqlEventStore):
        yield from _shared(store, tasks, min(jobs, len(tasks)))
        return
    verifier = Verifier(store)
    yield from map(verifier.verify, episodes)


def _events(store: SqlEventStore) -> Mapping[str, int]:
    """Return how many events each episode has by its own row."""
    query = sa.select(tables.episodes.c.episode, tables.episodes.c.events)
    with store.database.reading() as connection:
        return {episode: events for episode, events in connection.execute(query)}  # noqa: C416 - rows are no pairs to mypy


def _tasks(episodes: Sequence[str], events: Mapping[str, int]) -> list[list[str]]:
    """Cut the episodes into tasks; one task, if sharing would not pay."""
    if sum(events.get(episode, 0) for episode in episodes) < SHARED_EVENTS:
        return [list(episodes)]
    tasks: list[list[str]] = []
    load = _TASK_EVENTS
    for episode in episodes:
        if load >= _TASK_EVENTS:
            tasks.append([])
            load = 0
        tasks[-1].append(episode)
        load += events.get(episode, 0) + 1
    return tasks


def _shared(store: SqlEventStore, tasks: Sequence[list[str]], jobs: int) -> Iterator[VerifyResult]:
    url = store.database.url.render_as_string(hide_password=False)
    # Spawned, not forked: a fork would inherit this process's connections and threads.
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(url,))
    try:
        for results in executor.map(_verify, tasks):
            yield from results
    except BrokenProcessPool as error:
        raise StoreError(
            "a process that verified was killed, so nothing is known of the rest: is there memory enough? "
            "`--jobs 1` verifies in one process."
        ) from error
    finally:
        executor.shutdown(cancel_futures=True)


_VERIFIERS: list[Verifier] = []
"""In a process that was started to verify: its own."""


def _begin(url: str) -> None:
    """Make a started process ready; Ctrl-C is its parent's to heed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _VERIFIERS.append(Verifier(open_store(url, read_only=True)))


def _verify(episodes: list[str]) -> list[VerifyResult]:
    return [_VERIFIERS[0].verify(episode) for episode in episodes]
