"""Events -> episode: how a log becomes segments, verdicts, repairs and totals. Counterpart of the protocols.

`fold` reads what happened, in order, and decides nothing; it works on unfinished and on imported episodes alike.
It passes over events of types that are not known, and refuses a newer version of one that is (see `versions`).
Of an erased event it takes what the header says; what a later event says of it then may lead nowhere: passed over.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ControlPassed,
    EffectObserved,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    PlanMade,
    ProgressJudged,
    RepairMade,
    ReplyUnusable,
    ResetCompleted,
    SegmentClosed,
    SegmentCommitted,
    SpeculationMatched,
    StepDrafted,
    StepsDiscarded,
    StepSpeculated,
    Totals,
    Unknown,
    VerdictGiven,
)
from spectrace.core.taken import Taken
from spectrace.core.tally import Tally
from spectrace.core.types import Action, Call, Effect, Finish, History, Observation, Reply, Step, Verdict
from spectrace.core.versions import IMPOSSIBLE, impossible, require_readable

ERASED = "(erased)"
"""What stands in place of words that are erased."""


@dataclass(slots=True, eq=False)
class FoldedStep:
    """A drafted or repaired step, and what became of it."""

    step: Step
    seq: int
    """The event that drafted it (step.drafted or repair.made)."""
    request: int | None
    """The model call that wrote it."""
    fate: str = "open"
    """open, committed, discarded."""
    discarded: str | None = None
    """Why it was discarded: rejected, unusable, budget, failed, ..."""
    reviewed: str | None = None
    """yes, no, not_applicable; None while open or when discarded."""
    act: int | None = None
    """The act.requested event, if it reached the environment."""
    objection: str | None = None


@dataclass(slots=True)
class FoldedRepair:
    """What the strong model did in place of the first rejected step."""

    seq: int
    kind: str
    actions: tuple[Action, ...]
    verdict: int | None
    fused_unusable: str | None
    steps: list[FoldedStep] = field(default_factory=list)


@dataclass(slots=True)
class FoldedSegment:
    """One segment: its steps, why it closed, its verdict and its repair."""

    index: int
    history: History
    """The history that it was drafted in."""
    steps: list[FoldedStep] = field(default_factory=list)
    reason: str | None = None
    closed: int | None = None
    verdict: Verdict | None = None
    verdict_seq: int | None = None
    review: int | None = None
    """The model call that gave the verdict."""
    repair: FoldedRepair | None = None
    earlier: tuple["FoldedSegment", ...] = ()
    """Unreviewed segments that its review reached back over (unreviewed=revisable)."""
    guesses: list[FoldedStep] = field(default_factory=list)
    """What the weak model expected the strong one to do (speculative-actions); `committed`: it did, or it stood."""

    @property
    def judged(self) -> tuple[FoldedStep, ...]:
        """The steps that its verdict counts, those of the earlier segments that it reached back over first."""
        return tuple(folded for segment in (*self.earlier, self) for folded in segment.steps)

    @property
    def under_review(self) -> tuple[Step, ...]:
        """The steps as the reviewer saw them: a held one has no observation yet."""
        judged = self.judged
        held = len(judged) if self.reason == "held" else None
        return tuple(
            replace(folded.step, observation=None) if number == held else folded.step
            for number, folded in enumerate(judged, 1)
        )


@dataclass(frozen=True, slots=True)
class Note:
    """What happened beside the steps: a plan, a judgement, control passed on, a reply that broke the form."""

    seq: int
    body: PlanMade | ProgressJudged | ControlPassed | ReplyUnusable


@dataclass(slots=True)
class Episode:
    """An episode as its log tells it."""

    id: str
    started: EpisodeStarted
    started_at: int
    segments: list[FoldedSegment] = field(default_factory=list)
    history: History = field(default_factory=lambda: History(()))
    tally: Tally = field(default_factory=Tally)
    ended: EpisodeEnded | None = None
    ended_at: int | None = None
    events: int = 0
    last_at: int = 0
    notes: list[Note] = field(default_factory=list)
    took_us: int = 0
    """What passed from event to event; where the wall clock went back, the latency that the event itself measured."""
    erased: dict[int, str] = field(default_factory=dict)
    """The events whose bodies are erased, with their types."""
    clock_back: list[int] = field(default_factory=list)
    """The events at which the wall clock stood before the event before: order is by number, always."""
    taken: Taken = field(default_factory=Taken, repr=False, compare=False)
    """What it has from the record of the episode that it forked off or goes on from."""
    _by_index: dict[int, FoldedSegment] = field(default_factory=dict, repr=False, compare=False)

    @property
    def totals(self) -> Totals:
        """Counts over the events so far."""
        return self.tally.totals

    def segment(self, index: int) -> FoldedSegment:
        """Return the segment of that number, opened if it is new; a foreign log may come back to an earlier one."""
        if index not in self._by_index:
            self._by_index[index] = FoldedSegment(index, self.history)
            self.segments.append(self._by_index[index])
        return self._by_index[index]


def fold(events: Iterable[Event]) -> Episode:
    """Return the episode that the events tell; the first must be episode.started.

    Raises NewerSchema, and StoreError for an event that cannot have followed those before it.
    """
    iterator = iter(events)
    first = next(iterator, None)
    if first is not None:
        require_readable(first)
    if first is None or not isinstance(first.body, EpisodeStarted):
        msg = "an episode's first event is episode.started"
        raise ValueError(msg)
    episode = Episode(first.episode, first.body, first.at, events=1, last_at=first.at)
    episode.tally.count(first.body)
    episode.taken.hear(first.seq, first.body)
    for event in iterator:
        try:
            apply(episode, event)
        except IMPOSSIBLE as error:
            if not episode.erased:
                raise impossible(event, error) from error
    return episode


def apply(episode: Episode, event: Event) -> None:
    """Let one more event happen to the episode."""
    episode.events += 1
    body = event.body
    passed = event.at - episode.last_at
    if passed < 0:
        episode.clock_back.append(event.seq)
        passed = getattr(body, "latency_us", None) or 0
    episode.took_us += passed
    episode.last_at = event.at
    episode.tally.count(body)
    episode.taken.hear(event.seq, body)
    match body:
        case ResetCompleted(messages=messages):
            episode.history = History(messages)
        case StepDrafted():
            _drafted(episode, event.seq, body)
        case StepSpeculated():
            _speculated(episode, event.seq, body)
        case SpeculationMatched(guess=guess):
            _matched(episode, body, guess)
        case PlanMade() | ProgressJudged() | ControlPassed() | ReplyUnusable():
            episode.notes.append(Note(event.seq, body))
        case ActCompleted(observation=observation, position=position, request=request):
            _observed(episode, position, observation, request)
        case ActFailed(position=position, error=error, request=request, effect=Effect.READ):
            _observed(episode, position, Observation(f"no answer: {error}", error=True), request)
        case EffectObserved(request=request):
            _changed(episode, request)
        case SegmentClosed(segment=index, reason=reason):
            segment = episode.segment(index)
            segment.reason, segment.closed = reason, event.seq
        case VerdictGiven():
            _judged(episode, event.seq, body)
        case SegmentCommitted():
            _committed(episode, body)
        case StepsDiscarded():
            _discarded(episode, body)
        case RepairMade():
            _repaired(episode, event.seq, body)
        case EpisodeEnded():
            episode.ended, episode.ended_at = body, event.at
        case Unknown(erased=True):
            episode.erased[event.seq] = body.type
            _gone(episode, event, body)
        case Unknown():
            require_readable(event)
        case _:
            pass


def _gone(episode: Episode, event: Event, body: Unknown) -> None:
    """Keep the place of what is erased, so that what follows is counted right."""
    last = episode.segments[-1] if episode.segments else None
    match body.type:
        case StepDrafted.TYPE:
            opens = last is None or last.closed is not None
            segment = episode.segment(last.index + opens if last is not None else 1)
            segment.steps.append(_erased_step(segment, event.seq, body.tool, body.effect or Effect.WRITE))
        case SegmentClosed.TYPE if last is not None:
            last.reason, last.closed = ERASED, event.seq
        case VerdictGiven.TYPE if last is not None:
            last.verdict_seq = event.seq
        case EpisodeEnded.TYPE:
            episode.ended = EpisodeEnded(outcome=body.outcome or "?", reason=ERASED, answer=None, reward=None)
            episode.ended_at = event.at
        case _:
            pass


def _erased_step(segment: FoldedSegment, seq: int, tool: str | None, effect: str) -> FoldedStep:
    action: Action = Call(tool, ERASED) if tool else Finish(ERASED) if effect == Effect.FINISH else Reply(ERASED)
    return FoldedStep(Step(f"s{segment.index}.{len(segment.steps) + 1}", action, Effect(effect)), seq, None)


def _drafted(episode: Episode, seq: int, body: StepDrafted) -> None:
    observation = None if body.objection is None else Observation(body.objection, error=True)
    step = Step(body.position, body.action, Effect(body.effect), observation)
    episode.segment(body.segment).steps.append(FoldedStep(step, seq, body.request, objection=body.objection))


def _changed(episode: Episode, request: int) -> None:
    """Let a declared read be the write that it was; a guess that was one stands in the history."""
    segment = episode.segments[-1]
    repaired = segment.repair.steps if segment.repair is not None else []
    done = (one for one in (*segment.guesses, *repaired, *segment.steps) if one.act == request)
    folded = next(done, None) or segment.steps[-1]
    was, folded.step = folded.step, replace(folded.step, effect=Effect.WRITE)
    if folded in segment.guesses:
        folded.fate, folded.reviewed = "committed", "no"
        episode.history = episode.history.then(folded.step)
    elif folded.fate == "committed":  # a repair, or what a verdict let run: it is in the history already
        steps = tuple(folded.step if step is was else step for step in episode.history.steps)
        episode.history = replace(episode.history, steps=steps)


def _speculated(episode: Episode, seq: int, body: StepSpeculated) -> None:
    step = Step(body.position, body.action, Effect(body.effect))
    episode.segment(body.segment).guesses.append(FoldedStep(step, seq, body.request))


def _matched(episode: Episode, body: SpeculationMatched, guess: int) -> None:
    """Give the step the observation of the guess that foretold it, which may come from an earlier segment."""
    guessed = {one.seq: one for segment in episode.segments for one in segment.guesses}[guess]
    step = {one.step.position: one for one in episode.segment(body.segment).steps}[body.position]
    guessed.fate = "committed"
    step.act, step.step = guessed.act, replace(step.step, observation=guessed.step.observation)


def _observed(episode: Episode, position: str, observation: Observation, request: int) -> None:
    """Give the step at a position its observation; a committed one (held, or a repair) joins the history with it."""
    for folded in _recent_steps(episode):
        if folded.step.position == position:
            folded.step = replace(folded.step, observation=observation)
            folded.act = request
            if folded.fate == "committed":
                episode.history = episode.history.then(folded.step)
                _never_sent_after(episode, folded, observation)
            return


def _never_sent_after(episode: Episode, folded: FoldedStep, observation: Observation) -> None:
    """Let a repair's action that was never sent follow the one before it, unless that one failed."""
    repair = episode.segments[-1].repair
    if repair is None or folded not in repair.steps or observation.error:
        return
    following = repair.steps[repair.steps.index(folded) + 1 :]
    if following and following[0].objection is not None:
        episode.history = episode.history.then(following[0].step)


