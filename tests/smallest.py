"""The smallest episodes that there can be (H27), at the desk: nothing done, nothing reviewed, a write first."""

import asyncio

from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Finish
from spectrace.errors import ModelFailed
from spectrace.models.scripted import Scripted, ScriptedModel
from spectrace.runs.live import record
from spectrace.store.event_store import EventStore
from tests.altered import store_all
from tests.desk import at, open_desk
from tests.forks import recorded_in
from tests.playbook import accept

SCRIPTS: dict[str, tuple[SpecAgent, list[Scripted], list[Scripted]]] = {
    "no step": (SpecAgent(), [ModelFailed("unreachable", "nobody is there")], []),
    "unread drafts": (SpecAgent(), ["what?", "who?"], ["what?", "who?"]),
    "only unreviewed reads": (SpecAgent(k=2, max_steps=4), [at("look"), at("look", "B")] * 2, []),
    "a write first": (SpecAgent(), [at("change"), Finish("done")], [accept(), accept()]),
}
"""Name -> protocol, what the weak and the strong model say."""
BEGUN = "only begun"
"""Its process was killed behind event 0."""


def record_smallest(store: EventStore) -> dict[str, str]:
    """Record each of them; return name -> id."""
    made: dict[str, str] = {}
    for name, (protocol, weak, strong) in SCRIPTS.items():
        desk = open_desk([])
        clients = {"weak": ScriptedModel(weak), "strong": ScriptedModel(strong)}
        made[name] = asyncio.run(record(desk.tasks()[0], desk, clients, protocol, store)).episode
    begun = recorded_in(open_desk([]), SpecAgent(), weak=[Finish("done")], strong=[accept()])
    made[BEGUN] = store_all(store, begun[:1])
    return made
