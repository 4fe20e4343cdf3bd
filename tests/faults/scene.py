"""The episode that is killed: an order desk, scripted models, three reviewed writes, one of them with a big payload.

The desk counts what it really executes, in a file that outlives the process: one line a write, flushed before the write
is done, so that a line may be there for a write that was never finished, and no write without its line.
"""

import asyncio
import json
import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path

from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Action, Call, Finish
from spectrace.environments.shop import open_shop
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live import record
from spectrace.store.event_store import EventStore
from tests.playbook import accept, reject

ADDRESS = random.Random(86).randbytes(30_000).hex()  # noqa: S311 - a payload that does not compress


def call(tool: str, **arguments: object) -> Call:
    return Call(tool, json.dumps(arguments))


CANCEL = call("cancel_order", order_id="W200")
VOUCHER = call("issue_voucher", customer_id="C12", cents=500)
MOVE = call("change_address", order_id="W203", address=ADDRESS)
ALL_DONE = [action.tool for action in (CANCEL, VOUCHER, MOVE)]
"""The tools of the writes, in the order in which they are done."""

WEAK: list[Action | str] = [
    CANCEL,
    call("get_order", order_id="W200"),
    CANCEL,
    VOUCHER,
    call("search_products", text="mug"),
    MOVE,
    Finish("All done."),
]
STRONG: list[Action | str] = [
    reject(1, call("find_customer", name_or_email="Ana Silva"), reason="find the customer first"),
    *[accept()] * 4,
]

Before = Callable[[str], None]
"""Told of each write that is about to be done, and done: `before TOOL`, `after TOOL`."""


class CountingDesk:
    """The shop, with a line in `path` for every write that it executes."""

    def __init__(self, path: Path | str, moment: Before = lambda _: None) -> None:
        self._desk = open_shop()
        self._path = path
        self._moment = moment
        self._writes = {spec.name for spec in self._desk.tools() if spec.effect == "write"}

    def __getattr__(self, name: str) -> object:
        return getattr(self._desk, name)

    async def act(self, action: Action, requestor: str = "agent") -> object:
        if not isinstance(action, Call) or action.tool not in self._writes:
            return await self._desk.act(action, requestor)
        self._moment(f"before {action.tool}")
        note(self._path, action.tool)
        observation = await self._desk.act(action, requestor)
        self._moment(f"after {action.tool}")
        return observation


def note(path: Path | str, line: str) -> None:
    """Append a line that is on the disk when this returns."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, f"{line}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def executed(path: Path | str) -> list[str]:
    """Return the tools of the writes that were really done, in order."""
    try:
        return Path(path).read_text().split()
    except FileNotFoundError:
        return []


def play(  # noqa: PLR0913 - an episode's parts, by name
    store: EventStore,
    desk: CountingDesk,
    *,
    watch: object = None,
    weak: Sequence[Action | str] = WEAK,
    strong: Sequence[Action | str] = STRONG,
    labels: object = None,
) -> object:
    """Record the episode."""
    task = next(item for item in desk.tasks() if item.id == "cancel-own")
    clients = {"weak": ScriptedModel(list(weak)), "strong": ScriptedModel(list(strong))}
    return asyncio.run(record(task, desk, clients, SpecAgent(), store, watch=watch, labels=labels))
