"""Recorded episodes for tests: the shop, scripted models, a log in memory."""

import asyncio
import json

from spectrace.core.events import Event
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Action, Call, Finish
from spectrace.environments.shop import open_shop
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live import Labels, Recorded, record
from spectrace.store.event_store import EventStore
from spectrace.store.memory import MemoryEventStore
from tests.playbook import accept, reject


def call(tool: str, **arguments: object) -> Call:
    return Call(tool, json.dumps(arguments))


FIND = call("find_customer", name_or_email="Ana Silva")
READ = call("get_order", order_id="W200")
CANCEL = call("cancel_order", order_id="W200")
DONE = Finish("W200 is cancelled.")

WEAK: list[Action | str] = [CANCEL, READ, CANCEL, DONE]
STRONG: list[Action | str] = [reject(1, FIND, reason="find the customer first"), accept(), accept()]
"""One rejected write with a fused repair, one accepted write, one accepted final answer."""


async def record_shop(  # noqa: PLR0913 - an episode's parts, by name
    store: EventStore,
    *,
    weak: list | None = None,
    strong: list | None = None,
    protocol: object = None,
    task: str = "cancel-own",
    labels: Labels | None = None,
    watch: object = None,
) -> Recorded:
    """Record one episode of the shop with scripted models."""
    environment = open_shop()
    chosen = next(item for item in environment.tasks() if item.id == task)
    clients = {"weak": ScriptedModel(weak or WEAK), "strong": ScriptedModel(strong or STRONG)}
    return await record(chosen, environment, clients, protocol or SpecAgent(), store, labels=labels, watch=watch)


def recorded_events(**of_record: object) -> list[Event]:
    """Record one episode in memory and return its events."""
    store = MemoryEventStore()
    recorded = asyncio.run(record_shop(store, **of_record))
    return list(store.read(recorded.episode))
