"""What rivals of SpecAgent tell, one event of each type: the end of a made-up episode of `samples`."""

from collections.abc import Callable

from spectrace.core import events as e
from spectrace.core.types import Call

_SEGMENT = 9


def rivals(request: int, guess: Call, text: Callable[[int], str]) -> list[e.Body]:
    """Return the events that follow on from number `request`; `text` makes at most so many words."""
    drafted = e.StepDrafted(
        effect="read",
        tool=guess.tool,
        segment=_SEGMENT,
        index=1,
        position="s9.1",
        action=guess,
        request=request,
    )
    guessed = e.StepSpeculated(
        effect="read",
        tool=guess.tool,
        segment=_SEGMENT,
        index=1,
        position="s9.g1",
        action=guess,
        request=request,
        launched=False,
    )
    return [
        e.ReplyUnusable(role="drafter", request=request, cause=text(9), next="tolerated"),
        e.PlanMade(segment=_SEGMENT, request=request, plan=text(40)),
        guessed,
        drafted,
        e.SpeculationMatched(segment=_SEGMENT, position="s9.1", guess=request + 3),
        e.ProgressJudged(
            outcome="stagnation", segment=_SEGMENT, who="weak", request=request, reason=text(20), failures=1
        ),
        e.ControlPassed(segment=_SEGMENT, to="strong", reason="stagnation", steps=2),
    ]
