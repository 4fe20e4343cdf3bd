"""Forks of scripted episodes, in memory."""

import asyncio
from collections.abc import Sequence

from spectrace.core.events import Event, GenerateCompleted
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Action, Finish
from spectrace.environments.environment import Environment
from spectrace.environments.shop import open_shop
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.fork import fork_episode
from spectrace.runs.live import EpisodeProtocol, record
from spectrace.runs.replay import replay_episode
from spectrace.store.memory import MemoryEventStore
from tests.desk import at, open_desk
from tests.playbook import accept

Script = Sequence[Action | str]
CHANGE_A: Script = (at("change"), Finish("x"))
ACCEPT_BOTH: Script = (accept(), accept())


def first(events: Sequence[Event], kind: type, number: int = 0) -> int:
    """Return the event number of the first body of a kind, or of a later one."""
    return [event.seq for event in events if isinstance(event.body, kind)][number]


def fork(events: Sequence[Event], seq: int, environment: Environment | None = None, **how: object) -> list[Event]:
    """Fork an episode; its models go on with what is given as weak=, strong=, user=. Return the child's events."""
    store = MemoryEventStore()
    scripts = {role: how.pop(role, ()) for role in ("weak", "strong", "user") if role != "user" or role in how}
    clients = {role: ScriptedModel(list(replies)) for role, replies in scripts.items()}
    child = asyncio.run(fork_episode(events, seq, environment or open_shop(), clients, store, **how))
    return list(store.read(child.episode))


def replayed(events: Sequence[Event]) -> str:
    """Return what a replay from the record says."""
    return asyncio.run(replay_episode(events)).result


def sources(events: Sequence[Event]) -> list[str]:
    """Return where each model's answer came from."""
    return [event.body.source for event in events if isinstance(event.body, GenerateCompleted)]


def desk_events(
    protocol: EpisodeProtocol | None = None, weak: Script = CHANGE_A, strong: Script = ACCEPT_BOTH
) -> list[Event]:
    """Record an episode at the desk; by default one write, accepted, and the final answer."""
    return recorded_in(open_desk([]), protocol or SpecAgent(), weak=weak, strong=strong)


def recorded_in(environment: Environment, protocol: EpisodeProtocol, **scripts: Script) -> list[Event]:
    """Record the environment's first task with models that say these things."""
    store = MemoryEventStore()
    clients = {role: ScriptedModel(list(replies)) for role, replies in scripts.items()}
    made = asyncio.run(record(environment.tasks()[0], environment, clients, protocol, store))
    return list(store.read(made.episode))
