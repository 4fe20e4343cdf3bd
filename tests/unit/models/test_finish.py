import pytest

from spectrace.core.unwrapping import ENDED
from spectrace.models import finish


@pytest.mark.parametrize("value", [None, ""])
def test_nothing_is_no_reason(value):
    assert finish.read(value) == (None, ())


@pytest.mark.parametrize("value", ["stop", "length", "Length", "whatever"])
def test_a_text_stays_as_it_is(value):
    assert finish.read(value) == (value, ())


@pytest.mark.parametrize("kind", ["stop", "length", "abort"])
def test_an_object_with_a_type_is_that_reason_and_noted(kind):
    assert finish.read({"type": kind, "length": 16}) == (kind, ("the finish reason came as dict, not text",))


@pytest.mark.parametrize(
    "value", [["stop"], [], 5, 0, 1.5, True, False, {}, {"type": None}, {"type": ""}, {"reason": "stop"}, {"type": [1]}]
)
def test_what_is_no_text_becomes_one_that_is_no_end(value):
    text, notes = finish.read(value)

    assert text.startswith("not text: ")
    assert text.lower() not in ENDED
    assert notes == (f"the finish reason came as {type(value).__name__}, not text",)


def test_a_long_one_is_cut():
    assert len(finish.read(["x" * 5000])[0]) == 80


@pytest.mark.parametrize(
    ("values", "stands"),
    [
        ([], None),
        (["stop"], "stop"),
        (["length", "stop"], "length"),
        (["stop", "length"], "length"),
        (["length", "content_filter", "stop"], "length"),
        (["stop", "tool_calls"], "tool_calls"),
        (["STOP", "Tool_Calls"], "Tool_Calls"),
        ([{"type": "length"}, "stop"], {"type": "length"}),
        ([["x"], "stop"], ["x"]),
        ([0, "stop"], 0),
    ],
)
def test_the_first_reason_that_is_no_end_stands_else_the_last(values, stands):
    assert finish.settled(values)[0] == stands


def test_reasons_that_disagree_are_noted_each_once():
    _, notes = finish.settled(["length", "stop", "length", ["x"]])

    assert notes == ("""the stream told 3 finish reasons: 'length', 'stop', 'not text: ["x"]'""",)


@pytest.mark.parametrize("values", [[], ["stop"], ["length", "length"], [{"type": "stop"}, "stop"]])
def test_reasons_that_agree_are_nothing_odd(values):
    assert finish.settled(values)[1] == ()