def _recent_steps(episode: Episode) -> Iterable[FoldedStep]:
    for segment in reversed(episode.segments[-2:]):
        if segment.repair is not None:
            yield from segment.repair.steps
        yield from reversed(segment.steps)
        yield from reversed(segment.guesses)


def _judged(episode: Episode, seq: int, body: VerdictGiven) -> None:
    segment = episode.segment(body.segment)
    segment.verdict, segment.verdict_seq, segment.review = verdict_of(body), seq, body.review
    if body.drafted > len(segment.steps):
        segment.earlier = tuple(other for other in episode.segments if other is not segment and _is_open(other))


def _is_open(segment: FoldedSegment) -> bool:
    return segment.closed is not None and any(folded.fate == "open" for folded in segment.steps)


def verdict_of(body: VerdictGiven) -> Verdict:
    """Return the verdict that a verdict.given records."""
    return Verdict(
        drafted=body.drafted,
        accepted=body.accepted,
        status=body.status,
        category=body.category,
        reason=body.reason,
        replacement=body.replacement,
        cause=body.cause,
        raw=body.raw,
        probabilities=body.probabilities,
    )


def _committed(episode: Episode, body: SegmentCommitted) -> None:
    for folded in episode.segment(body.segment).steps[body.start - 1 : body.end]:
        folded.fate, folded.reviewed = "committed", body.reviewed
        if folded.step.observation is not None:
            episode.history = episode.history.then(folded.step)


