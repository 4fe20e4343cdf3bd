import json

from spectrace.core.types import Call, Finish, Reply
from spectrace.testing import accept, call, finish, reject, reply
from spectrace.testing.replies import written


def test_actions_are_their_values():
    said = call("get_order", order_id="W200", deep={"tool": [1]}), reply("Which?"), finish("Done.")

    assert said == (
        Call("get_order", '{"order_id": "W200", "deep": {"tool": [1]}}'),
        Reply("Which?"),
        Finish("Done."),
    )


def test_an_argument_may_have_the_name_of_the_first_parameter():
    assert call("rename", tool="x") == Call("rename", '{"tool": "x"}')


def test_a_verdict_is_the_text_that_a_reviewer_writes():
    assert json.loads(accept()) == {"verdict": "accept"}
    assert json.loads(reject(2, call("look", id="A"), "unsafe", "look first")) == {
        "verdict": "reject",
        "first_wrong": 2,
        "category": "unsafe",
        "reason": "look first",
        "replacement": {"tool": "look", "arguments": {"id": "A"}},
    }


def test_an_action_is_written_as_a_model_without_native_calls_writes_it():
    assert [written(one) for one in (Call("look", "{ }"), Reply("ü"), Finish("x"))] == [
        '{"tool": "look", "arguments": { }}',
        '{"reply": "ü"}',
        '{"finish": "x"}',
    ]
