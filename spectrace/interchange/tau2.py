"""Result files of τ²-bench, in: every simulation becomes one recorded one-model episode, protocol `imported`.

All that a file says is kept: what no event field holds lies in `origin.extra`, number for number. What it does not say
is named in `origin.losses`.
"""

from pathlib import Path

from spectrace.interchange.imported import (
    Filing,
    Imported,
    Progress,
    episode_id,
    import_each,
    require_filed,
    there_already,
    write_episode,
)
from spectrace.interchange.tau2_events import transcribe
from spectrace.interchange.tau2_file import ResultFile, Simulation, read_result_file
from spectrace.interchange.tau2_fit import unfit
from spectrace.interchange.tau2_messages import read_messages
from spectrace.interchange.tau2_started import always_lost, scene_of, started
from spectrace.redaction.redactor import Redactor
from spectrace.store.begun import Arrivals
from spectrace.store.event_store import EventStore

FORMAT = "tau2"


def import_file(  # noqa: PLR0913 - a file, where it goes and how
    path: Path | str,
    store: EventStore,
    *,
    project: str = "default",
    run: str | None = None,
    progress: Progress | None = None,
    redactor: Redactor | None = None,
) -> list[Imported]:
    """Record every simulation of a result file; raise UsageError, before anything is recorded, for another file."""
    file = read_result_file(Path(path))
    require_filed(redactor, project, run, (one.task or "" for one in file.simulations))

    def one(entry: tuple[Simulation, str | None], record: Arrivals | None) -> Imported:
        simulation, reason = entry
        return _import(file, simulation, store, Filing(project, run, reason, redactor=redactor), record)

    return import_each(
        store, file.name, file.digest, list(zip(file.simulations, unfit(file), strict=True)), one, progress
    )


def _import(
    file: ResultFile, simulation: Simulation, store: EventStore, filing: Filing, record: Arrivals | None
) -> Imported:
    episode, task = episode_id(FORMAT, file.digest, simulation.entry), simulation.task or ""
    there = there_already(store, episode, simulation.entry, file.name)
    if there is not None:
        return Imported(episode, (), task, filing.unfit, there)
    lost = always_lost(file, simulation)
    messages = read_messages(simulation.parts["messages"], lost)
    script = transcribe(scene_of(file, simulation, episode, messages, lost), messages, lost)
    first = started(file, simulation, script, filing)
    write_episode(store, episode, first, script.pending, record, filing.redactor)
    return Imported(episode, tuple(sorted(lost)), task, filing.unfit)
