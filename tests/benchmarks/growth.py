"""A long episode whose calls each repeat the whole history: memory while recording, bytes on disk, opening at its end.

    python -m tests.benchmarks.growth MODE STEPS [DATABASE]

`hold` makes the messages and keeps them, as the caller of a recorder does; `record` records them too; `open` reads the
last events. Each prints one line of JSON about its own process; what `record` peaks at above `hold` is spectrace's.
"""

import asyncio
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from spectrace.core.events import (
    ActCompleted,
    ActRequested,
    Body,
    GenerateCompleted,
    GenerateRequested,
    StepDrafted,
    VerdictGiven,
)
from spectrace.core.types import Attempt, Call, Message, Observation, Outcome, ToolCall, Usage
from spectrace.runs.recorder import Recorder
from spectrace.store.sql import open_store
from tests.benchmarks.corpus import EPOCH_US
from tests.benchmarks.machine import peak_kilobytes
from tests.benchmarks.mapping import started
from tests.benchmarks.ours import clock

EPISODE = "a10d600d"
EVENTS_A_STEP = 6
LAST = 50
"""How many events are read when the episode is opened at its end."""


@dataclass(frozen=True, slots=True)
class Grown:
    """What became of an episode of so many events."""

    events: int
    megabytes: float
    """Peak memory above what the caller holds."""
    bytes_each: float
    seconds: float
    open_s: float


def measure(events: int, at: Path) -> Grown:
    """Record an episode of about so many events and open it at its end, each in a process of its own."""
    steps, database = events // EVENTS_A_STEP, at / f"long{events}.db"
    held = _run("hold", steps)
    recorded = _run("record", steps, database)
    opened = _run("open", steps, database)
    return Grown(
        events=recorded["events"],
        megabytes=(recorded["kilobytes"] - held["kilobytes"]) / 1024,
        bytes_each=database.stat().st_size / recorded["events"],
        seconds=recorded["seconds"],
        open_s=opened["seconds"],
    )


def _run(mode: str, steps: int, database: Path | None = None) -> dict[str, float]:
    program = [
        sys.executable,
        "-m",
        "tests.benchmarks.growth",
        mode,
        str(steps),
        *([str(database)] if database else []),
    ]
    told = subprocess.run(program, check=True, capture_output=True, text=True)
    return json.loads(told.stdout)


def steps_of(steps: int) -> Iterator[tuple[Body, ...]]:
    """Yield an episode's steps; every call says all messages so far, and they are the same objects."""
    chance, seq = random.Random(50), 1  # noqa: S311 - words, not secrets
    history = [Message("system", _words(chance, 3000)), Message("user", _words(chance, 200))]
    for number in range(1, steps + 1):
        position, action = f"s{number}.1", Call("get_order", f'{{"order": {number}}}')
        said = Message("assistant", _words(chance, 120), (ToolCall(position, action.tool, action.arguments),))
        seen = _words(chance, 600)
        yield _step(seq, number, position, action, tuple(history), said, seen)
        history += [said, Message("tool", seen, call_id=position)]
        seq += EVENTS_A_STEP


def _words(chance: random.Random, size: int) -> str:
    return "".join(chance.choices("abcdefghijklmnopqrstuvwxyz      ", k=size))


def _step(  # noqa: PLR0913 - a step's parts
    seq: int, number: int, position: str, action: Call, messages: tuple[Message, ...], said: Message, seen: str
) -> tuple[Body, ...]:
    acted = {"effect": "read", "authority": "read", "tool": action.tool, "position": position}
    return (
        GenerateRequested(
            role="drafter",
            who="weak",
            position=position,
            messages=messages,
            tools_digest=None,
            response_schema=None,
            parameters="{}",
        ),
        GenerateCompleted(
            request=seq,
            role="drafter",
            message=said,
            reasoning=None,
            finish_reason="stop",
            model="weak",
            usage=Usage(900, 800, 40),
            latency_us=200_000,
            first_token_us=None,
            attempts=(Attempt(0, 200_000),),
            provider_id=None,
            server=None,
            source="live",
        ),
        StepDrafted(
            effect="read",
            tool=action.tool,
            segment=number,
            index=1,
            position=position,
            action=action,
            request=seq,
        ),
        VerdictGiven(
            outcome="accept",
            segment=number,
            drafted=1,
            accepted=1,
            category=None,
            reason="a right step",
            replacement=None,
            status="ok",
            cause=None,
            raw="{}",
            review=None,
        ),
        ActRequested(**acted, action=action, requestor="agent", idempotency_key=f"{EPISODE}:{position}"),
        ActCompleted(
            **acted,
            outcome="ok",
            request=seq + 4,
            observation=Observation(seen),
            fingerprint_before=None,
            fingerprint_after=None,
            latency_us=1_000,
            source="live",
        ),
    )


def hold(steps: int) -> int:
    """Make the events and keep the messages; return how many events there were."""
    return sum(len(step) for step in steps_of(steps)) + 2


async def record(steps: int, database: str) -> int:
    """Record them, a transaction a step; return how many events there are."""
    store = open_store(database)
    recorder = Recorder(EPISODE, store.create(EPISODE, started(), EPOCH_US))
    for step in steps_of(steps):
        for body in step:
            recorder.write("", body)
        await recorder.settle(durable=False)
    recorder.end(Outcome("completed", "finish"))
    events = store.row(EPISODE).events
    store.close()
    return events


def open_at_end(database: str) -> int:
    """Read the last events with all their texts; return how many there are in all."""
    store = open_store(database, read_only=True)
    events = store.row(EPISODE).events
    last = list(store.read(EPISODE, events - LAST))
    store.close()
    if len(last) != LAST:
        raise ValueError(len(last))
    return events


def main() -> None:
    """Do one thing and say what it took."""
    mode, steps, *rest = sys.argv[1:]
    begun = clock()
    match mode:
        case "hold":
            events = hold(int(steps))
        case "record":
            events = asyncio.run(record(int(steps), rest[0]))
        case _:
            events = open_at_end(rest[0])
    seconds = clock() - begun
    print(json.dumps({"events": events, "seconds": seconds, "kilobytes": peak_kilobytes()}))


if __name__ == "__main__":
    main()
