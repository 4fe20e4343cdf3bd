"""Many episodes verified, in several processes where there is enough to hash: each opens the log for itself.

Every event and every blob is hashed once, so this is bound by the processor, and Python runs on one core at a time. A
process takes half a second to start, in which one core verifies tens of thousands of events: fewer are not shared.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from spectrace.audit.helpers import Crew, Episodes, Projections, Texts
from spectrace.audit.integrity import KNOWN_BLOBS, Verifier, VerifyResult
from spectrace.store.listing import Listable
from spectrace.store.sql import SqlEventStore

SHARED_EVENTS = 100_000
"""Below this, one process is done before others have started."""
_TASK_EVENTS = 10_000
"""What a process is given at once: Ctrl-C waits for no more than that, and at the end one core for the others."""

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


def projections_told(
    store: SqlEventStore, runs: Sequence[str], jobs: int | None = None, told: Told | None = None
) -> Iterator[tuple[str, str]]:
    """Yield each run of which lists and ledgers show something else than its events say, and what."""
    events = store.log.sizes()
    tasks = _tasks(runs, events)
    shared = sum(events.get(episode, 0) for episode in runs) >= SHARED_EVENTS // 4  # slower than hashing, by four
    with Crew(store, helpers=min(cores() if jobs is None else jobs, len(tasks)) - 1 if shared else 0) as crew:
        done = 0
        for task, answers in zip(tasks, crew.done([Projections(task) for task in tasks]), strict=True):
            for episode, what in zip(task, cast("list[str | None]", answers), strict=True):
                done += 1
                if told is not None:
                    told(done, len(runs))
                if what is not None:
                    yield episode, what


def _results(store: Listable, episodes: Sequence[str], jobs: int) -> Iterator[VerifyResult]:
    if not isinstance(store, SqlEventStore):
        yield from map(Verifier(store).verify, episodes)
        return
    events = store.log.sizes()
    tasks, asked = _tasks(episodes, events), sum(events.get(episode, 0) for episode in episodes)
    with Crew(store, helpers=min(jobs, len(tasks)) - 1 if asked >= SHARED_EVENTS else 0) as crew:
        if 2 * asked > sum(events.values()):
            # Most of the log: its texts are read once, as they lie, and not by each episode that uses them.
            ranges = [Texts(within) for within in store.log.blob_ranges(KNOWN_BLOBS)]
            crew.know([name for found in crew.done(ranges) for name in cast("list[bytes]", found)])
        for results in crew.done([Episodes(task) for task in tasks]):
            yield from cast("list[VerifyResult]", results)


def _tasks(episodes: Sequence[str], events: Mapping[str, int]) -> list[list[str]]:
    """Cut the episodes into tasks."""
    tasks: list[list[str]] = []
    load = _TASK_EVENTS
    for episode in episodes:
        if load >= _TASK_EVENTS:
            tasks.append([])
            load = 0
        tasks[-1].append(episode)
        load += events.get(episode, 0) + 1
    return tasks
