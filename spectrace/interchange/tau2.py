"""Result files of τ²-bench, in: every simulation becomes one recorded one-model episode, protocol `imported`.

All that a file says is kept: what no event field holds lies in `origin.extra`, number for number. What it does not say
is named in `origin.losses`. An episode's id is made from the file's digest and the entry, so that the same entry of
the same file is found again by one look-up and never recorded twice.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from spectrace.errors import EpisodeNotFound
from spectrace.interchange.tau2_events import transcribe
from spectrace.interchange.tau2_file import ResultFile, Simulation, read_result_file
from spectrace.interchange.tau2_fit import unfit
from spectrace.interchange.tau2_messages import read_messages
from spectrace.interchange.tau2_started import Filing, always_lost, scene_of, started
from spectrace.store.begun import Arrivals, arrivals
from spectrace.store.event_store import EpisodeRow, EventStore
from spectrace.store.sql import SqlEventStore
from spectrace.store.transfer import STORED, Arrival

Progress = Callable[[int, int], None]
"""Told after each entry: how many are done, of how many."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of one entry."""

    episode: str
    losses: tuple[str, ...]
    task: str = ""
    unfit: str | None = None
    skipped: str | None = None
    """Why nothing was recorded: the episode is there already."""


def import_file(
    path: Path | str,
    store: EventStore,
    *,
    project: str = "default",
    run: str | None = None,
    progress: Progress | None = None,
) -> list[Imported]:
    """Record every simulation of a result file; raise UsageError, before anything is recorded, for another file."""
    file = read_result_file(Path(path))
    found = []
    record = None
    if isinstance(store, SqlEventStore):
        record = arrivals(store, "imported", file.name, len(file.simulations), digest=file.digest)
    for number, (simulation, reason) in enumerate(zip(file.simulations, unfit(file), strict=True), 1):
        found.append(_import(file, simulation, store, Filing(project, run, reason), record))
        if progress is not None:
            progress(number, len(file.simulations))
    if record is not None:
        record.end()
    return found


def episode_id(file_digest: str, entry: str) -> str:
    """Return the id of an entry's episode: as long as one drawn at random, and the same every time."""
    return hashlib.sha256(f"tau2\n{file_digest}\n{entry}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _import(
    file: ResultFile, simulation: Simulation, store: EventStore, filing: Filing, record: Arrivals | None
) -> Imported:
    episode, task = episode_id(file.digest, simulation.entry), simulation.task or ""
    row = _row(store, episode)
    begun = row is not None and row.state == "interrupted" and row.events == 1
    if row is not None and not begun:
        there = f"entry {simulation.entry} of {file.name} is here already, as episode {episode} ({_how(row)})"
        return Imported(episode, (), task, filing.unfit, there)
    lost = always_lost(file, simulation)
    messages = read_messages(simulation.parts["messages"], lost)
    script = transcribe(scene_of(file, simulation, episode, messages, lost), messages, lost)
    first = started(file, simulation, script, filing)
    if record is not None:
        record.begin()
    # An import killed between the two left event 0 alone, and this is the very episode that it began.
    writer = store.reopen(episode) if begun else store.create(episode, first, script.scene.began)
    try:
        writer.append(script.pending, durable=True)
    finally:
        writer.close()
    if record is not None:
        now = store.row(episode)
        record.add(Arrival(episode, STORED, now.events, now.head, now.ended_at is not None))
    return Imported(episode, tuple(sorted(lost)), task, filing.unfit)


def _how(row: EpisodeRow) -> str:
    if row.state == "interrupted":
        return f"cut off after {row.events} events"
    return "whole" if row.state == "ended" else "being written now"


def _row(store: EventStore, episode: str) -> EpisodeRow | None:
    try:
        return store.row(episode)
    except EpisodeNotFound:
        return None
