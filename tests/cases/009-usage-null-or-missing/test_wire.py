"""Case 009: a count that is missing or null is unknown, never 0, and loses neither the reply nor the other counts."""

import json
from pathlib import Path

import pytest

from spectrace.core.events import GenerateCompleted
from spectrace.core.types import Usage
from tests.lending_desk import play
from tests.playbook import accept
from tests.wire import received

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())


@pytest.mark.parametrize("name", EXPECTED)
def test_an_unknown_count_is_none_and_a_known_one_is_kept(name):
    answer = received(CASE / name)

    assert answer.message.content == "done"
    assert {"prompt": answer.usage.input, "completion": answer.usage.output} == EXPECTED[name]
    assert (answer.usage.cached, answer.usage.reasoning) == (None, None)


def test_an_episode_goes_on_and_records_what_is_unknown_as_unknown():
    desk = play([received(CASE / "usage_null_inside.json")], [accept()], native=True)
    recorded = [said.usage for said in desk.bodies(GenerateCompleted)]

    assert recorded == [Usage(input=57), Usage()]
    assert desk.ended.outcome == "completed"
