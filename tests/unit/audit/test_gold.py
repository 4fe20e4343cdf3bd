import json
from dataclasses import replace

import pytest

from spectrace.audit.gold import gold_actions, is_gold
from spectrace.core.events import Origin
from spectrace.core.types import Call, Task
from spectrace.environments.tau2 import open_tau2
from spectrace.store.samples import sample_episode

BOOK = {"name": "book", "arguments": {"flight": "F1", "seats": 2}}


def started(actions, *, environment="tau2:airline", unfit=None):
    """An episode's start with those gold actions; Ellipsis: its task does not speak of them."""
    criteria = {} if actions is ... else {"actions": actions}
    first = sample_episode(1)[0]
    return replace(
        first,
        task=Task("1", "Book.", json.dumps({"evaluation_criteria": criteria})),
        environment=replace(first.environment, name=environment),
        origin=Origin("tau2", "results.json", "sha256:0", "0", unfit=unfit),
    )


def held(arguments, tool="book"):
    return Call(tool, arguments if isinstance(arguments, str) else json.dumps(arguments))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (held({"seats": 2, "flight": "F1"}), True),
        (held('{"flight":"F1",\t"seats":2.0}'), True),
        (held({"flight": "F1"}), True),  # those of the call are compared, as the benchmark does
        (held({}), True),
        (held({"flight": "F1", "seats": 3}), False),
        (held({"flight": "F1", "seats": 2, "bags": 1}), False),
        (held({"flight": "F1", "seats": 2}, "cancel"), False),
        (held("[1]"), False),
        (held("{"), False),
        (held("[" * 100_000), False),
    ],
)
def test_a_call_is_compared_by_its_name_and_its_own_arguments(call, expected):
    assert is_gold(call, gold_actions(started([BOOK]))) is expected


@pytest.mark.parametrize(
    ("compared", "arguments", "expected"),
    [
        (["flight"], {"flight": "F1", "seats": 9}, True),
        (["flight"], {"seats": 2}, False),
        ([], {"flight": "other"}, True),
    ],
)
def test_where_the_task_names_arguments_those_alone_are_compared(compared, arguments, expected):
    assert is_gold(held(arguments), gold_actions(started([BOOK | {"compare_args": compared}]))) is expected


@pytest.mark.parametrize(
    "first",
    [
        started(...),
        started(None),
        started([BOOK], environment="shop"),
        started([BOOK], unfit="it is filed under another task"),
        replace(started([BOOK]), task=Task("1", "Book.", "not JSON")),
        replace(started([BOOK]), task=Task("1", "Book.", '{"evaluation_criteria": [1]}')),
    ],
)
def test_where_nobody_says_what_is_gold_it_is_unknown(first):
    assert gold_actions(first) is None


def test_a_task_without_any_gold_action_has_no_gold_write():
    gold = gold_actions(started([]))

    assert gold == ()
    assert not is_gold(held({}), gold)


@pytest.mark.parametrize("compared", [None, [], ["a"], ["a", "c"]])
@pytest.mark.parametrize(
    "arguments", [{}, {"a": 1}, {"a": 1, "b": 2}, {"a": 1.0}, {"a": True}, {"a": "1"}, {"c": None}]
)
@pytest.mark.parametrize("name", ["book", "cancel"])
def test_it_is_the_comparison_of_the_benchmark_itself(compared, arguments, name):
    pytest.importorskip("tau2", reason="the oracle is the package")
    open_tau2("mock")
    from tau2.data_model.message import ToolCall
    from tau2.data_model.tasks import Action

    gold = {"name": "book", "arguments": {"a": 1, "b": 2}, "compare_args": compared}
    theirs = Action(action_id="1", **gold).compare_with_tool_call(ToolCall(id="1", name=name, arguments=arguments))

    assert is_gold(held(arguments, name), gold_actions(started([gold]))) == theirs
