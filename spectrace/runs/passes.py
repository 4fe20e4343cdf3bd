"""A re-verification run over many episodes: what is left of it is judged, by this process or beside others.

Every part (an episode, a repeat) is looked at anew: what its children answered is counted first, so that a process
killed between a verdict and its count loses nothing; then one child judges what has no answer yet. A part that another
living process works on is left to it. What is judged twice all the same counts once: the arbiter says which.

A parent is judged as it was when it was selected, whatever was added to its log since (a settled outcome): the table
of a run is about the data set that the run names. Counterpart, for reading: `audit.passes`.
"""

import asyncio
import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from spectrace.core.endings import cut_by_run
from spectrace.core.events import EpisodeStarted
from spectrace.core.fold import Episode, fold
from spectrace.core.prompts import Prompts
from spectrace.core.rereviews import Said, answers_of, scope_of, selected
from spectrace.core.review_request import review_requests
from spectrace.core.reviews import Review
from spectrace.core.setup import setup_of
from spectrace.core.types import Outcome
from spectrace.errors import ModelFailed, StoreError, UsageError
from spectrace.redaction.redactor import Redactor
from spectrace.runs.drive import Driver
from spectrace.runs.health import Health
from spectrace.runs.live import Prices, begin, describe, new_episode_id, run_recorded
from spectrace.runs.pass_plan import Part, Plan, Then
from spectrace.runs.pass_source import CANCELLED, OVERTAKEN, Answers, PassSource
from spectrace.runs.purse import Purse
from spectrace.runs.recorder import Watcher, now_us, threads
from spectrace.runs.redacting import redacting
from spectrace.runs.reverify import asks_again, child_started, parent_at
from spectrace.runs.together import together
from spectrace.runs.verifiers import Pool, covers, verifier_source
from spectrace.store.arbiter import WHOLE, Arbiter, Item
from spectrace.store.event_store import EventStore

__all__ = ["BUSY", "Part", "Plan", "Rejudging", "judge_shard"]

BUSY = "another process is judging it"
_APART_S = 0.05
"""Two that give way to each other wait so long, at most, before they look again; longer each time."""


