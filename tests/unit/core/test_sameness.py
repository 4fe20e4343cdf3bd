"""Two actions are the same, or not."""

import pytest

from spectrace.core.sameness import same_action
from spectrace.core.types import Call, Finish, Reply


def call(arguments: str, tool: str = "look") -> Call:
    return Call(tool, arguments)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (call('{"a": 1, "b": [true, null]}'), call('{"b":[true,null],"a":1}')),
        (call(""), call("{}")),
        (call('{"a": "\\u00e9"}'), call('{"a": "é"}')),
        (call('{"a": 123456789012345678901234567890}'), call('{"a":123456789012345678901234567890}')),
        (call("{broken"), call("{broken")),
        (Reply("yes"), Reply("yes")),
    ],
)
def test_what_means_the_same_is_the_same(one, other):
    assert same_action(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (call('{"a": 1}'), call('{"a": 1.0}')),
        (call('{"a": 1}'), call('{"a": true}')),
        (call('{"a": 1}'), call('{"a": "1"}')),
        (call('{"a": [1, 2]}'), call('{"a": [2, 1]}')),
        (call('{"a": 123456789012345678901}'), call('{"a": 123456789012345678902}')),
        (call('{"a": 1}'), call('{"a": {"\\u0000number": "1"}}')),
        (call('{"a": 1}'), call('{"a": ["number", "1"]}')),
        (call('{"a": NaN}'), call('{"a": "NaN"}')),
        (call('{"a": 0}'), call('{"a": false}')),
        (call('{"a": null}'), call('{"a": "None"}')),
        (call("{}"), call("{}", tool="change")),
        (call("{broken"), call("{broken ")),
        (Reply("yes"), Finish("yes")),
        (Reply("yes"), Reply("yes ")),
    ],
)
def test_what_could_do_something_else_is_not(one, other):
    assert not same_action(one, other)
