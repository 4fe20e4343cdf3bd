"""The branches of the protocols without review, by name, and how to see in a recorded episode that one was taken."""

from spectrace.core.events import (
    ActFailed,
    ActRequested,
    ControlPassed,
    EffectObserved,
    PlanMade,
    ProgressJudged,
    ReplyUnusable,
    SpeculationMatched,
    StepDrafted,
    StepsDiscarded,
    StepSpeculated,
)
from spectrace.core.types import Call
from tests.properties.branches import Taken, ended, told
from tests.properties.played import Played


def _speculated(*, launched: bool, **fields: object) -> Taken:
    return told(StepSpeculated, launched=launched, **fields)


def _never_launched(played: Played) -> bool:
    """Guess a look-up at an outside party, and leave it alone."""
    return any(
        isinstance(event.body.action, Call) and event.body.action.tool == "search" and not event.body.launched
        for event in played.all(StepSpeculated)
    )


ACTING: dict[str, Taken] = {
    "a step": told(ActRequested, authority="actor"),
    "never sent": lambda played: any(event.body.objection for event in played.all(StepDrafted)),
    "several calls with an error in the middle": told(StepsDiscarded, reason="after_error"),
    "a look-up changed the state": told(EffectObserved, authority="actor"),
    "a look-up without an answer": told(ActFailed, effect="read"),
    "an indeterminate write": told(ActFailed, effect="write", outcome="indeterminate"),
    "a form that is tolerated": told(ReplyUnusable, next="tolerated"),
    "a reply is asked for again": told(ReplyUnusable, next="asked_again"),
    "budget: steps": ended("truncated", "max_steps"),
    "budget: tokens": ended("truncated", "max_tokens"),
    "the user's model fails": ended("failed", "model_user_unreachable"),
    "the environment ends the episode": ended("completed", "environment_done"),
    "finished": ended("completed", "finished"),
}
"""Of every protocol whose steps are an actor's."""
GUESSED: dict[str, Taken] = ACTING | {
    "a guess is launched": _speculated(launched=True),
    "a guessed write is not": _speculated(launched=False, effect="write"),
    "a guessed reply is not": _speculated(launched=False, effect="reply"),
    "a guess that sends data outside is not": _never_launched,
    "a guess is right": lambda played: bool(played.all(SpeculationMatched)),
    "a guess is lost": told(StepsDiscarded, reason="speculation_lost"),
    "a guessed look-up changed the state": told(EffectObserved, authority="speculative"),
    "a guess without an answer": told(ActFailed, authority="speculative"),
    "budget: strong calls": ended("truncated", "max_strong_calls"),
    "unreadable, twice": ended("failed", "unusable_reply"),
}
COLLABORATED: dict[str, Taken] = ACTING | {
    "a plan": lambda played: bool(played.all(PlanMade)),
    "no plan": ended("failed", "no_plan"),
    "progress": told(ProgressJudged, outcome="progress"),
    "stagnation": told(ProgressJudged, outcome="stagnation"),
    "a judgement that cannot be read": told(ProgressJudged, outcome="unusable"),
    "the strong model takes over": told(ControlPassed, reason="stagnation", to="strong"),
    "it hands back after progress": told(ControlPassed, reason="progress", to="weak"),
    "it hands back without": told(ControlPassed, reason="budget_spent", to="weak"),
    "it is given longer": lambda played: any((event.body.steps or 0) > 2 for event in played.all(ControlPassed)),
    "budget: strong calls": ended("truncated", "max_strong_calls"),
}
