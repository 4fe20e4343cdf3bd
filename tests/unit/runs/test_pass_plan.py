import pytest

from spectrace.errors import UsageError
from spectrace.runs.pass_plan import Plan

PLAN = Plan("again", "sglang:strong", "sha256:ab", only_rejected=True, repeat=3)


def test_a_plan_comes_back_from_the_settings_of_its_run():
    assert Plan.from_json("again", PLAN.to_json()) == PLAN
    assert Plan.from_json("again", Plan("again", "m").to_json()) == Plan("again", "m")


def test_settings_from_before_there_were_repeats_mean_one():
    old = '{"only_rejected": false, "prompts": null, "verifier": "m"}'

    assert Plan.from_json("again", old) == Plan("again", "m", repeat=1)


@pytest.mark.parametrize("settings", ["{}", "[]", '{"verifier": 1}', '{"verifier": "m", "repeat": 0}'])
def test_settings_of_something_else_are_refused(settings):
    with pytest.raises(UsageError, match="run 'again' has settings that are none of a re-verification"):
        Plan.from_json("again", settings)
