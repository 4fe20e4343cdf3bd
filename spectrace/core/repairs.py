"""Repairs: the strong model's own step in place of the first rejected one. Fused where it can be used, else a turn."""

from dataclasses import dataclass

from spectrace.core import commands, facts, roles
from spectrace.core.commands import Protocol, tell
from spectrace.core.events import StepsDiscarded
from spectrace.core.reading import objection
from spectrace.core.roles import Desk, Ended
from spectrace.core.specagent_options import SpecAgentOptions
from spectrace.core.steps import Ledger
from spectrace.core.types import Observation, Outcome, Step, Verdict


@dataclass(frozen=True, slots=True)
class Rejection:
    """A verdict that leaves something to repair: its event number, the step that it rejects, the call that gave it."""

    verdict: Verdict
    given: int
    step: Step
    review: int | None


def repair(options: SpecAgentOptions, desk: Desk, ledger: Ledger, index: int, rejection: Rejection) -> Protocol[None]:
    """Do the verdict's replacement, or take a corrective turn where there is none that can be done."""
    verdict = rejection.verdict
    replacement = verdict.replacement if options.fused else None
    unusable = verdict.replacement_unusable if options.fused else None
    if replacement is not None:
        unusable = objection(desk.setup, replacement) or (yield from commands.check(replacement))
    if replacement is None or unusable is not None:
        shown = _shown(rejection, options.repair_sees)
        yield from corrective(desk, ledger, index, rejection.given, shown, unusable)
        return
    desk.meter.steps += 1
    made = yield from tell(facts.fused_repair(index, rejection.given, replacement))
    effect = desk.setup.effect(replacement)
    authority = desk.authority(rejection.review, f"repair:{made}")
    yield from ledger.execute_and_commit(replacement, effect, authority, f"s{index}.r1")


def corrective(  # noqa: PLR0913 - the rejection and where it stands
    desk: Desk,
    ledger: Ledger,
    index: int,
    given: int | None,
    shown: roles.Shown | None = None,
    fused_unusable: str | None = None,
) -> Protocol[None]:
    """Take one strong message; run its actions in order, stop at the first error and drop the rest.

    `given` is the verdict's event number, None where nothing was reviewed; `shown` what the model is told of it.
    """
    written = yield from roles.repair(desk, ledger.history, f"s{index}.r", shown)
    if written is None:
        raise Ended(Outcome("failed", "no_repair"))
    wrongs = tuple(objection(desk.setup, action) for action in written.actions)
    made = yield from tell(facts.corrective_repair(index, given, written.actions, wrongs, fused_unusable))
    for number, (action, wrong) in enumerate(zip(written.actions, wrongs, strict=True), 1):
        desk.meter.steps += 1
        effect, position = desk.setup.effect(action), f"s{index}.r{number}"
        rest = StepsDiscarded(
            segment=index, start=number + 1, end=len(written.actions), reason="after_error", repair=True
        )
        if wrong is None:
            try:
                step = yield from ledger.execute_and_commit(action, effect, f"repair:{made}", position)
            except Ended:  # nobody knows whether it happened; what follows it did not
                if rest.start <= rest.end and desk.setup.revision > 1:
                    yield from tell(rest)
                raise
        else:  # never sent
            step = Step(position, action, effect, Observation(wrong, error=True))
            ledger.commit(step)
        failed = step.observation is None or step.observation.error
        if (failed or ledger.outcome is not None) and rest.start <= rest.end:
            yield from tell(rest)
            return


def _shown(rejection: Rejection, sees: str) -> roles.Shown | None:
    """Return what the corrective turn is shown; an unusable verdict rejected nothing, so there is nothing to show."""
    verdict = rejection.verdict
    if verdict.reason is None or sees == "nothing":
        return None
    return roles.Shown(verdict.reason, rejection.step.action if sees == "draft" else None)
