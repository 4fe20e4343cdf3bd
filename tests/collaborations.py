"""Made-up episodes of two models: one in which control passes, one whose verdict is scored. For unit tests."""

from dataclasses import replace

from spectrace.core.events import (
    ActionHeld,
    Body,
    ControlPassed,
    GenerateRequested,
    PlanMade,
    ProgressJudged,
    ReplyUnusable,
    SegmentClosed,
    SegmentCommitted,
    StepDrafted,
    StepsDiscarded,
    VerdictGiven,
)
from spectrace.core.types import Action
from tests.guesses import CANCEL, FIND, answered, asked, started


def _calls(who: str, position: str) -> GenerateRequested:
    return GenerateRequested(
        role="actor", who=who, position=position, messages=(), tools_digest=None, response_schema=None, parameters="{}"
    )


def _drafts(segment: int, index: int, action: Action, effect: str, request: int) -> StepDrafted:
    tool, position = getattr(action, "tool", None), f"s{segment}.{index}"
    return StepDrafted(
        effect=effect, tool=tool, segment=segment, index=index, position=position, action=action, request=request
    )


def bodies() -> list[Body]:
    """The strong model plans, the weak one takes a step and stagnates, the strong one goes on."""
    stays = SegmentCommitted(segment=1, start=1, end=1, reviewed="not_applicable")
    judged = ProgressJudged(outcome="stagnation", segment=1, who="weak", request=0, reason="the same again", failures=1)
    return [
        started(),
        PlanMade(segment=1, request=0, plan="Find the order, then cancel it."),
        ControlPassed(segment=1, to="weak", reason="planned", steps=None),
        _calls("weak", "s1"),
        _drafts(1, 1, FIND, "read", 3),
        asked("s1.1", FIND, "actor"),
        answered(5, "s1.1", "pending"),
        stays,
        judged,
        ControlPassed(segment=2, to="strong", reason="stagnation", steps=2),
        _calls("strong", "s2"),
        _calls("strong", "s2"),
        ReplyUnusable(role="actor", request=11, cause="a fence around the JSON", next="tolerated"),
        _drafts(2, 1, CANCEL, "write", 11),
        replace(stays, segment=2),
    ]


def scored() -> list[Body]:
    """A read and a held write; the scored verdict accepts the first."""
    verdict = VerdictGiven(
        outcome="reject",
        segment=1,
        drafted=2,
        accepted=1,
        category="premature",
        reason="too early",
        replacement=None,
        status="ok",
        cause=None,
        raw="{}",
        review=None,
        probabilities='["0.990000", "0.120000"]',
    )
    return [
        started(),
        _calls("weak", "s1.1"),
        _drafts(1, 1, FIND, "read", 1),
        _drafts(1, 2, CANCEL, "write", 1),
        ActionHeld(effect="write", tool=CANCEL.tool, segment=1, index=2, position="s1.2", action=CANCEL),
        SegmentClosed(segment=1, steps=2, reason="held"),
        verdict,
        SegmentCommitted(segment=1, start=1, end=1, reviewed="yes"),
        StepsDiscarded(segment=1, start=2, end=2, reason="rejected"),
    ]
