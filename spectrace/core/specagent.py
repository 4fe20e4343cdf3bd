"""START HERE: SpecAgent, readable beside PROTOCOL.md section 2.

A weak model drafts; reads run at once; the first action that would change the world is *held*; a strong model
reviews the segment in one pass, commits the longest valid prefix and repairs the first rejected step. This module is
the whole control flow: `roles.py` asks the models, `steps.py` executes and commits, `commands.py` holds the verbs.
"""

from dataclasses import dataclass
from itertools import count
from typing import ClassVar

from spectrace.core import commands, facts, roles
from spectrace.core.commands import Protocol, tell
from spectrace.core.events import SegmentClosed, SegmentCommitted, StepsDiscarded
from spectrace.core.reading import objection
from spectrace.core.roles import Budget, Desk, Ended
from spectrace.core.setup import Setup
from spectrace.core.steps import Ledger, finish_episode
from spectrace.core.types import Action, Effect, Observation, Outcome, Segment, Step, Verdict
from spectrace.errors import UsageError

_IRREVOCABLE = ("reply", "finish", "effect_observed")
"""Reasons to close with a step that was executed and stands, whatever a review would say."""
_THIRD_TIME = 2
"""Identical steps before this one that make it a stall."""

_CHOICES = {
    "hold": ("writes", "writes+replies", "writes+external"),
    "review": ("held", "every"),
    "finish": ("held", "free"),
    "stall": ("review", "ignore"),
    "repair_sees": ("reason", "nothing"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecAgent:
    """The protocol and its options, as recorded in `episode.started` (PROTOCOL section 2, Options)."""

    NAME: ClassVar[str] = "specagent"
    MODELS: ClassVar[tuple[str, ...]] = ("weak", "strong")

    k: int = 6
    """Steps of a segment at most, the held one counted."""
    fused: bool = True
    """Whether a replacement inside the verdict is used; else every repair is an extra strong turn."""
    hold: str = "writes"
    """Which actions wait for a verdict: writes, writes+replies, writes+external."""
    review: str = "held"
    """Which segments are reviewed: those with a held action (or stalled), or every one."""
    finish: str = "held"
    """Whether the final answer waits for a verdict."""
    max_unreviewed: int | None = None
    """Review anyway after this many unreviewed steps."""
    stall: str = "review"
    """Whether the third identical read closes the segment for review."""
    repair_sees: str = "reason"
    """What a corrective turn is shown of the rejection."""
    max_steps: int = 60
    max_strong_calls: int | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        """Refuse values outside their range, naming it."""
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise UsageError(f"option {name}: expected one of {', '.join(choices)}, found {getattr(self, name)!r}.")
        if self.k < 1 or self.max_steps < 1:
            raise UsageError(f"options k and max_steps must be at least 1, found {self.k} and {self.max_steps}.")

    def run(self, setup: Setup) -> Protocol[Outcome]:
        """Return the generator of one episode."""
        desk = Desk(setup, Budget(self.max_steps, self.max_strong_calls, self.max_tokens))
        return finish_episode(_episode(self, desk))

    def holds(self, setup: Setup, action: Action) -> bool:
        """Whether a drafted action waits for the verdict."""
        match setup.effect(action):
            case Effect.WRITE:
                return True
            case Effect.FINISH:
                return self.finish == "held"
            case Effect.REPLY:
                return self.hold == "writes+replies" or self.review == "every"
            case Effect.READ:
                return self.hold == "writes+external" and setup.external(action)

    def reviews(self, segment: Segment, unreviewed: int) -> bool:
        """Whether a closed segment is put to the strong model: never one that ends in what cannot be taken back."""
        if not segment.steps or segment.reason in _IRREVOCABLE:
            return False
        overdue = self.max_unreviewed is not None and unreviewed + len(segment.steps) >= self.max_unreviewed
        return segment.reason in {"held", "stalled"} or self.review == "every" or overdue


def _episode(options: SpecAgent, desk: Desk) -> Protocol[Outcome]:
    """Until the episode ends: draft a segment; commit it unreviewed, or review it and commit, execute or repair."""
    ledger = Ledger(desk, (yield from commands.reset(desk.setup.seed)))
    unreviewed = 0
    for index in count(1):
        if ledger.outcome is not None:
            return ledger.outcome
        segment = yield from _draft_segment(options, desk, ledger, index)

        if not options.reviews(segment, unreviewed):
            yield from _commit(ledger, segment, len(segment.steps), reviewed="no")
            unreviewed += len(segment.steps)
            if segment.reason == "unusable_draft":
                yield from _corrective(desk, ledger, index, None, None, None)
            continue

        try:
            verdict, review = yield from roles.review(desk, ledger.history, segment.steps, f"s{index}")
        except Ended as ended:
            yield from _abandon(index, segment.steps, ended)
            raise
        given = yield from tell(facts.verdict_given(verdict, index, review))
        unreviewed = 0
        if verdict.accepts_all:
            yield from _commit(ledger, segment, len(segment.steps), reviewed="yes")
            if segment.reason == "held":
                held = segment.steps[-1]
                yield from ledger.execute_and_commit(held.action, held.effect, f"verdict:{given}", held.position)
            elif segment.reason == "unusable_draft":
                yield from _corrective(desk, ledger, index, given, None, None)
        else:
            yield from _commit(ledger, segment, verdict.accepted, reviewed="yes")
            yield from _discard(segment, verdict)
            yield from _repair(options, desk, ledger, index, verdict, given)
    raise AssertionError  # count() has no end


def _draft_segment(options: SpecAgent, desk: Desk, ledger: Ledger, index: int) -> Protocol[Segment]:
    """Let the weak model draft, grounded in real observations, until something closes the segment."""
    steps: tuple[Step, ...] = ()
    while True:
        try:
            drafted = yield from roles.draft(desk, ledger.history, steps, f"s{index}.{len(steps) + 1}")
        except Ended as ended:
            if steps:
                yield from _close(index, steps, _cut_by(ended))
                yield from _abandon(index, steps, ended)
            raise
        if drafted is None:
            return (yield from _close(index, steps, "unusable_draft"))
        for taken, action in enumerate(drafted.actions, 1):
            step, reason = yield from _draft_step(options, desk, ledger, index, steps, action, drafted.request)
            steps = (*steps, step)
            if reason is not None:
                return (yield from _close(index, steps, reason, dropped=len(drafted.actions) - taken))


def _draft_step(  # noqa: PLR0913 - one step of one segment
    options: SpecAgent, desk: Desk, ledger: Ledger, index: int, steps: tuple[Step, ...], action: Action, request: int
) -> Protocol[tuple[Step, str | None]]:
    """Hold the action, or execute it at once; return the step and why the segment closes with it, if it does."""
    number, setup = len(steps) + 1, desk.setup
    step = Step(f"s{index}.{number}", action, setup.effect(action))
    wrong = objection(setup, action)
    desk.meter.steps += 1
    yield from tell(facts.step_drafted(step, index, number, request, wrong))

    if wrong is not None:  # never sent: the drafter reads why, and it counts as a step
        step = Step(step.position, action, step.effect, Observation(wrong, error=True))
        return step, _closing(options, ledger, steps, step)

    if options.holds(setup, action):
        yield from tell(facts.action_held(step, index, number))
        return step, "held"

    authority = {Effect.READ: "read", Effect.REPLY: "reply"}.get(step.effect, "unreviewed")
    step, acted = yield from ledger.execute(action, step.effect, authority, step.position)
    if step.effect is not Effect.READ:
        return step, step.effect.value
    if acted is not None and acted.after is not None and acted.before != acted.after:
        yield from tell(facts.effect_observed(step, acted))
        return Step(step.position, action, Effect.WRITE, step.observation), "effect_observed"
    return step, "finish" if ledger.outcome is not None else _closing(options, ledger, steps, step)


def _closing(options: SpecAgent, ledger: Ledger, steps: tuple[Step, ...], step: Step) -> str | None:
    """Return why a read closes its segment: the third of its kind since the last write, or the K-th step."""
    if options.stall == "review" and _repeats(ledger, steps, step) >= _THIRD_TIME:
        return "stalled"
    return "k_reads" if len(steps) + 1 >= options.k else None


def _repeats(ledger: Ledger, steps: tuple[Step, ...], step: Step) -> int:
    """Return how often the same step with the same observation came before, back to the last write."""
    repeats = 0
    for past in reversed((*ledger.history.steps, *steps)):
        if past.effect is Effect.WRITE and past.observation is not None and not past.observation.error:
            break
        repeats += (past.action, past.observation) == (step.action, step.observation)
    return repeats


def _close(index: int, steps: tuple[Step, ...], reason: str, dropped: int = 0) -> Protocol[Segment]:
    yield from tell(SegmentClosed(segment=index, steps=len(steps), reason=reason, dropped=dropped))
    return Segment(index, steps, reason)


def _commit(ledger: Ledger, segment: Segment, upto: int, *, reviewed: str) -> Protocol[None]:
    """Commit steps 1..upto; a held one joins the history when it is executed."""
    if upto == 0:
        return
    yield from tell(SegmentCommitted(segment=segment.index, start=1, end=upto, reviewed=reviewed))
    ledger.commit(*(step for step in segment.steps[:upto] if step.observation is not None))


def _abandon(index: int, steps: tuple[Step, ...], ended: Ended) -> Protocol[None]:
    """Discard what nobody will judge any more: the episode ends here."""
    yield from tell(StepsDiscarded(segment=index, start=1, end=len(steps), reason=_cut_by(ended)))


def _cut_by(ended: Ended) -> str:
    return "budget" if ended.outcome.status == "truncated" else "failed"


def _discard(segment: Segment, verdict: Verdict) -> Protocol[None]:
    reason = "unusable" if verdict.status == "unusable" else "rejected"
    start, end = verdict.accepted + 1, len(segment.steps)
    yield from tell(StepsDiscarded(segment=segment.index, start=start, end=end, reason=reason))


def _repair(  # noqa: PLR0913 - the rejection and where it stands
    options: SpecAgent, desk: Desk, ledger: Ledger, index: int, verdict: Verdict, given: int
) -> Protocol[None]:
    """Put the strong model's own step in place of the first rejected one: fused where it can be used, else a turn."""
    replacement = verdict.replacement if options.fused else None
    unusable = verdict.replacement_unusable if options.fused else None
    if replacement is not None:
        unusable = objection(desk.setup, replacement) or (yield from commands.check(replacement))
    if replacement is None or unusable is not None:
        reason = verdict.reason if options.repair_sees == "reason" else None
        yield from _corrective(desk, ledger, index, given, reason, unusable)
        return
    desk.meter.steps += 1
    repair = yield from tell(facts.fused_repair(index, given, replacement))
    effect = desk.setup.effect(replacement)
    yield from ledger.execute_and_commit(replacement, effect, f"repair:{repair}", f"s{index}.r1")


def _corrective(  # noqa: PLR0913 - the rejection and where it stands
    desk: Desk, ledger: Ledger, index: int, given: int | None, reason: str | None, fused_unusable: str | None
) -> Protocol[None]:
    """Take one strong message; run its actions in order, stop at the first error and drop the rest."""
    written = yield from roles.repair(desk, ledger.history, f"s{index}.r", reason)
    if written is None:
        raise Ended(Outcome("failed", "no_repair"))
    wrongs = tuple(objection(desk.setup, action) for action in written.actions)
    repair = yield from tell(facts.corrective_repair(index, given, written.actions, wrongs, fused_unusable))
    for number, (action, wrong) in enumerate(zip(written.actions, wrongs, strict=True), 1):
        desk.meter.steps += 1
        effect, position = desk.setup.effect(action), f"s{index}.r{number}"
        if wrong is None:
            step = yield from ledger.execute_and_commit(action, effect, f"repair:{repair}", position)
        else:  # never sent
            step = Step(position, action, effect, Observation(wrong, error=True))
            ledger.commit(step)
        failed = step.observation is None or step.observation.error
        if (failed or ledger.outcome is not None) and number < len(written.actions):
            rest = StepsDiscarded(
                segment=index, start=number + 1, end=len(written.actions), reason="after_error", repair=True
            )
            yield from tell(rest)
            return
