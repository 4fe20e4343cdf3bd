"""Case 010, the wire: the content says what was called; a finish reason that disagrees is recorded."""

import json
from pathlib import Path

import pytest

from tests.wire import received

CASE = Path(__file__).parent
NOTES = {
    "calls_promised_none_present.json": "the finish reason is 'tool_calls', and there is no call",
    "calls_promised_empty_list.json": "the finish reason is 'tool_calls', and there is no call",
    "stop_but_call_present.json": "the finish reason is 'stop', and there is a call",
}


@pytest.mark.parametrize(("name", "expected"), json.loads((CASE / "expected.json").read_text()).items())
def test_the_disagreement_is_recorded_with_the_body(name, expected):
    answer = received(CASE / name)

    assert len(answer.message.calls) == expected["n_steps"]
    assert json.loads(answer.server) == {"anomalies": [NOTES[name]], "raw": (CASE / name).read_text()}
