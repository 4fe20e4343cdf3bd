"""Replay with live models: they are asked anew, and what they do is answered from the record (`cached_answers`).

No environment is built, so nothing they decide can do anything. Every answer of a live model makes the result another
thing than a replay, and is counted; the first action that the record has no answer to ends the episode there. Nothing
is recorded: an action that was only answered must not look like one that was done. A simulated user is part of the
environment: what the recorded one said is all that it says here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from spectrace.core.classified import by_record
from spectrace.core.commands import Act, Generate
from spectrace.core.commands import Protocol as Asked
from spectrace.core.endings import cut_short
from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    Body,
    EpisodeEnded,
    EvaluateCompleted,
    EvaluateFailed,
    Event,
    OutcomeSettled,
    ResetCompleted,
    ResetFailed,
)
from spectrace.core.prompts import Prompts
from spectrace.core.protocols import recorded_protocol
from spectrace.core.setup import setup_of
from spectrace.core.types import Action, Completion, Evaluation, ModelFacts, Opening, Outcome
from spectrace.errors import EnvironmentFailed, ModelFailed, NewerSchema, Untestable
from spectrace.models.client import ModelClient
from spectrace.runs.cached_answers import CachedAnswers, Missed
from spectrace.runs.divergence import Difference
from spectrace.runs.drive import Driver
from spectrace.runs.live import Prices, describe
from spectrace.runs.preflight import readable, with_options
from spectrace.runs.purse import Purse, require_prices
from spectrace.runs.recording import RecordEnds
from spectrace.runs.replay import ReplayResult
from spectrace.runs.sources import Generated, Graded, ModelSource, Observed, Opened

_CACHE = "cache"
"""The source of an answer that was recorded for another run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Whom to ask, with what, and how far."""

    clients: Mapping[str, ModelClient]
    prompts: Prompts | None = None
    lenient: bool = False
    prices: Prices | None = None
    purse: Purse | None = None
    """Of all the episodes together."""


async def replay_with_models(
    events: Sequence[Event], asking: Asking, options: Mapping[str, object] | None = None
) -> ReplayResult:
    """Ask live models in a recorded episode, whose environment answers as it did then.

    `same`: they did what was recorded, in its order, and came to the same end. Raises UsageError for a model or a price
    that is missing; what a record may hold, and a model that does not answer, gives a result.
    """
    try:
        started = with_options(readable(events), options or {})
        protocol = recorded_protocol(started)
    except (Untestable, NewerSchema) as error:
        return ReplayResult(events[0].episode, "untestable", 0, 0, 0, None, str(error))
    told = [event for event in events if not isinstance(event.body, OutcomeSettled)]
    try:
        models = await describe(asking.clients, started.seed, asking.prices)
    except ModelFailed as error:
        return ReplayResult(events[0].episode, "untestable", 0, 0, 0, None, f"a model cannot be asked: {error}")
    own = Purse.of(protocol)
    purses = (own, *(() if asking.purse is None else (asking.purse,)))
    require_prices(models, purses)
    prompts = started.prompts if asking.prompts is None else asking.prompts.to_json()
    setup = setup_of(replace(started, models=models, prompts=prompts), by_record(told))
    source = _CachedSource(told, asking, models, purses)
    result = await _followed(Driver(source, _Numbers(), "live"), protocol.run(setup), source, told)
    spent = own.spent.usd if source.live else None
    return replace(result, live=source.live, normalised=tuple(source.cache.normalised), cost_usd=spent)


class _Numbers:
    """A log that only numbers its events."""

    def __init__(self) -> None:
        self._next = 0

    def write(self, lane: str, body: Body) -> int:
        del lane, body
        self._next += 1
        return self._next

    async def settle(self, *, durable: bool) -> None:
        pass

    def act_key(self, position: str) -> str:
        del position
        return ""


class _CachedSource(ModelSource):
    """Live models; opening, observations and grade are the record's."""

    def __init__(
        self, events: Sequence[Event], asking: Asking, models: Sequence[ModelFacts], purses: Sequence[Purse]
    ) -> None:
        super().__init__(asking.clients, models, purses)
        self._bodies = [event.body for event in events]
        self.cache = CachedAnswers.of(events, lenient=asking.lenient)
        self.live = 0
        self.unchecked = 0
        self.failure: ModelFailed | None = None

    async def generate(self, lane: str, request: int, command: Generate) -> Generated:
        try:
            generated = await super().generate(lane, request, command)
        except ModelFailed as error:
            self.failure = error
            raise
        self.live += 1
        return generated

    async def act(self, lane: str, request: int, command: Act) -> Observed:
        del request
        match self.cache.answer(lane, command):
            case ActCompleted() as body:
                return Observed(body.observation, body.fingerprint_before, body.fingerprint_after, None, _CACHE)
            case ActFailed(kind=kind, error=error):
                raise EnvironmentFailed(kind, error)

    async def reset(self, lane: str, request: int, seed: int | None, supplied: Completion | None) -> Opened:
        del lane, request, seed, supplied
        for body in self._bodies:
            match body:
                case ResetCompleted():
                    return Opened(Opening(body.messages, body.done), body.fingerprint, None, _CACHE)
                case ResetFailed(kind=kind, error=error):
                    raise EnvironmentFailed(kind, error)
                case _:
                    pass
        raise RecordEnds

    async def evaluate(self, lane: str, request: int, supplied: Completion | None) -> Graded:
        del lane, request, supplied
        if any(one.moves for one in self.cache.left()):  # the recorded grade is another state's
            raise RecordEnds
        for body in reversed(self._bodies):
            match body:
                case EvaluateCompleted():
                    return Graded(Evaluation(body.reward, body.detail), body.fingerprint, None, _CACHE)
                case EvaluateFailed(kind=kind, error=error):
                    raise EnvironmentFailed(kind, error)
                case _:
                    pass
        raise RecordEnds

    async def check(self, lane: str, action: Action) -> str | None:
        """Return the recorded objection; what was never checked has none, and is counted."""
        del lane
        checked, objection = self.cache.objection(action)
        self.unchecked += not checked
        return objection


