from dataclasses import fields

import pytest

from spectrace.core import rival_events
from spectrace.core.events import HEADER_FIELDS, TYPE_NUMBERS
from spectrace.core.rival_events import ControlPassed, PlanMade, ProgressJudged, SpeculationMatched, StepSpeculated

RIVALS = {StepSpeculated, SpeculationMatched, PlanMade, ProgressJudged, ControlPassed}


def test_every_class_of_the_module_is_in_the_vocabulary():
    mine = {one for one in vars(rival_events).values() if isinstance(one, type) and hasattr(one, "TYPE")}

    assert mine == RIVALS <= set(TYPE_NUMBERS)


@pytest.mark.parametrize(
    ("cls", "lifted"),
    [(StepSpeculated, {"effect", "tool"}), (ProgressJudged, {"outcome"}), (SpeculationMatched, set())],
)
def test_a_guess_shows_its_effect_and_a_judgement_its_outcome_in_the_header(cls, lifted):
    assert {field.name for field in fields(cls)} & set(HEADER_FIELDS) == lifted
