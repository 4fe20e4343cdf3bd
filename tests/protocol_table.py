"""The table of the five protocols, scripted: two models of the shop that answer whatever they are asked, by rule.

The strong one knows what each of four tasks needs; the weak one follows a plan of its own that skips a look-up, breaks
a rule, refunds too much and goes round in circles. The same pair serves every protocol, because a reply follows from
the request alone: which task it is, what was done so far, and whether it asks for a step, a verdict, a plan or a look
back. Token counts are made up (four characters each), `cached` is the longest prefix that the model has read before.

    clients = models()                              # for record_all(..., clients, ...)
    weak, strong = script_files(directory, "agentcollab")   # for `spectrace run --weak ... --strong ...`
"""

import asyncio
import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from spectrace.core.agentcollab import AgentCollab
from spectrace.core.baselines import StrongOnly, WeakOnly
from spectrace.core.events import GenerateCompleted
from spectrace.core.prompts import written
from spectrace.core.specagent import SpecAgent
from spectrace.core.speculative_actions import SpeculativeActions
from spectrace.core.types import Action, Completion, Finish, Message, ModelRequest, Task, Usage
from spectrace.environments.shop import open_shop
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live import EpisodeProtocol, Recorded, record
from spectrace.store.event_store import EventStore
from spectrace.store.memory import MemoryEventStore
from tests.episodes import call
from tests.playbook import accept, reject

TASKS = ("cancel-own", "cancel-foreign", "refund-small", "voucher-late")

PROTOCOLS: dict[str, EpisodeProtocol] = {
    protocol.NAME: protocol
    for protocol in (WeakOnly(), StrongOnly(), SpecAgent(), SpeculativeActions(guesses=2), AgentCollab(k=3))
}
OPTIONS: dict[str, tuple[str, ...]] = {"speculative-actions": ("guesses=2",), "agentcollab": ("k=3",)}
"""The same, as `-o` takes them."""

REWARDS: dict[str, tuple[str, ...]] = {
    "weak-only": ("1.0", "0.0", "0.0", "0.0"),
    "strong-only": ("1.0", "1.0", "1.0", "1.0"),
    "specagent": ("1.0", "1.0", "1.0", "1.0"),
    "speculative-actions": ("1.0", "1.0", "1.0", "1.0"),
    "agentcollab": ("1.0", "0.0", "0.0", "1.0"),
}
"""What each protocol makes of the tasks, in their order."""

_RIGHT: dict[str, tuple[Action, ...]] = {
    "cancel-own": (
        call("find_customer", name_or_email="Ana Silva"),
        call("get_order", order_id="W200"),
        call("cancel_order", order_id="W200"),
        Finish("W200 is cancelled."),
    ),
    "cancel-foreign": (
        call("find_customer", name_or_email="Ben Okoro"),
        call("get_order", order_id="W203"),
        Finish("W203 is not your order, so I cannot cancel it."),
    ),
    "refund-small": (
        call("find_customer", name_or_email="Carla Meyer"),
        call("get_order", order_id="W204"),
        call("refund_order", order_id="W204", cents=1500),
        Finish("1500 cents are refunded."),
    ),
    "voucher-late": (
        call("find_customer", name_or_email="Ben Okoro"),
        call("get_order", order_id="W208"),
        call("issue_voucher", customer_id="C12", cents=500),
        Finish("Here is a voucher of 500 cents."),
    ),
}
_HASTY: dict[str, tuple[Action, ...]] = {
    "cancel-own": (_RIGHT["cancel-own"][1], _RIGHT["cancel-own"][2], _RIGHT["cancel-own"][3]),
    "cancel-foreign": (_RIGHT["cancel-foreign"][0], call("cancel_order", order_id="W203"), Finish("Cancelled.")),
    "refund-small": (
        *_RIGHT["refund-small"][:2],
        call("refund_order", order_id="W204", cents=3000),
        Finish("3000 cents are refunded."),
    ),
    "voucher-late": (
        *_RIGHT["voucher-late"][:2],
        _RIGHT["voucher-late"][1],
        _RIGHT["voucher-late"][1],
        call("issue_voucher", customer_id="C12", cents=1000),
        _RIGHT["voucher-late"][3],
    ),
}
_NUMBERED = re.compile(r"^(\d+)\. (\{.*\})(?:  \(.*\))?$", re.MULTILINE)


@cache
def tasks() -> tuple[Task, ...]:
    """Return the four tasks."""
    known = {task.id: task for task in open_shop().tasks()}
    return tuple(known[name] for name in TASKS)


