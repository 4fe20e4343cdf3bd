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
    events = (CASE / "stream.sse").read_text().split("\n\n")
    without_the_first_arguments = [event for event in events if "loan_id" not in event and "days" not in event]
    text = "\n\n".join(without_the_first_arguments).replace('"index": 1', '"index": 0')

    with pytest.raises(ModelFailed, match="a piece could belong to more than one call") as raised:
        received_text(text, "stream.sse")

    assert raised.value.kind == "invalid"