async def _followed(
    driver: Driver, asked: Asked[Outcome], source: _CachedSource, events: Sequence[Event]
) -> ReplayResult:
    outcome: Outcome | None = None
    missed: Missed | None = None
    try:
        outcome = await driver.run(asked)
    except Missed as miss:
        missed = miss
    except RecordEnds:
        pass
    cache = source.cache
    compared, total = cache.used, len(cache.kept)
    said = "".join(f"; {words}" for words in _said(source))

    def result(verdict: str, first: Difference | None, detail: str) -> ReplayResult:
        return ReplayResult(
            events[0].episode, verdict, compared, total, compared, first, detail.removesuffix(".") + said
        )

    if source.failure is not None and (outcome is None or outcome.status != "completed"):
        return result("untestable", None, f"a model did not answer: {source.failure}")
    end, left = events[-1], cache.left()
    ends = not isinstance(end.body, EpisodeEnded) or cut_short(end)
    if missed is not None:
        first = missed.difference
        if (ends and not left) or (missed.unanswered and len(left) == 1):
            at = first.seq if left else end.seq
            return result("same", None, f"the record breaks off at event {at}; all before was asked for, in its order")
        detail = f"event {first.seq}: recorded {first.recorded}, this run asked {first.found}. {first.cause}"
        return result("diverged", first, detail)
    found = cache.reordered() or cache.left_over() or (None if ends else _other_end(end, outcome))
    if found is not None:
        detail = f"event {found.seq}: recorded {found.recorded}, this run {found.found}. {found.cause}"
        return result("diverged", found, detail)
    stops = f"; the record breaks off at event {end.seq}" if ends else ""
    return result("same", None, f"all {total} recorded actions were asked for, in their order{stops}")


def _other_end(end: Event, outcome: Outcome | None) -> Difference | None:
    """Return how a run that did all that was recorded ended otherwise."""
    recorded = end.body
    if not isinstance(recorded, EpisodeEnded) or outcome is None:
        return None
    was, now = f"{recorded.outcome} ({recorded.reason})", f"{outcome.status} ({outcome.reason})"
    return None if was == now else Difference(end.seq, "/reason", was, now, "The models came to another end.")


def _said(source: _CachedSource) -> list[str]:
    """Return what must not be silent: live answers, other spellings, checks that nobody made then."""
    said = [f"tainted: {source.live} live answer{'s' if source.live != 1 else ''}"] if source.live else []
    by_rule = [f"event {one.seq} ({', '.join(one.rules)})" for one in source.cache.normalised]
    said += [f"normalised matches: {', '.join(by_rule)}"] if by_rule else []
    if source.unchecked:
        several = "replacements were" if source.unchecked != 1 else "replacement was"
        said.append(f"{source.unchecked} {several} not checked in the record: taken to be without objection")
    return said
