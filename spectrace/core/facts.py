"""The facts that protocols tell, built from the steps and verdicts that they are about."""

from spectrace.core.commands import Acted
from spectrace.core.events import ActionHeld, EffectObserved, RepairMade, StepDrafted, StepSpeculated, VerdictGiven
from spectrace.core.types import Action, Call, Effect, Step, Verdict


def tool_of(action: Action) -> str | None:
    """Return the name of the tool that an action calls."""
    return action.tool if isinstance(action, Call) else None


def step_drafted(step: Step, segment: int, index: int, request: int, objection: str | None) -> StepDrafted:
    """Say that a model wrote a step; `objection`: why it was never sent."""
    return StepDrafted(
        effect=step.effect,
        tool=tool_of(step.action),
        segment=segment,
        index=index,
        position=step.position,
        action=step.action,
        request=request,
        objection=objection,
    )


def step_speculated(step: Step, segment: int, index: int, request: int, *, launched: bool) -> StepSpeculated:
    """Say that the weak model guessed a step of the strong one; `launched`: it only reads, and is started."""
    return StepSpeculated(
        effect=step.effect,
        tool=tool_of(step.action),
        segment=segment,
        index=index,
        position=step.position,
        action=step.action,
        request=request,
        launched=launched,
    )


def action_held(step: Step, segment: int, index: int) -> ActionHeld:
    """Say that a step waits for the verdict."""
    return ActionHeld(
        effect=step.effect,
        tool=tool_of(step.action),
        segment=segment,
        index=index,
        position=step.position,
        action=step.action,
    )


def effect_observed(step: Step, acted: Acted, authority: str = "unreviewed") -> EffectObserved:
    """Say that a declared read changed the state: an executed write that nobody reviewed."""
    return EffectObserved(
        effect=Effect.WRITE,
        authority=authority,
        tool=tool_of(step.action),
        request=acted.request,
        fingerprint_before=acted.before or "",
        fingerprint_after=acted.after or "",
    )


def verdict_given(verdict: Verdict, segment: int, review: int | None) -> VerdictGiven:
    """Say what the reviewer decided; `review` is the number of the model call that gave it."""
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
        probabilities=verdict.probabilities,
    )


def fused_repair(segment: int, verdict: int, action: Action) -> RepairMade:
    """Say that the verdict's own replacement is done."""
    return RepairMade(
        tool=tool_of(action),
        segment=segment,
        verdict=verdict,
        kind="fused",
        actions=(action,),
        fused_unusable=None,
        objections=(None,),
    )


def corrective_repair(
    segment: int,
    verdict: int | None,
    actions: tuple[Action, ...],
    objections: tuple[str | None, ...],
    fused_unusable: str | None,
) -> RepairMade:
    """Say that one strong message is done, action by action; an objection keeps its action from being sent."""
    return RepairMade(
        tool=tool_of(actions[0]),
        segment=segment,
        verdict=verdict,
        kind="corrective",
        actions=actions,
        fused_unusable=fused_unusable,
        objections=objections,
    )
