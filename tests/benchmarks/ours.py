"""spectrace's own cases of the append path: the call that `spectrace run` makes, and what it is made of.

Every round records fresh objects (a text keeps its hash, so the second round over the same ones would be too good).
Rates are in *source* events (see `corpus`), so that they compare with a writer of one line each; `own` counts
spectrace's. A step is one transaction. Creating and ending an episode are flushed, by design, and so told apart.
"""

import asyncio
import pickle
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from spectrace.core.events import ActCompleted, GenerateCompleted
from spectrace.core.types import Outcome
from spectrace.redaction.redactor import Redactor
from spectrace.redaction.secret_key import SecretKey
from spectrace.redaction.values import redacted
from spectrace.runs.recorder import Recorder
from spectrace.store import rows
from spectrace.store.event_store import Pending
from spectrace.store.sql import SqlEventStore, open_store
from tests.benchmarks.corpus import EPOCH_US, Episode, Source, mapped
from tests.benchmarks.rounds import Run, folder, size

clock = time.perf_counter


def fresh(sources: Sequence[Source]) -> list[Episode]:
    """Return the episodes as objects that nobody has hashed or encoded yet."""
    return mapped(pickle.loads(pickle.dumps(sources)))  # noqa: S301 - copied within this process


_ANSWERS = (GenerateCompleted, ActCompleted)
"""What is redacted: the rest is made of it."""


def recorder(sources: Sequence[Source], *, durable: bool = False, redacting: bool = False) -> Run:
    """Record whole episodes by Recorder.write and settle, as a run does; with `redacting`, its answers redacted."""

    def run() -> dict[str, object]:
        episodes = fresh(sources)
        with folder() as at:
            store = open_store(str(at / "log.db"))
            begun = clock()
            redactor = Redactor(SecretKey.ephemeral()) if redacting else None
            latencies = asyncio.run(_recorded(store, episodes, redactor, durable=durable))
            whole = clock() - begun
            store.close()
            return _found(episodes, latencies, whole, at / "log.db")

    return run


async def _recorded(
    store: SqlEventStore, episodes: Sequence[Episode], redactor: Redactor | None, *, durable: bool
) -> list[float]:
    latencies = []
    for episode in episodes:
        own = None if redactor is None else redactor.fresh()
        writer = Recorder(episode.id, store.create(episode.id, episode.started, EPOCH_US))
        for step in episode.steps:
            begun = clock()
            for body in step:
                writer.write("", redacted(own, body) if isinstance(body, _ANSWERS) else body)
            await writer.settle(durable=durable)
            latencies.append(clock() - begun)
        writer.end(Outcome(episode.ended.outcome, episode.ended.reason, reward=episode.ended.reward))
    return latencies


def appending(sources: Sequence[Source], *, durable: bool = False) -> Run:
    """Record whole episodes by SqlWriter.append alone, the bulk API; no thread is changed."""

    def run() -> dict[str, object]:
        episodes = fresh(sources)
        batches = [list(episode.pending()) for episode in episodes]
        with folder() as at:
            store = open_store(str(at / "log.db"))
            latencies, begun = [], clock()
            for episode, steps in zip(episodes, batches, strict=True):
                latencies += appended(store, episode, steps, durable=durable)
            whole = clock() - begun
            store.close()
            return _found(episodes, latencies, whole, at / "log.db")

    return run


def encoding_and_sql(sources: Sequence[Source]) -> Run:
    """Append as `appending` does, the schema check left out: what remains is encoding and SQL."""
    run = appending(sources)

    def unchecked() -> Mapping[str, object]:
        checked = rows.check
        rows.check = lambda *_: None
        try:
            return run()
        finally:
            rows.check = checked

    return unchecked


def appended(
    store: SqlEventStore, episode: Episode, batches: Sequence[Sequence[Pending]], *, durable: bool = False
) -> list[float]:
    """Write one episode, an append a step; return the seconds of each."""
    writer, latencies = store.create(episode.id, episode.started, EPOCH_US), []
    for batch in batches[:-1]:
        begun = clock()
        writer.append(batch, durable=durable)
        latencies.append(clock() - begun)
    writer.append(batches[-1], durable=True)
    writer.close()
    return latencies


def _found(episodes: Sequence[Episode], latencies: list[float], whole: float, database: Path) -> dict[str, object]:
    in_steps = sum(episode.source_events - 2 for episode in episodes)
    return {
        "n": in_steps,
        "t": sum(latencies),
        "lat": latencies,
        "own": sum(episode.events - 2 for episode in episodes) / sum(latencies),
        "whole": sum(episode.source_events for episode in episodes) / whole,
        "bytes": size(database) / len(episodes),
    }


def written(sources: Sequence[Source], at: Path, prefix: str = "") -> Iterator[str]:
    """Record episodes into a database file; yield their ids."""
    store = open_store(str(at))
    try:
        for episode in mapped(sources, prefix):
            appended(store, episode, list(episode.pending()))
            yield episode.id
    finally:
        store.close()
