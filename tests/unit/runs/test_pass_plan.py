import json

import pytest

from spectrace.core.rereviews import Scope
from spectrace.errors import UsageError
from spectrace.runs.pass_plan import Plan

PLAN = Plan("again", "sglang:strong", "sha256:ab", only_rejected=True, repeat=3)


def test_a_plan_comes_back_from_the_settings_of_its_run():
    assert Plan.from_json("again", PLAN.to_json()) == PLAN
    assert Plan.from_json("again", Plan("again", "m").to_json()) == Plan("again", "m")


def test_settings_from_before_there_were_repeats_mean_one():
    old = '{"only_rejected": false, "prompts": null, "verifier": "m"}'

    assert Plan.from_json("again", old) == Plan("again", "m", repeat=1)


@pytest.mark.parametrize(
    "settings",
    [
        "{}",
        "[]",
        '{"verifier": 1}',
        '{"verifier": "m", "repeat": 0}',
        '{"verifier": "m", "verdict": "sung"}',
        '{"verifier": "m", "verdict": ["scored"]}',
        '{"verifier": "m", "verdict": "scored", "threshold": "2"}',
        '{"verifier": "m", "verdict": "scored", "threshold": 0.5}',
    ],
)
def test_settings_of_something_else_are_refused(settings):
    with pytest.raises(UsageError, match="run 'again' has settings that are none of a re-verification"):
        Plan.from_json("again", settings)


SCORED = Plan("again", "m", verdict="scored", threshold="0.7")


def test_how_verdicts_are_read_is_among_the_settings_and_in_what_a_child_is_to_judge():
    assert Plan.from_json("again", SCORED.to_json()) == SCORED
    assert (Plan("again", "m").reading, SCORED.reading) == ("decoded verdicts", "verdicts scored at 0.7")
    assert SCORED.scope(2, (1, 3)) == Scope(repeat=2, segments=(1, 3), verdict="scored", threshold="0.7")


def test_the_settings_of_decoded_verdicts_are_what_they_were_before_there_were_others():
    assert json.loads(Plan("again", "m").to_json()).keys() == {"verifier", "prompts", "only_rejected", "repeat"}
    assert Plan.from_json("again", '{"verifier": "m", "verdict": "decoded", "threshold": "0.9"}') == Plan("again", "m")
