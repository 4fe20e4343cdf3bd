"""Case 006: pieces under a wrong index, or none, reach the call that they belong to, or the reply is refused."""

import json
from pathlib import Path

import pytest

from spectrace.errors import ModelFailed
from tests.wire import received, received_text

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())


@pytest.mark.parametrize("name", EXPECTED)
def test_each_call_has_its_own_arguments(name):
    answer = received(CASE / name)

    assert [{"name": call.name, "arguments": json.loads(call.arguments)} for call in answer.message.calls] == EXPECTED[
        name
    ]["steps"]


@pytest.mark.parametrize(
    ("name", "anomaly"),
    [
        ("stream.sse", "two tool calls carry the index 0"),
        ("stream_no_index.sse", "a piece of a tool call has no index"),
    ],
)
def test_the_odd_labels_are_recorded_with_the_stream(name, anomaly):
    said = json.loads(received(CASE / name).server)

    assert said["anomalies"] == [anomaly]
    assert said["raw"] == (CASE / name).read_text()


def test_where_it_cannot_be_decided_nothing_is_called():
    tail_of_either = (CASE / "stream.sse").read_text().replace('"index": 1', '"index": 0').replace("loan_id", "lo")
    first_without_arguments = tail_of_either.replace(r"{\"lo\":5001,", "").replace(r"\"days\":7}", "")

    with pytest.raises(ModelFailed, match="cannot be told apart") as raised:
        received_text(first_without_arguments, "stream.sse")

    assert raised.value.kind == "invalid"
