"""An episode that was played, interrupted after any of its events, and gone on with in the world as it was left."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from spectrace.audit.settling import settle
from spectrace.core.events import ActCompleted, ActFailed, ActionChecked, ActRequested, Event, GenerateRequested
from spectrace.core.fold import fold
from spectrace.core.types import Action, Observation, Task
from spectrace.errors import Unsettled
from spectrace.runs.interrupted import Left, left_by
from spectrace.runs.replay import replay_episode
from spectrace.runs.sources import Limits
from spectrace.store.memory import MemoryEventStore
from tests.properties.played import Played
from tests.properties.world import PATIENCE_S, Called, World
from tests.resumes import answers, cut, resume


@dataclass(slots=True)
class LastingWorld(World):
    """The world of another process, as it stands; whoever takes it up finds what the first one did."""

    attached: int = 0

    async def attach(self, task: Task, seed: int | None, done: Sequence[tuple[Action, Observation]]) -> str | None:
        self.attached += 1
        return self.fingerprint()


def left_behind(played: Played, done: int, checked: int) -> LastingWorld:
    """Return the world after so many of its calls, and of its checks."""
    world, calls = played.world, played.world.calls
    version = calls[done - 1].after if done else 0
    lasting = LastingWorld(world.moods, world.objections, world.facts, world.fingerprints, world.has_user, lambda: 0)
    lasting.version, lasting.checked = version, list(world.checked[:checked])
    for _ in range(done):
        next(lasting._numbers)
    return lasting


@dataclass(frozen=True)
class Resumed:
    """What came of going on."""

    last: int
    """The event after which the episode was interrupted."""
    word: str
    """What was said of the write that was open then; empty where none was."""
    child: list[Event]
    world: LastingWorld
    left: Left


def resumed_everywhere(played: Played, stride: int = 1) -> Iterator[Resumed]:
    """Interrupt the episode after each (or each so many) of its events; settle a write that is open either way."""
    events = played.events
    for last in range(0, len(events) - 1, stride):
        if any(isinstance(one.body, ActFailed) and one.body.outcome == "indeterminate" for one in events[: last + 1]):
            return  # nobody can say what the uninterrupted episode would have made of it: it ended there
        try:
            left_by(events[: last + 1])
        except Unsettled:
            for word in ("never", *_words(events, last)):
                yield _resumed(played, last, word)
        else:
            yield _resumed(played, last, "")


def _open(events: Sequence[Event], last: int) -> Event:
    answered = {one.body.request for one in events[: last + 1] if isinstance(one.body, ActCompleted)}
    return next(
        one
        for one in reversed(events[: last + 1])
        if isinstance(one.body, ActRequested) and one.seq not in answered and one.body.effect != "read"
    )


def _answer(events: Sequence[Event], asked: int) -> Event | None:
    return next((one for one in events if isinstance(one.body, ActCompleted) and one.body.request == asked), None)


def _words(events: Sequence[Event], last: int) -> Iterator[str]:
    """Yield the word that fits what really came of the open write, where a person can say that."""
    answer = _answer(events, _open(events, last).seq)
    if answer is not None and not answer.body.observation.done and answer.body.observation.content:
        yield "error" if answer.body.observation.error else "ok"


def _resumed(played: Played, last: int, word: str) -> Resumed:
    events, store = played.events, MemoryEventStore()
    name = cut(store, events, last)
    ran, skipped = 0, -1
    if word:
        asked = _open(events, last).seq
        answer = _answer(events, asked)
        evidence = "it never ran" if word == "never" else answer.body.observation.content
        settle(store, name, asked, word, evidence=evidence, by="Ann")
        ran, skipped = int(word != "never"), asked if word == "never" else answer.seq
    left = left_by(list(store.read(name)))
    told = {one.seq for one in left.told}
    done = sum(isinstance(one.body, ActCompleted | ActFailed) for one in left.told) + ran
    checked = sum(isinstance(one.body, ActionChecked) for one in left.told)
    world = left_behind(played, done, checked)
    ahead = [one for one in events if one.seq not in told and (word in {"", "never"} or one.seq > skipped)]
    asked_of = [one for one in events if isinstance(one.body, GenerateRequested)]
    scripts = {"weak": [], "strong": [], "user": [], **answers([*asked_of, *_without_questions(ahead)], -1)}
    styles = [who for who, native in zip(("weak", "strong"), played.script.native, strict=True) if native]
    child = resume(store, name, world, scripts, native=styles, limits=Limits(act_s=PATIENCE_S))
    return Resumed(last, word, child, world, left)


def _without_questions(events: Sequence[Event]) -> list[Event]:
    return [one for one in events if not isinstance(one.body, GenerateRequested)]


def wrong_with(played: Played, resumed: Resumed) -> list[str]:
    """Return in what the interrupted episode and the one that goes on are together another one than the whole."""
    whole, child = played.events, resumed.child
    calls, again = played.world.calls, resumed.world.calls
    before = len(calls) - len(again)
    lasting = {
        "outcome": (whole[-1].body, child[-1].body),
        "history": (fold(whole).history, fold(child).history),
        "prompts": (_prompts(whole, resumed), _prompts(child, resumed)),
        "state": (played.world.version, resumed.world.version),
        "calls": (_actions(calls[before:]), _actions(again)),
        "replay": ("same", asyncio.run(replay_episode(child)).result),
    }
    same = {name: one == other for name, (one, other) in lasting.items()}
    ended = [replace(one, totals=child[-1].body.totals) for one in lasting["outcome"]]
    same["outcome"] = ended[0] == ended[1]
    same["once"] = before == _done(resumed)
    return [f"after {resumed.last} {resumed.word}: {name}" for name, fits in same.items() if not fits]


def _done(resumed: Resumed) -> int:
    """Return how many actions had been done, by the record and by what a person said."""
    told = sum(isinstance(one.body, ActCompleted | ActFailed) for one in resumed.left.told)
    return told + len(resumed.left.words)


def _actions(calls: Sequence[Called]) -> list[Action]:
    return [one.action for one in calls]


def _prompts(events: Sequence[Event], resumed: Resumed) -> dict[str, list[object]]:
    """Return each lane's prompts: side by side they come in any order.

    Where a person says what was answered to a reply, the user who answered is not asked again.
    """
    found: dict[str, list[object]] = {}
    for event in events:
        if isinstance(event.body, GenerateRequested) and not (resumed.left.words and event.body.role == "user"):
            found.setdefault(event.lane, []).append((event.body.position, event.body.messages))
    return found
