"""Logs to look at: the shop's scripted episodes, and texts that would rather be markup than text."""

import asyncio
import json
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from spectrace.core.baselines import WeakOnly
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Finish, Task
from spectrace.environments.functions import FunctionEnvironment, tool
from spectrace.models.scripted import Scripted, ScriptedModel
from spectrace.runs.live import Labels, Recorded, record
from spectrace.store.event_store import EventStore
from spectrace.store.sql import open_store
from tests.episodes import CANCEL, DONE, FIND, READ, record_shop

HOSTILE = {
    "script": "<script>document.title='XSS'</script>",
    "image": "<img src=http://198.51.100.7/p.png onerror=\"document.title='XSS'\"> **bold**",
    "svg": "<svg/onload=document.title=1>",
    "tool": 'find_member"><b>x',
    "title": "</title><script>1</script>",
    "link": "[click](javascript:document.title=1)",
    "markdown_image": "![pixel](http://198.51.100.7/m.png)",
    "table": "a|b\n-|-\n<i>1</i>|2",
    "math": "costs $5 and $6 today",
    "dollars": "$$\\href{javascript:1}{x}$$",
    "heading": "# not a heading of the page",
    "directive": ":red[x] :material/home: :smile: www.example.com",
    "bidi": "abc\u202edef\u2066\x1b[31m",
}
EVERYTHING = "\n".join(HOSTILE.values())


def _done(recording: Coroutine[None, None, Recorded]) -> Recorded:
    """Run a recording in a thread of its own: in this one a browser's event loop may be running."""
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(asyncio.run, recording).result()


def shop_log(path: Path) -> dict[str, str]:
    """Record three shop episodes; return their ids by name: rejected, alone, broken."""
    store = open_store(str(path))
    try:
        rejected = _done(record_shop(store, labels=Labels(run="nightly", trial=1)))
        alone = _done(record_shop(store, weak=[FIND, READ, CANCEL, DONE], protocol=WeakOnly()))
        broken = _done(record_shop(store, weak=[READ, CANCEL], strong=["nonsense"] * 9))
    finally:
        store.close()
    return {"rejected": rejected.episode, "alone": alone.episode, "broken": broken.episode}


@tool(effect="read")
def look(state: dict[str, str], what: str) -> str:
    """Look something up."""
    return state["says"] if what else ""


@tool(effect="write")
def change(state: dict[str, str], what: str) -> str:
    """Change something."""
    return f"{state['says']} {what}"


def record_saying(
    store: EventStore, says: str, weak: Sequence[Scripted], strong: Sequence[Scripted], id_: str = "t"
) -> str:
    """Record an episode in an environment whose tools answer with `says`; return its id."""
    environment = FunctionEnvironment.from_functions(
        "echo",
        [look, change],
        says[:2_000],
        reset=lambda task, seed: {"says": says},
    )
    clients = {"weak": ScriptedModel(weak, name=says[:200]), "strong": ScriptedModel(strong)}
    labels = Labels(run=says[:200], project=says[:200])
    task = Task(id_, says[:2_000])
    return _done(record(task, environment, clients, SpecAgent(k=6), store, labels=labels)).episode


def hostile_log(path: Path) -> str:
    """Record an episode in which every text that somebody else wrote is hostile; return its id."""
    weak: list[Scripted] = [
        Call("look", json.dumps({"what": EVERYTHING})),
        Call(HOSTILE["tool"], json.dumps({"what": EVERYTHING})),
        Call("change", json.dumps({"what": EVERYTHING})),
        Finish(EVERYTHING),
    ]
    replacement = {"tool": "change", "arguments": {"what": HOSTILE["image"]}}
    rejection = {"verdict": "reject", "first_wrong": 3, "category": "unsafe", "reason": EVERYTHING}
    strong: list[Scripted] = [json.dumps({**rejection, "replacement": replacement}), '{"verdict": "accept"}']
    store = open_store(str(path))
    try:
        return record_saying(store, EVERYTHING, weak, strong, id_=HOSTILE["title"])
    finally:
        store.close()


def long_log(path: Path, says: str, calls: int) -> str:
    """Record an episode of that many reads, each answered with `says` (told apart by its argument)."""
    weak: list[Scripted] = [*(Call("look", json.dumps({"what": f"{n}"})) for n in range(calls)), Finish("done")]
    store = open_store(str(path))
    try:
        environment = FunctionEnvironment.from_functions(
            "echo",
            [look],
            "Look.",
            reset=lambda task, seed: {"says": says},
        )
        protocol = WeakOnly(max_steps=calls + 10)
        recorded = record(Task("long", "Look a lot."), environment, {"weak": ScriptedModel(weak)}, protocol, store)
        return _done(recorded).episode
    finally:
        store.close()
