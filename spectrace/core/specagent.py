"""START HERE: SpecAgent, readable beside PROTOCOL.md section 2.

A weak model drafts; reads run at once; the first action that would change the world is *held*; a strong model
reviews the segment in one pass, commits the longest valid prefix and repairs the first rejected step. This module is
the whole control flow: `roles.py` asks the models, `steps.py` executes and commits, `commands.py` holds the verbs.
"""

from dataclasses import dataclass
from itertools import count
from typing import ClassVar

from spectrace.core import commands, roles
from spectrace.core.commands import Protocol, tell
from spectrace.core.events import (
    ActionHeld,
    EffectObserved,
    RepairMade,
    SegmentClosed,
    SegmentCommitted,
    StepDrafted,
    StepsDiscarded,
    VerdictGiven,
)
from spectrace.core.reading import objection
from spectrace.core.roles import Budget, Desk, Ended, Written
from spectrace.core.setup import Setup
from spectrace.core.steps import Ledger, finish_episode, tool_of
from spectrace.core.types import Action, Effect, Observation, Outcome, Segment, Step, Verdict
from spectrace.errors import UsageError

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
        """Whether a closed segment is put to the strong model."""
        if not segment.steps:
            return False
        overdue = self.max_unreviewed is not None and unreviewed + len(segment.steps) >= self.max_unreviewed
        return segment.reason in {"held", "stalled"} or self.review == "every" or overdue


def _episode(options: SpecAgent, desk: Desk) -> Protocol[Outcome]:
    """Until the episode ends: draft a segment; commit it unreviewed, or review it and commit, execute or repair."""
    ledger = Ledger(desk, (yield from commands.reset(desk.setup.seed)))
    unreviewed = 0
    for index in count(1):
        segment = yield from _draft_segment(options, desk, ledger, index)

        if not options.reviews(segment, unreviewed):
            yield from _commit(ledger, segment, len(segment.steps), reviewed="no")
            unreviewed += len(segment.steps)
            if segment.reason == "unusable_draft":
                yield from _corrective(desk, ledger, index, None, None)
        else:
            verdict, verdict_seq = yield from _review(desk, ledger, segment)
            unreviewed = 0
            if verdict.accepts_all:
                yield from _commit(ledger, segment, len(segment.steps), reviewed="yes")
                yield from _execute_held(ledger, segment, verdict_seq)
            else:
                yield from _commit(ledger, segment, verdict.accepted, reviewed="yes")
                yield from _discard(segment, verdict)
                yield from _repair(options, desk, ledger, index, verdict, verdict_seq)

        if ledger.outcome is not None:
            return ledger.outcome
    raise AssertionError  # count() has no end


def _draft_segment(options: SpecAgent, desk: Desk, ledger: Ledger, index: int) -> Protocol[Segment]:
    """Let the weak model draft, grounded in real observations, until something closes the segment."""
    steps: tuple[Step, ...] = ()
    while True:
        drafted = yield from roles.draft(desk, ledger.history, steps, f"s{index}.{len(steps) + 1}")
        if drafted is None:
            return (yield from _close(index, steps, "unusable_draft", 0))
        for taken, action in enumerate(drafted.actions, 1):
            step, reason = yield from _drafted_step(options, desk, ledger, index, steps, action, drafted)
            steps = (*steps, step)
            desk.meter.steps += 1
            if reason is not None:
                return (yield from _close(index, steps, reason, len(drafted.actions) - taken))


def _drafted_step(  # noqa: PLR0913 - one step of one segment
    options: SpecAgent,
    desk: Desk,
    ledger: Ledger,
    index: int,
    steps: tuple[Step, ...],
    action: Action,
    drafted: Written,
) -> Protocol[tuple[Step, str | None]]:
    """Hold the action or execute it at once; return the step and why the segment closes with it, if it does."""
    setup, number = desk.setup, len(steps) + 1
    position, effect, tool = f"s{index}.{number}", setup.effect(action), tool_of(action)
    wrong = objection(setup, action)
    yield from tell(
        StepDrafted(
            effect=effect,
            tool=tool,
            segment=index,
            index=number,
            position=position,
            action=action,
            request=drafted.request,
            objection=wrong,
        )
    )
    if wrong is not None:  # never sent: the model reads why, and the step counts
        step = Step(position, action, effect, Observation(wrong, error=True))
        return step, _read_closes(options, ledger, steps, step)

    if options.holds(setup, action):
        yield from tell(
            ActionHeld(effect=effect, tool=tool, segment=index, index=number, position=position, action=action)
        )
        return Step(position, action, effect), "held"

    authority = {Effect.READ: "read", Effect.REPLY: "reply"}.get(effect, "unreviewed")
    step, acted = yield from ledger.execute(action, effect, authority, position)
    if effect is Effect.READ and acted is not None and acted.before != acted.after and acted.after is not None:
        yield from tell(
            EffectObserved(
                effect=Effect.WRITE,
                authority="unreviewed",
                tool=tool,
                request=acted.request,
                fingerprint_before=acted.before or "",
                fingerprint_after=acted.after,
            )
        )
        return Step(position, action, Effect.WRITE, step.observation), "effect_observed"
    if ledger.outcome is not None or effect is not Effect.READ:
        return step, effect.value if effect is not Effect.READ else "finish"
    return step, _read_closes(options, ledger, steps, step)


def _read_closes(options: SpecAgent, ledger: Ledger, steps: tuple[Step, ...], step: Step) -> str | None:
    """Return k_reads at the K-th step, stalled at the third identical step since the last write, else None."""
    if options.stall == "review" and _repeats(ledger, steps, step) >= 2:  # noqa: PLR2004 - the third time
        return "stalled"
    return "k_reads" if len(steps) + 1 >= options.k else None


