"""Replay measured: episodes that a protocol can run again, with the observations of ../shared/bench's corpus.

`corpus` records SpecAgent on an environment that gives back a source episode's tool observations one after the other,
a review at least every six reads; its questions (model calls and acts) are also put to vcrpy as HTTP requests with the
same answers: `bare` as m4_lg has them (an address of its own each, an empty body, which is the least work that vcrpy
can have), `whole` as an agent sends them (one address for the model, the whole prompt in the body).
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from spectrace.core.events import ActCompleted, ActRequested, Event, GenerateCompleted, GenerateRequested
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Finish
from spectrace.environments.functions import FunctionEnvironment, Task, tool
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live import record
from spectrace.runs.replay import replay_episode
from spectrace.store.event_store import EventStore
from spectrace.store.sql import SqlEventStore, open_store
from spectrace.testing import accept
from tests.benchmarks import peers
from tests.benchmarks.ours import clock
from tests.benchmarks.rounds import Run, progress
from tests.benchmarks.sources import Source
from tests.episodes import record_shop

INSTRUCTIONS = "You work through a list of steps, each once and in order. Nothing else is allowed. " * 25
"""2,000 characters: a short policy, without which prompts would be shorter than any agent's."""
VCR = peers.Peer("vcrpy", "vcr", ("vcrpy", "requests"), str(Path(__file__).with_name("vcr_peer.py")), "")
Questions = list[tuple[str, str, str]]
"""(address, body, answer) of every question of an episode."""


@tool(effect="read")
def step(state: Sequence[str], number: int) -> str:
    """Do a step of the list."""
    return state[number]


def corpus(store: EventStore, sources: Sequence[Source]) -> list[str]:
    """Record an episode for each source episode; return their ids."""
    return [asyncio.run(_recorded(store, _observations(source))) for source in sources]


def _observations(source: Source) -> list[str]:
    return [json.dumps(payload) for type_, payload in source if type_ == "tool_observation"]


async def _recorded(store: EventStore, observations: Sequence[str]) -> str:
    environment = FunctionEnvironment.from_functions(
        "corpus", [step], INSTRUCTIONS, reset=lambda: observations, tasks=[Task("all", "Do every step.")]
    )
    drafts = [Call("step", json.dumps({"number": number})) for number in range(len(observations))]
    models = {"weak": ScriptedModel(*drafts, Finish("All is done.")), "strong": ScriptedModel(lambda _: accept())}
    return (await record(environment.tasks()[0], environment, models, SpecAgent(), store)).episode


def shop(database: Path, count: int) -> None:
    """Record so many shop episodes: a rejected write with its repair, an accepted write, a final answer each."""
    store = open_store(str(database))
    try:
        for number in range(count):
            asyncio.run(record_shop(store))
            if number % 100 == 99:
                progress(f"{number + 1} of {count} shop episodes recorded")
    finally:
        store.close()


def questions(events: Sequence[Event]) -> Questions:
    """Return an episode's questions as an agent would send them over HTTP, with their answers."""
    answers: dict[int, str] = {}
    for event in events:
        match event.body:
            case GenerateCompleted(request=request, message=message):
                answers[request] = message.content
            case ActCompleted(request=request, observation=observation):
                answers[request] = observation.content
            case _:
                pass
    return [(*_sent(event.body), answers[event.seq]) for event in events if event.seq in answers]


def _sent(body: object) -> tuple[str, str]:
    match body:
        case GenerateRequested(who=who, messages=messages, response_schema=schema):
            prompt = [{"role": one.role, "content": one.content} for one in messages]
            return "/v1/chat/completions", json.dumps({"model": who, "messages": prompt, "response_format": schema})
        case ActRequested(tool=name, action=Call(arguments=arguments)):
            return f"/tools/{name}", arguments
        case _:
            return "/finish", "{}"


def bare(asked: Questions, number: int) -> Questions:
    """Return the same questions without what they ask: an address of its own each."""
    return [(f"/{number}/{at}", "{}", answer) for at, (_, _, answer) in enumerate(asked)]


def replay(database: Path, episodes: Sequence[str], asked: int) -> Run:
    """Replay episodes as `spectrace replay` does, reading included; `n` counts questions."""

    def once(store: SqlEventStore) -> None:
        loop = asyncio.new_event_loop()
        try:
            for episode in episodes:
                result = loop.run_until_complete(replay_episode(list(store.read(episode))))
                if result.result != "same":
                    raise ValueError(result.detail)
        finally:
            loop.close()

    return _reading(database, once, asked)


def fetch(database: Path, episodes: Sequence[str], asked: int) -> Run:
    """Fetch and parse what a replay needs: typed events with every text and prompt."""
    return _reading(database, lambda store: [list(store.read(episode)) for episode in episodes], asked)


def fetch_json(database: Path, episodes: Sequence[str], asked: int) -> Run:
    """Fetch and parse the bodies as JSON alone: no texts outside them, no prompts, no types."""
    return _reading(database, lambda store: [list(store.log.parsed(episode)) for episode in episodes], asked)


def _reading(database: Path, read: Callable[[SqlEventStore], object], asked: int) -> Run:
    def run() -> dict[str, object]:
        begun = clock()
        store = open_store(str(database), read_only=True)
        try:
            read(store)
        finally:
            store.close()
        return {"n": asked, "t": clock() - begun}

    return run


def vcr(at: Path, name: str, episodes: Sequence[Questions], serializer: str, missing: dict[str, str]) -> Run:
    """Replay the questions with vcrpy, a process each round whose start does not count; cassettes are made once."""
    folder, file = at / f"{name}-{serializer}", at / f"{name}.json"
    made: list[bool] = []

    def run() -> Mapping[str, Any]:
        if VCR.name in missing:
            return {"n": 1, "t": float("inf")}
        try:
            if not made:
                folder.mkdir()
                file.write_text(json.dumps(episodes), encoding="utf-8")
                _vcr("record", file, folder, serializer)
                made.append(True)
            found: Mapping[str, Any] = json.loads(_vcr("replay", file, folder, serializer))
        except peers.Unavailable as error:
            missing[VCR.name] = str(error)
            return {"n": 1, "t": float("inf")}
        return found

    return run


def _vcr(what: str, questions_: Path, folder: Path, serializer: str) -> str:
    command = [str(peers.python(VCR)), VCR.script, what, str(questions_), str(folder), serializer]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    if told.returncode != 0:
        last = (told.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise peers.Unavailable(f"vcr_peer.py {what} failed ({told.returncode}): {last}")
    return told.stdout


def command_line(database: Path) -> Run:
    """Replay a whole database by the command, its start included; `n` counts episodes."""
    command = [sys.executable, "-m", "spectrace", "replay", "--all", "--db", str(database), "--json"]

    def run() -> dict[str, object]:
        begun = clock()
        told = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds = clock() - begun
        items = json.loads(told.stdout)["items"]
        if {one["result"] for one in items} != {"same"}:
            raise ValueError(next(one for one in items if one["result"] != "same"))
        return {"n": len(items), "t": seconds, "events": sum(one["compared"] for one in items)}

    return run


def counted(store: EventStore, episodes: Sequence[str]) -> Iterator[Questions]:
    """Yield the questions of each episode."""
    for episode in episodes:
        yield questions(list(store.read(episode)))
