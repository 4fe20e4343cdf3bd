"""Interrupted episodes for tests: a log cut off at an event, and models that go on from there."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence

from spectrace.audit.children import require_untouched
from spectrace.core.events import Event, GenerateCompleted, GenerateFailed, GenerateRequested
from spectrace.core.types import Completion
from spectrace.environments.environment import Environment
from spectrace.errors import ModelFailed
from spectrace.models.scripted import Scripted, ScriptedModel
from spectrace.runs.interrupted import left_by
from spectrace.runs.resume import resume_episode
from spectrace.store.event_store import Pending
from spectrace.store.listing import Listable
from spectrace.store.memory import MemoryEventStore


def cut(store: Listable, events: Sequence[Event], last: int, episode: str | None = None) -> str:
    """Put the episode into a store as a process left it that was killed after event `last`."""
    name = episode or events[0].episode
    writer = store.create(name, events[0].body, events[0].at)
    writer.append([Pending(one.seq, one.lane, one.at, one.body) for one in events[1 : last + 1]], durable=True)
    writer.close()
    return name


def answers(events: Sequence[Event], before: int = 0) -> dict[str, list[Scripted]]:
    """Return what each model answered behind an event: who -> its answers, in order."""
    asked = {event.seq: event.body.who for event in events if isinstance(event.body, GenerateRequested)}
    found: dict[str, list[Scripted]] = {who: [] for who in asked.values()}
    for event in events[before + 1 :]:
        match event.body:
            case GenerateCompleted(request=request) as body:
                said = Completion(body.message, body.reasoning, body.finish_reason, body.model, body.usage)
                found[asked[request]].append(said)
            case GenerateFailed(request=request, kind=kind, error=error):
                found[asked[request]].append(ModelFailed(kind, error))
            case _:
                pass
    return found


def resume(
    store: Listable,
    episode: str,
    environment: Environment,
    scripts: Mapping[str, Sequence[Scripted]],
    *,
    native: Sequence[str] = (),
    **how: object,
) -> list[Event]:
    """Go on with an episode; return the child's events."""
    clients = {
        who: ScriptedModel(list(script), name=who, calls="native" if who in native else "json")
        for who, script in scripts.items()
    }
    left = left_by(list(store.read(episode)))
    require_untouched(store, episode)
    made = asyncio.run(
        resume_episode(left, environment, clients, store, admit=lambda: require_untouched(store, episode), **how)
    )
    return list(store.read(made.episode))


def cuts(events: Sequence[Event]) -> Iterator[tuple[MemoryEventStore, str, int]]:
    """Yield the episode cut off after each of its events, in a store of its own."""
    for last in range(len(events) - 1):
        store = MemoryEventStore()
        yield store, cut(store, events, last), last