def _discarded(episode: Episode, body: StepsDiscarded) -> None:
    segment = episode.segment(body.segment)
    steps = segment.repair.steps if body.repair and segment.repair is not None else segment.steps
    if body.reason == "speculation_lost":
        steps = segment.guesses
    for folded in steps[body.start - 1 : body.end]:
        folded.fate, folded.discarded = "discarded", body.reason
        if body.repair and folded.step in episode.history.steps:  # never sent, and told before the call in front ended
            kept = tuple(step for step in episode.history.steps if step is not folded.step)
            episode.history = replace(episode.history, steps=kept)


def _repaired(episode: Episode, seq: int, body: RepairMade) -> None:
    segment = episode.segment(body.segment)
    repair = FoldedRepair(seq, body.kind, body.actions, body.verdict, body.fused_unusable)
    effects = {tool.name: tool.effect for tool in episode.started.tools}
    for number, (action, objection) in enumerate(zip(body.actions, body.objections, strict=True), 1):
        observation = None if objection is None else Observation(objection, error=True)
        step = Step(f"s{body.segment}.r{number}", action, _effect(action, effects), observation)
        repair.steps.append(FoldedStep(step, seq, None, fate="committed", objection=objection))
        if observation is not None and number == 1:
            episode.history = episode.history.then(step)
    segment.repair = repair


def _effect(action: Action, effects: dict[str, Effect]) -> Effect:
    tool = getattr(action, "tool", None)
    if tool is None:
        return Effect.FINISH if type(action).__name__ == "Finish" else Effect.REPLY
    return effects.get(tool, Effect.WRITE)
