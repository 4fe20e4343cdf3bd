"""Plays a script through the real driver into a real store, and reads it back."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass

from spectrace.core.events import Body, Event
from spectrace.core.fold import Episode, fold
from spectrace.core.prompts import Prompts
from spectrace.core.types import EnvironmentFacts
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live import EpisodeProtocol, Recorded, record
from spectrace.runs.sources import Limits
from spectrace.store.event_store import EventStore
from spectrace.store.memory import MemoryEventStore
from tests.properties.scripts import Script
from tests.properties.stage import Stage
from tests.properties.watched_store import WatchedStore
from tests.properties.world import PATIENCE_S, TASK, World

SHOWN = 120
"""Characters of an observation that the prompts show."""


@dataclass(frozen=True)
class Played:
    """An episode as everybody saw it."""

    script: Script
    options: dict[str, object]
    """Every option of the protocol, those by default included."""
    world: World
    recorded: Recorded | None
    """None where it was cancelled."""
    events: list[Event]
    episode: Episode
    store: EventStore

    def all(self, kind: type) -> list[Event]:
        """Return the events of one kind, in order."""
        return [event for event in self.events if isinstance(event.body, kind)]


def play(
    script: Script,
    protocol: Callable[..., EpisodeProtocol],
    options: dict[str, object],
    store: EventStore | None = None,
    cancelled_at: int | None = None,
) -> Played:
    """Record one episode live, and read it back; `cancelled_at`: somebody stops it when that event is written."""
    chosen = protocol(**options)
    watched = WatchedStore(store or MemoryEventStore())
    facts = EnvironmentFacts("world", "tests", "1", replies=script.replies, finish=script.finish)
    world = World(script.moods, script.objections, facts, script.fingerprints, script.has_user, lambda: watched.flushed)
    stage = Stage(script, world)
    styles = ["native" if native else "json" for native in script.native]
    clients = {
        "weak": ScriptedModel(stage.weak, name="weak", calls=styles[0]),
        "strong": ScriptedModel(stage.strong, name="strong", calls=styles[1]),
        "user": ScriptedModel(stage.user, name="user"),
    }

    async def run() -> Recorded:
        task = asyncio.current_task()

        def watch(episode: str, seq: int, body: Body) -> None:
            stage.watch(episode, seq, body)
            if seq == cancelled_at and task is not None:
                task.cancel()

        prompts, limits = Prompts(observation_limit=SHOWN), Limits(act_s=PATIENCE_S)
        return await record(TASK, world, clients, chosen, watched, prompts=prompts, limits=limits, watch=watch)

    recorded = None
    with suppress(asyncio.CancelledError):
        recorded = asyncio.run(run())
    events = list(watched.inner.read(watched.episode))
    return Played(script, asdict(chosen), world, recorded, events, fold(events), watched.inner)
