"""Executing and committing steps: what SpecAgent and the baselines share between a decision and the history.

The ledger is the one place where an action reaches the environment and where a step enters the history.
"""

from dataclasses import dataclass, field, replace

from spectrace.core import commands
from spectrace.core.commands import Acted, Began, CommandFailed, Protocol, tell
from spectrace.core.events import StateMoved
from spectrace.core.facts import effect_observed
from spectrace.core.roles import Desk, Ended
from spectrace.core.types import Action, Effect, Finish, History, Observation, Outcome, Step

_JUDGED = ("verdict:", "person:")
"""On whose word an action is executed that was held until then."""


@dataclass(slots=True)
class Ledger:
    """The history so far, the outcome once there is one, and the state's last known fingerprint."""

    desk: Desk
    began: Began
    history: History = field(init=False)
    outcome: Outcome | None = None
    fingerprint: str | None = None
    notes: tuple[tuple[int, str], ...] = ()
    """What the drafter is told of rejections: (steps of the history before it, the reason)."""

    def __post_init__(self) -> None:
        """Open the history with the environment's messages."""
        self.history = History(self.began.opening.messages)
        self.fingerprint = self.began.fingerprint
        if self.began.opening.done:
            self.outcome = Outcome("completed", "environment_done")

    def commit(self, *steps: Step) -> None:
        """Let steps enter the history."""
        self.history = self.history.then(*steps)

    def note(self, reason: str) -> None:
        """Tell the drafter, from here on, why its step was rejected."""
        self.notes = (*self.notes, (len(self.history.steps), reason))

    def execute(
        self, action: Action, effect: Effect, authority: str, position: str
    ) -> Protocol[tuple[Step, Acted | None]]:
        """Let the action reach the environment.

        A read that got no answer is an error that the model reads. Anything else that got none may have happened: the
        episode ends rather than act on a state that nobody knows.
        """
        held_at = self.fingerprint
        try:
            acted = yield from commands.act(action, effect, authority, position)
        except CommandFailed as failure:
            if failure.what == "act" and effect is Effect.READ:
                return Step(position, action, effect, Observation(f"no answer: {failure.error}", error=True)), None
            raise Ended(_not_answered(failure)) from failure
        moved = authority.startswith(_JUDGED) and None not in {held_at, acted.before} and held_at != acted.before
        if moved:
            yield from tell(
                StateMoved(position=position, fingerprint_held=held_at or "", fingerprint_executed=acted.before or "")
            )
        self.fingerprint = acted.after
        self.outcome = self.outcome or _outcome(action, acted.observation)
        step = Step(position, action, effect, acted.observation)
        if self._changed(effect, authority, acted):
            by = "unreviewed" if authority == "read" else authority
            yield from tell(effect_observed(step, acted, by))
            step = replace(step, effect=Effect.WRITE)
        return step, acted

    def _changed(self, effect: Effect, authority: str, acted: Acted) -> bool:
        """Whether a declared read changed the state: it was a write. Revision 1 looked at the drafter's own only."""
        looks = effect is Effect.READ and (authority == "read" or self.desk.setup.revision > 1)
        return looks and acted.after is not None and acted.before != acted.after

    def execute_and_commit(self, action: Action, effect: Effect, authority: str, position: str) -> Protocol[Step]:
        """Execute the action and let it enter the history."""
        step, _ = yield from self.execute(action, effect, authority, position)
        self.commit(step)
        return step


def _outcome(action: Action, observation: Observation) -> Outcome | None:
    if isinstance(action, Finish) and not observation.error:
        return Outcome("completed", "finished", answer=action.text)
    return Outcome("completed", "environment_done") if observation.done else None


def _not_answered(failure: CommandFailed) -> Outcome:
    if failure.what == "generate":
        return Outcome("failed", f"model_user_{failure.kind}")
    return Outcome("failed", "indeterminate" if failure.what == "act" else f"environment_{failure.kind}")


def finish_episode(episode: Protocol[Outcome]) -> Protocol[Outcome]:
    """Run an episode to its end and grade it: a truncated one scores 0, a failed one is not graded."""
    try:
        outcome = yield from episode
    except Ended as ended:
        outcome = ended.outcome
    except CommandFailed as failure:
        outcome = _not_answered(failure)
    if outcome.status == "truncated":
        return replace(outcome, reward="0.0")
    if outcome.status != "completed":
        return outcome
    try:
        evaluation = yield from commands.evaluate()
    except CommandFailed:  # evaluate.failed says why; the episode itself went to its end
        return outcome
    return replace(outcome, reward=evaluation.reward)