def _repeats(ledger: Ledger, steps: tuple[Step, ...], step: Step) -> int:
    earlier = (*ledger.history.steps, *steps)
    repeats = 0
    for past in reversed(earlier):
        if past.effect is not Effect.READ and past.observation is not None and not past.observation.error:
            return repeats
        repeats += (past.action, past.observation) == (step.action, step.observation)
    return repeats


def _close(index: int, steps: tuple[Step, ...], reason: str, dropped: int) -> Protocol[Segment]:
    yield from tell(SegmentClosed(segment=index, steps=len(steps), reason=reason, dropped=dropped))
    return Segment(index, steps, reason)


def _review(desk: Desk, ledger: Ledger, segment: Segment) -> Protocol[tuple[Verdict, int]]:
    """Ask for the verdict on history + segment and record it."""
    verdict, review = yield from roles.review(desk, ledger.history, segment.steps, f"s{segment.index}")
    seq = yield from tell(verdict_given(verdict, segment.index, review))
    return verdict, seq


def verdict_given(verdict: Verdict, segment: int, review: int) -> VerdictGiven:
    """Return the fact of a verdict; `review` is the number of the model call that gave it."""
    return VerdictGiven(
        outcome=verdict.decision,
        segment=segment,
        drafted=verdict.drafted,
        accepted=verdict.accepted,
        category=verdict.category,
        reason=verdict.reason,
        replacement=verdict.replacement,
        status=verdict.status,
        cause=verdict.cause,
        raw=verdict.raw,
        review=review,
    )


def _commit(ledger: Ledger, segment: Segment, upto: int, *, reviewed: str) -> Protocol[None]:
    """Commit steps 1..upto; a held one joins the history when it is executed."""
    if upto == 0:
        return
    yield from tell(SegmentCommitted(segment=segment.index, start=1, end=upto, reviewed=reviewed))
    ledger.commit(*(step for step in segment.steps[:upto] if step.observation is not None))


def _discard(segment: Segment, verdict: Verdict) -> Protocol[None]:
    reason = "unusable" if verdict.status == "unusable" else "rejected"
    start, end = verdict.accepted + 1, len(segment.steps)
    yield from tell(StepsDiscarded(segment=segment.index, start=start, end=end, reason=reason))


def _execute_held(ledger: Ledger, segment: Segment, verdict_seq: int) -> Protocol[None]:
    held = segment.steps[-1]
    if segment.reason == "held":
        yield from ledger.execute_and_commit(held.action, held.effect, f"verdict:{verdict_seq}", held.position)


def _repair(  # noqa: PLR0913 - the rejection and where it stands
    options: SpecAgent, desk: Desk, ledger: Ledger, index: int, verdict: Verdict, verdict_seq: int
) -> Protocol[None]:
    """Put the strong model's own step in place of the first rejected one: fused where it can be used, else a turn."""
    replacement = verdict.replacement if options.fused else None
    unusable = None
    if replacement is not None:
        unusable = objection(desk.setup, replacement) or (yield from commands.check(replacement))
    if replacement is not None and unusable is None:
        desk.meter.steps += 1
        repair = yield from tell(_repair_made(index, verdict_seq, "fused", (replacement,), None, (None,)))
        effect = desk.setup.effect(replacement)
        yield from ledger.execute_and_commit(replacement, effect, f"repair:{repair}", f"s{index}.r1")
    else:
        reason = verdict.reason if options.repair_sees == "reason" else None
        yield from _corrective(desk, ledger, index, (verdict_seq, reason), unusable)


def _corrective(
    desk: Desk, ledger: Ledger, index: int, rejection: tuple[int, str | None] | None, fused_unusable: str | None
) -> Protocol[None]:
    """Take one strong message; run its actions in order, stop at the first error and drop the rest."""
    verdict_seq, reason = rejection or (None, None)
    written = yield from roles.repair(desk, ledger.history, f"s{index}.r", reason)
    if written is None:
        raise Ended(Outcome("failed", "no_repair"))
    wrongs = tuple(objection(desk.setup, action) for action in written.actions)
    repair = yield from tell(_repair_made(index, verdict_seq, "corrective", written.actions, fused_unusable, wrongs))
    for number, (action, wrong) in enumerate(zip(written.actions, wrongs, strict=True), 1):
        desk.meter.steps += 1
        effect, position = desk.setup.effect(action), f"s{index}.r{number}"
        if wrong is not None:  # never sent
            step = Step(position, action, effect, Observation(wrong, error=True))
            ledger.commit(step)
        else:
            step = yield from ledger.execute_and_commit(action, effect, f"repair:{repair}", position)
        failed = step.observation is None or step.observation.error
        if (failed or ledger.outcome is not None) and number < len(written.actions):
            last = len(written.actions)
            yield from tell(
                StepsDiscarded(segment=index, start=number + 1, end=last, reason="after_error", repair=True)
            )
            return


def _repair_made(  # noqa: PLR0913 - the fact's own fields
    index: int,
    verdict: int | None,
    kind: str,
    actions: tuple[Action, ...],
    fused_unusable: str | None,
    objections: tuple[str | None, ...],
) -> RepairMade:
    return RepairMade(
        tool=tool_of(actions[0]),
        segment=index,
        verdict=verdict,
        kind=kind,
        actions=actions,
        fused_unusable=fused_unusable,
        objections=objections,
    )