def models() -> dict[str, ScriptedModel]:
    """Return the pair, new: their caches are empty."""
    return {"weak": _model("weak", _weak), "strong": _model("strong", _strong)}


async def record_table(store: EventStore, names: Sequence[str] = tuple(PROTOCOLS)) -> dict[tuple[str, str], Recorded]:
    """Record every task under every protocol named; return the episodes by (protocol, task)."""
    recorded = {}
    for name in names:
        for task in tasks():
            recorded[name, task.id] = await record(task, open_shop(), _needed(name, models()), PROTOCOLS[name], store)
    return recorded


def script_files(directory: Path, protocol: str) -> tuple[str, str]:
    """Write what both models say under a protocol as script files; return their names for the command line."""
    store = MemoryEventStore()
    said: dict[str, dict[str, list[object]]] = {"weak": {}, "strong": {}}
    recorded = asyncio.run(record_table(store, [protocol]))
    for task in tasks():
        events = list(store.read(recorded[protocol, task.id].episode))
        asked = {event.seq: event.body.who for event in events if event.type == "generate.requested"}
        for event in events:
            if isinstance(event.body, GenerateCompleted):
                reply = {"content": event.body.message.content, "usage": _counts(event.body.usage)}
                said[asked[event.body.request]].setdefault(task.request, []).append(reply)
    names = []
    for who, by_task in said.items():
        path = directory / f"{protocol}-{who}.json"
        path.write_text(json.dumps({"name": who, "by_task": by_task}))
        names.append(f"scripted:{path}")
    return names[0], names[1]


def _needed(name: str, clients: dict[str, ScriptedModel]) -> dict[str, ScriptedModel]:
    return {role: clients[role] for role in PROTOCOLS[name].MODELS}


def _counts(usage: Usage) -> dict[str, int]:
    return {"input": usage.input, "cached": usage.cached, "output": usage.output}


def _model(name: str, answer) -> ScriptedModel:
    read: list[str] = []

    def reply(request: ModelRequest) -> Completion:
        text, said = "\n".join(f"{message.role}: {message.content}" for message in request.messages), answer(request)
        cached = max((_shared(text, earlier) for earlier in read), default=0)
        read.append(text)
        usage = Usage(len(text) // 4, cached // 4, max(1, len(said) // 4))
        return Completion(Message("assistant", said), None, "stop", name, usage, latency_us=0)

    return ScriptedModel(reply, name=name)


def _shared(one: str, other: str) -> int:
    same = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        same += 1
    return same


def _weak(request: ModelRequest) -> str:
    """Go on with the plan that it has, whatever came of the steps before; see a repetition when asked to look back."""
    task, question = _task(request), request.messages[-1].content
    if question.startswith("LOOK BACK"):
        return _looked_back(question)
    plan = _HASTY[task]
    return written(plan[min(len(_done(request)), len(plan) - 1)])


def _strong(request: ModelRequest) -> str:
    """Do the first thing that is not done yet; accept whatever is needed and has what it needs before it."""
    task, question = _task(request), request.messages[-1].content
    if question.startswith("PLAN"):
        return json.dumps({"plan": "Find the customer, read the order, then do what the policy allows."})
    if question.startswith("LOOK BACK"):
        return _looked_back(question)
    if question.startswith("REVIEW"):
        return _reviewed(task, _done(request), len(_NUMBERED.findall(question)))
    return written(_next(task, _done(request)))


def _task(request: ModelRequest) -> str:
    said = request.messages[1].content
    return next(task.id for task in tasks() if task.request == said)


def _done(request: ModelRequest) -> list[str]:
    return [message.content for message in request.messages if message.role == "assistant"]


def _next(task: str, done: Sequence[str]) -> Action:
    return next((action for action in _RIGHT[task] if written(action) not in done), _RIGHT[task][-1])


def _reviewed(task: str, steps: Sequence[str], count: int) -> str:
    before, drafted = list(steps[:-count]), steps[-count:]
    right = [written(action) for action in _RIGHT[task]]
    for number, step in enumerate(drafted, 1):
        needs = right[: right.index(step)] if step in right else None
        reads = '"tool": "find' in step or '"tool": "get' in step
        if step in before or needs is None or not (reads or set(needs) <= set(before)):
            why = "redundant" if step in before else "premature"
            return reject(number, _next(task, before), why, "that is not what comes next")
        before.append(step)
    return accept()


def _looked_back(question: str) -> str:
    steps = [step for _, step in _NUMBERED.findall(question)]
    again = len(set(steps)) < len(steps)
    return json.dumps({"progress": not again, "reason": "the same again" if again else "something new was found"})
