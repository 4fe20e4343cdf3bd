"""The benchmark's episodes: source events of ../shared/bench's generator -> spectrace's typed events. See `sources`.

The source has six event types, spectrace asks and answers: a `model_call` is a generate.requested and a
generate.completed, a `drafted_step` a step.drafted, a `verdict` a verdict.given, a `tool_observation` an act.requested
and an act.completed. Nothing is left out: what has no field of its own travels as JSON text in `server` and `raw`.
A message is the same Python object from call to call, as in a real run, which finds out by identity what is new.
Each drafted step is a segment of its own; a step of the log is the events from one model call to the next, exactly as
the prototype's `proto.steps()` groups them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from spectrace.core.events import Body, EpisodeEnded, EpisodeStarted
from spectrace.store.event_store import Pending
from tests.benchmarks.mapping import Mapping

EPOCH_US = 1_700_000_000_000_000
Source = Sequence[tuple[str, dict[str, Any]]]
"""One episode as the generator gives it: (type, payload) each."""


@dataclass(frozen=True, slots=True)
class Episode:
    """One episode in spectrace's own words. Event 0 is `started`, then the steps in order, then `ended`."""

    id: str
    started: EpisodeStarted
    steps: tuple[tuple[Body, ...], ...]
    ended: EpisodeEnded
    source: Source

    @property
    def events(self) -> int:
        """How many events spectrace writes for it."""
        return 2 + sum(len(step) for step in self.steps)

    @property
    def source_events(self) -> int:
        """How many events the source has, and the JSONL writer writes."""
        return len(self.source)

    def pending(self) -> Iterator[list[Pending]]:
        """Yield each step, and last the end, as events on their way into a log."""
        seq = 1
        for step in (*self.steps, (self.ended,)):
            yield [Pending(seq + at, "", EPOCH_US + 1_000 * (seq + at), body) for at, body in enumerate(step)]
            seq += len(step)


def mapped(sources: Iterable[Source], prefix: str = "") -> list[Episode]:
    """Return the episodes in spectrace's events; ids count up behind the prefix."""
    return [episode_of(source, f"{prefix}{number:0{16 - len(prefix)}x}") for number, source in enumerate(sources)]


def episode_of(source: Source, id_: str) -> Episode:
    """Return one episode in spectrace's events."""
    mapping = Mapping(id_)
    for type_, payload in source:
        mapping.event(type_, payload)
    if mapping.started is None or mapping.ended is None:
        msg = "a source episode begins with episode_started and ends with episode_finished"
        raise ValueError(msg)
    return Episode(id_, mapping.started, tuple(map(tuple, mapping.steps)), mapping.ended, source)
