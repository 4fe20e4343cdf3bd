"""How fast the log is written: spectrace's append path beside a bare orjson JSONL writer, in the same run.

The JSONL writer does one thing: every event as one line, one write() a step, no sync; nothing to verify, no index, the
whole prompt again in each call. spectrace hashes, chains, writes each message once, compresses, and commits one
transaction a step. Rounds are interleaved and medians compared, because a shared machine's speed moves: read the
ratio, not the figures. The goal is 0.33 of the JSONL writer's events a second (floor 0.25).
"""

import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from spectrace.core.digest import task_digest, tools_digest
from spectrace.core.events import (
    ActCompleted,
    ActRequested,
    Body,
    EpisodeEnded,
    EpisodeStarted,
    GenerateCompleted,
    GenerateRequested,
    StartedBy,
    StepDrafted,
    Versions,
)
from spectrace.core.types import Call, EnvironmentFacts, Message, Observation, Task, Usage
from spectrace.store.event_store import Pending
from spectrace.store.sql import open_store

EPISODES, STEPS, ROUNDS = 20, 15, 5
WORDS = (
    "order",
    "refund",
    "customer",
    "policy",
    "gate",
    "seat",
    "flight",
    "voucher",
    "return",
    "kettle",
    "lamp",
    "mug",
)
Step = Sequence[Body]
Writer = Callable[[Path], "Measured"]


def text(chance: random.Random, size: int) -> str:
    """Return about `size` bytes of words and numbers."""
    words = ""
    while len(words) < size:
        words += f"{chance.choice(WORDS)} {chance.randrange(10_000)} "
    return words


def started(episode: int) -> EpisodeStarted:
    task = Task(f"t{episode}", "Please mend my order.")
    return EpisodeStarted(
        project="bench",
        labels=(),
        started_by=StartedBy("user", "host"),
        operator=None,
        task=task,
        task_digest=task_digest(task),
        environment=EnvironmentFacts("desk", "bench", "1"),
        instructions="",
        tools=(),
        tools_digest=tools_digest(()),
        protocol="specagent",
        protocol_revision=1,
        options="{}",
        prompts="{}",
        models=(),
        seed=None,
        trial=0,
        run=None,
        versions=Versions("0", "3"),
    )


def steps(seed: int) -> list[Step]:
    """Return the steps of an episode: 5 events each, prompts growing from 8 to about 50 KB."""
    chance = random.Random(seed)  # noqa: S311 - data, not secrets
    messages = [Message("system", text(chance, 8_000)), Message("user", text(chance, 200))]
    made: list[Step] = []
    for index in range(1, STEPS + 1):
        position, seq = f"s1.{index}", 5 * index
        action = Call("get_order", f'{{"order": "W{chance.randrange(1000)}"}}')
        said = Message("assistant", text(chance, 300))
        seen = Observation(text(chance, chance.randrange(1_000, 5_000)))
        acted = {"effect": "read", "authority": "read", "tool": "get_order", "position": position}
        made.append(
            (
                GenerateRequested(
                    role="drafter",
                    who="weak",
                    position=position,
                    messages=tuple(messages),
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
                    usage=Usage(9_000, 8_000, 80),
                    latency_us=900_000,
                    first_token_us=None,
                    attempts=(),
                    provider_id=None,
                    server=None,
                    source="live",
                ),
                StepDrafted(
                    effect="read",
                    tool="get_order",
                    segment=1,
                    index=index,
                    position=position,
                    action=action,
                    request=seq,
                ),
                ActRequested(action=action, requestor="agent", idempotency_key=position, **acted),
                ActCompleted(
                    outcome="ok",
                    request=seq + 3,
                    observation=seen,
                    fingerprint_before=None,
                    fingerprint_after=None,
                    latency_us=100,
                    source="live",
                    **acted,
                ),
            )
        )
        messages += [said, Message("tool", seen.content, call_id=position)]
    return made


EVENTS = [steps(seed) for seed in range(EPISODES)]


@dataclass(frozen=True, slots=True)
class Measured:
    """One round of one writer: time for the steps alone, for whole episodes, and what lies on the disk."""

    steps_s: float
    episodes_s: float
    size: int


def spectrace_log(directory: Path) -> Measured:
    """Append every episode, one commit a step; its first event and its end are flushed, as in a run."""
    store = open_store(str(directory / "log.db"))
    steps_s, begun = 0.0, time.perf_counter()
    for number, episode in enumerate(EVENTS):
        writer, seq = store.create(f"{number:016x}", started(number), 0), 1
        first = time.perf_counter()
        for step in episode:
            writer.append([Pending(seq + at, "", seq, body) for at, body in enumerate(step)], durable=False)
            seq += len(step)
        steps_s += time.perf_counter() - first
        ended = EpisodeEnded(outcome="completed", reason="finished", answer=None, reward=None)
        writer.append([Pending(seq, "", seq, ended)], durable=True)
        writer.close()
    episodes_s = time.perf_counter() - begun
    store.close()
    return Measured(steps_s, episodes_s, sum(file.stat().st_size for file in directory.glob("log.db*")))


def jsonl(directory: Path) -> Measured:
    """Write every event as a line, one write a step."""
    path = directory / "log.jsonl"
    file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    begun = time.perf_counter()
    for number, episode in enumerate(EVENTS):
        seq = 1
        for step in ((started(number),), *episode):
            lines = [
                orjson.dumps({"episode": number, "seq": seq + at, "type": body.TYPE, "body": body})
                for at, body in enumerate(step)
            ]
            os.write(file, b"\n".join(lines) + b"\n")
            seq += len(step)
    whole = time.perf_counter() - begun
    os.close(file)
    return Measured(whole, whole, path.stat().st_size)


def main() -> None:
    """Interleave the rounds and print medians and ratios."""
    writers: tuple[Writer, ...] = (jsonl, spectrace_log)
    found: dict[Writer, list[Measured]] = {write: [] for write in writers}
    for _ in range(ROUNDS + 1):
        for write in writers:
            with tempfile.TemporaryDirectory() as directory:
                found[write].append(write(Path(directory)))
    events = sum(len(step) for episode in EVENTS for step in episode)
    print(f"{events} events in {EPISODES} episodes, an append a step of 5, medians of {ROUNDS} interleaved rounds")
    report("steps, events/s", found, lambda one: events / one.steps_s)
    report("episodes, events/s", found, lambda one: events / one.episodes_s)
    report("size, MB", found, lambda one: one.size / 1e6)


def report(title: str, found: dict[Writer, list[Measured]], value: Callable[[Measured], float]) -> None:
    """Print one line: both medians, the warming first round left out, and spectrace's ratio to JSONL."""
    ours, bare = (statistics.median(value(one) for one in found[write][1:]) for write in (spectrace_log, jsonl))
    print(f"  {title:20}spectrace {ours:10,.1f}   orjson JSONL {bare:10,.1f}   ratio {ours / bare:.2f}")


if __name__ == "__main__":
    main()
