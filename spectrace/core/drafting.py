"""Drafting: the weak model writes steps, grounded in real observations, until something closes the segment."""

from dataclasses import dataclass

from spectrace.core import facts, roles
from spectrace.core.commands import Protocol, tell
from spectrace.core.events import SegmentClosed, StepsDiscarded
from spectrace.core.reading import objection
from spectrace.core.roles import Desk, Ended
from spectrace.core.specagent_options import SpecAgentOptions
from spectrace.core.steps import Ledger
from spectrace.core.types import Action, Effect, History, Observation, Segment, Step

_THIRD_TIME = 2
"""Identical steps before this one that make it a stall."""


@dataclass(frozen=True, slots=True)
class Drafting:
    """What one segment is drafted with. `history` holds what the drafter sees as done, steps still open included."""

    options: SpecAgentOptions
    desk: Desk
    ledger: Ledger
    history: History
    index: int


def draft_segment(drafting: Drafting) -> Protocol[Segment]:
    """Let the weak model draft a segment; where the episode ends meanwhile, discard what was drafted and raise."""
    steps: tuple[Step, ...] = ()
    index = drafting.index
    while True:
        try:
            drafted = yield from roles.draft(
                drafting.desk, drafting.history, steps, f"s{index}.{len(steps) + 1}", drafting.ledger.notes
            )
        except Ended as ended:
            if steps:
                yield from _close(index, steps, cut_by(ended))
                yield from abandon(Segment(index, steps, ""), ended)
            raise
        if drafted is None:
            return (yield from _close(index, steps, "unusable_draft"))
        for taken, action in enumerate(drafted.actions, 1):
            step, reason = yield from _draft_step(drafting, steps, action, drafted.request)
            steps = (*steps, step)
            if reason is not None:
                return (yield from _close(index, steps, reason, dropped=len(drafted.actions) - taken))


def abandon(segment: Segment, ended: Ended) -> Protocol[None]:
    """Discard what nobody will judge any more: the episode ends here."""
    yield from tell(
        StepsDiscarded(segment=segment.index, start=1, end=len(segment.steps), reason=cut_by(ended)),
    )


def cut_by(ended: Ended) -> str:
    """Return the reason of what an episode's end cuts off."""
    return "budget" if ended.outcome.status == "truncated" else "failed"


def _draft_step(
    drafting: Drafting, steps: tuple[Step, ...], action: Action, request: int
) -> Protocol[tuple[Step, str | None]]:
    """Hold the action, or execute it at once; return the step and why the segment closes with it, if it does."""
    desk, ledger, index, number = drafting.desk, drafting.ledger, drafting.index, len(steps) + 1
    step = Step(f"s{index}.{number}", action, desk.setup.effect(action))
    wrong = objection(desk.setup, action)
    desk.meter.steps += 1
    yield from tell(facts.step_drafted(step, index, number, request, wrong))

    if wrong is not None:  # never sent: the drafter reads why, and it counts as a step
        step = Step(step.position, action, step.effect, Observation(wrong, error=True))
        return step, _closing(drafting, steps, step)

    if drafting.options.holds(desk.setup, action):
        yield from tell(facts.action_held(step, index, number))
        return step, "held"

    authority = {Effect.READ: "read", Effect.REPLY: "reply"}.get(step.effect, "unreviewed")
    declared = step.effect
    try:
        step, _ = yield from ledger.execute(action, declared, authority, step.position)
    except Ended as ended:
        if desk.setup.revision == 1:
            raise
        ledger.outcome = ended.outcome  # nobody knows whether it happened: it stands, and is the last
    if declared is not Effect.READ:
        return step, declared.value
    if step.effect is not declared:
        return step, "effect_observed"
    return step, "finish" if ledger.outcome is not None else _closing(drafting, steps, step)


def _closing(drafting: Drafting, steps: tuple[Step, ...], step: Step) -> str | None:
    """Return why a read closes its segment: the third of its kind since the last write, or the K-th step."""
    if drafting.options.stall == "review" and _repeats(drafting.history, steps, step) >= _THIRD_TIME:
        return "stalled"
    return "k_reads" if len(steps) + 1 >= drafting.options.k else None


def _repeats(history: History, steps: tuple[Step, ...], step: Step) -> int:
    """Return how often the same step with the same observation came before, back to the last write."""
    repeats = 0
    for past in reversed((*history.steps, *steps)):
        if past.effect is Effect.WRITE and past.observation is not None and not past.observation.error:
            break
        repeats += (past.action, past.observation) == (step.action, step.observation)
    return repeats


def _close(index: int, steps: tuple[Step, ...], reason: str, dropped: int = 0) -> Protocol[Segment]:
    yield from tell(SegmentClosed(segment=index, steps=len(steps), reason=reason, dropped=dropped))
    return Segment(index, steps, reason)
