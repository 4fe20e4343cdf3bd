from itertools import count

from spectrace.core.events import Event, ReplyUnusable, StepDrafted
from spectrace.core.fold import fold
from spectrace.core.rival_events import ControlPassed, PlanMade, ProgressJudged, SpeculationMatched, StepSpeculated
from spectrace.core.types import Call
from spectrace.store.rival_samples import rivals
from spectrace.store.samples import sample_episode

TOLD = rivals(0, Call("find", "{}"), "word ".__mul__)


def test_every_event_of_the_rivals_is_there():
    assert {type(body) for body in TOLD} == {
        ReplyUnusable,
        PlanMade,
        StepSpeculated,
        StepDrafted,
        SpeculationMatched,
        ProgressJudged,
        ControlPassed,
    }


def test_the_guess_that_is_taken_is_the_one_that_was_made():
    events = [Event("e", seq, "", seq, body) for seq, body in zip(count(), [sample_episode(1)[0], *TOLD], strict=False)]
    (segment,) = fold(events).segments

    assert [(one.seq, one.fate) for one in segment.guesses] == [(3, "committed")]