@dataclass(kw_only=True)
class Rejudging:
    """A run at work: what its parts are judged with, and what they share."""

    store: EventStore
    arbiter: Arbiter
    plan: Plan
    pool: Pool
    prompts: Prompts | None = None
    """In place of the recorded ones; their digest is in the plan."""
    prices: Prices | None = None
    purse: Purse = field(default_factory=Purse)
    health: Health = field(default_factory=Health)
    watch: Watcher | None = None
    redactor: Redactor | None = None
    concurrency: int | None = None
    """Parts at once, as each child records it; None where nobody knows."""
    _cancelled: bool = field(default=False, init=False)

    @property
    def stopped(self) -> str | None:
        """Why nothing more is begun."""
        return self.health.gave_up or (CANCELLED if self._cancelled else self.purse.empty)

    async def judge(self, episode: str, repeat: int) -> Part:
        """Judge what is left of one repeat of an episode."""
        loop = asyncio.get_running_loop()
        try:
            for attempt in count(1):
                found = await loop.run_in_executor(threads(), self._look, episode, repeat)
                part = found if isinstance(found, Part) else await self._ask(found)
                if part.why != OVERTAKEN:
                    return part
                await asyncio.sleep(random.uniform(0, min(_APART_S * attempt, 1.0)))  # noqa: S311 - to fall out of step
            raise AssertionError  # count() has no end
        except ModelFailed as error:  # nobody there: nothing was begun
            self.health.failed("strong", error)
            why = str(error) if self.redactor is None else self.redactor.fresh().text(str(error))
            return Part(episode, repeat, why=why)
        except UsageError as error:
            return Part(episode, repeat, why=str(error), then="never")
        except StoreError as error:
            return Part(episode, repeat, why=str(error))

    def _look(self, episode: str, repeat: int) -> "Part | _Left":
        """Say what is left of a part; count first what its children answered and nobody counted."""
        if self._is_cancelled():
            return Part(episode, repeat, why=CANCELLED, then="stop")
        counted = {item.verdict_seq: item for item in self.arbiter.items(episode) if item.repeat == repeat}
        if (whole := counted.pop(WHOLE, None)) is not None and not _left_out(whole):
            return Part(episode, repeat, before=len(counted))
        parent = fold(parent_at(self.store, episode, self.arbiter.head(episode)))
        reviews = list(self._covered(parent))
        asked = [one for one, covered in reviews if covered]
        keys, left_out = {one.segment: one.key for one in asked}, len(reviews) - len(asked)
        children = list(self._children(episode, repeat))
        busy = next((child for child in children if self.store.row(child).state == "running"), None)
        if any(key not in counted for key in keys.values()):
            for child in children:
                for said in answers_of(self.store.read(child, prompts=False)):
                    if said.segment in keys and keys[said.segment] not in counted:
                        counted[keys[said.segment]] = self._count(episode, repeat, keys[said.segment], child, said)
        left = [one for one in asked if one.key not in counted]
        part = Part(episode, repeat, before=len(asked) - len(left), left=len(left), left_out=left_out)
        if not left:
            self._whole(part)
            return part
        return _Left(parent, left, part, frozenset(children)) if busy is None else _told(part, BUSY)

    def _covered(self, parent: Episode) -> Iterator[tuple[Review, bool]]:
        reviews = selected(parent, only_rejected=self.plan.only_rejected)
        for one, request in zip(reviews, review_requests(parent.id, setup_of(parent.started), reviews), strict=True):
            yield one, covers(self.pool, request)

    def _children(self, episode: str, repeat: int) -> Iterator[str]:
        for child in self.arbiter.children(episode):
            first = next(iter(self.store.read(child, 0, 1)), None)
            if first is not None and isinstance(first.body, EpisodeStarted) and scope_of(first.body).repeat == repeat:
                yield child

    async def _ask(self, found: "_Left") -> Part:
        part, loop = found.part, asyncio.get_running_loop()
        client = self.pool.client(part.episode)
        (facts,) = await describe({"strong": client}, None, self.prices)
        scope = self.plan.scope(part.repeat, tuple(one.segment for one in found.reviews))
        first = child_started(found.parent, facts, self.plan.run, scope, self.prompts, self.redactor)
        first = replace(first, concurrency=self.concurrency)
        keys = {one.segment: one.key for one in found.reviews}
        answers = Answers(
            lambda child, said: self._count(part.episode, part.repeat, keys[said.segment], child, said), self.watch
        )
        recorder, writer = await begin(self.store, new_episode_id(), first, answers)
        answers(recorder.episode, 0, first)
        requests = review_requests(part.episode, setup_of(first), found.reviews)
        source = PassSource(
            redacting(verifier_source(self.pool, part.episode, requests, client), self._fresh()),
            facts,
            answers,
            _Refusal(self, found, recorder.episode),
            purse=self.purse,
            health=self.health,
        )
        asking = asks_again(first, found.reviews)
        outcome = await run_recorded(Driver(source, recorder, "live"), asking, recorder, writer)
        return await loop.run_in_executor(threads(), self._ended, part, answers, outcome)

    def _fresh(self) -> Redactor | None:
        return None if self.redactor is None else self.redactor.fresh()

    def _ended(self, part: Part, answers: Answers, outcome: Outcome) -> Part:
        answers.count()
        done = replace(part, new=answers.given, left=part.left - answers.given)
        if not done.left:
            self._whole(done)
            return done
        if cut_by_run(outcome.reason):
            return _told(done, outcome.reason, "stop")
        return _told(done, answers.error or outcome.reason)

    def _count(self, episode: str, repeat: int, key: int, child: str, said: Said) -> Item:
        result = {"seq": said.seq, "said": "too_long" if said.verdict is None else "verdict"}
        item = Item(
            parent=episode,
            verdict_seq=key,
            repeat=repeat,
            episode=child,
            at=now_us(),
            state="done",
            result=json.dumps(result),
        )
        self.arbiter.count(item)
        return item

    def _whole(self, part: Part) -> None:
        """Say that nothing is left of a part, so that going on need not look into it."""
        result = {"reviews": part.before + part.new, "left_out": part.left_out}
        item = Item(
            parent=part.episode,
            repeat=part.repeat,
            episode=part.episode,
            at=now_us(),
            state="done",
            result=json.dumps(result),
        )
        self.arbiter.count(item)

    def _is_cancelled(self) -> bool:
        self._cancelled = self._cancelled or self.arbiter.cancelled()
        return self._cancelled

    def refusal(self, left: "_Left", child: str, *, first: bool) -> str | None:
        """Say why a child must not ask: its run was cancelled, or somebody else has begun the same part meanwhile.

        Of two that begin at once, the one that looks last sees the other and gives way; where both see each other,
        both do, and look again what is left. Which one began first is no answer: begun is not yet visible.
        """
        if self._is_cancelled():
            return CANCELLED
        known = {child, *left.children}
        if first and any(other not in known for other in self._children(left.part.episode, left.part.repeat)):
            return OVERTAKEN
        return None


@dataclass(frozen=True, slots=True)
class _Left:
    parent: Episode
    reviews: Sequence[Review]
    part: Part
    children: frozenset[str]
    """Those that were there when it was looked what is left."""


@dataclass(slots=True)
class _Refusal:
    """Asked before each call of a child; the first time it looks who else has begun."""

    work: Rejudging
    left: _Left
    child: str
    first: bool = True

    def __call__(self) -> str | None:
        first, self.first = self.first, False
        return self.work.refusal(self.left, self.child, first=first)


def _left_out(whole: Item) -> bool:
    """Whether nothing is left only because the verifier said nothing of a review: people may have filled in more."""
    return bool(json.loads(whole.result).get("left_out", 0))


def _told(part: Part, why: str, then: Then = "again") -> Part:
    return replace(part, why=why, then=then)


async def judge_shard(
    work: Rejudging,
    episodes: Sequence[str],
    *,
    concurrency: int = 1,
    told: Callable[[Part], None] = lambda _: None,
) -> list[Part]:
    """Judge what is left of some episodes, so many parts at once; `told` of each as it ends.

    The first repeat of all comes before the second of any. Cancelled, it ends the parts at work as interrupted.
    """
    waiting = ((episode, repeat) for repeat in range(1, work.plan.repeat + 1) for episode in episodes)
    parts: list[Part] = []
    work.concurrency = concurrency
    most = min(concurrency, len(episodes) * work.plan.repeat)
    await together(_work(work, waiting, parts, told) for _ in range(most))
    return parts


async def _work(
    work: Rejudging, waiting: Iterable[tuple[str, int]], parts: list[Part], told: Callable[[Part], None]
) -> None:
    for episode, repeat in waiting:
        if work.stopped is not None:
            return
        part = await work.judge(episode, repeat)
        parts.append(part)
        told(part)
