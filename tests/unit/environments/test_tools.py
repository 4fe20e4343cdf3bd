import math

import pytest

from spectrace.core.types import Effect, ToolSpec
from spectrace.environments.arguments import InvalidArguments
from spectrace.environments.tools import Tool, call_with, tool, toolbox
from spectrace.errors import UsageError


def test_a_function_without_a_declared_effect_is_a_write_by_default():
    def act(order_id: str) -> str:
        """Do it."""
        return order_id

    schema = (
        '{"type":"object","properties":{"order_id":{"type":"string"}},'
        '"additionalProperties":false,"required":["order_id"]}'
    )
    assert Tool.of(act).spec == ToolSpec("act", "Do it.", schema, Effect.WRITE, "default")


def test_a_declaration_is_kept_and_the_function_stays_itself():
    @tool(effect="read", external=True, timeout_s=1.5)
    def look(x: int) -> int:
        return x + 1

    spec = Tool.of(look).spec

    assert (spec.effect, spec.effect_by, spec.external, spec.timeout_us) == (Effect.READ, "declared", True, 1_500_000)
    assert look(1) == 2


def test_the_decorator_works_without_parentheses_and_declares_nothing():
    @tool
    def act() -> None: ...

    assert (Tool.of(act).spec.effect, Tool.of(act).spec.effect_by) == (Effect.WRITE, "default")


def test_a_method_is_a_tool_with_its_declaration():
    class Desk:
        @tool(effect="read")
        def look(self, x: int) -> int:
            return x

    made = Tool.of(Desk().look)

    assert (made.spec.effect, made.bound('{"x": 3}', {})()) == (Effect.READ, 3)


@pytest.mark.parametrize(
    "options",
    [{"effect": "maybe"}, {"timeout_s": 0}, {"timeout_s": -1.0}, {"timeout_s": math.inf}, {"timeout_s": math.nan}],
)
def test_a_declaration_that_means_nothing_is_refused(options):
    with pytest.raises(UsageError, match="tool: expected"):
        tool(**options)


def test_a_function_without_a_usable_name_is_refused():
    with pytest.raises(UsageError, match="expected a named function"):
        Tool.of(lambda: None)


def test_two_tools_of_one_name_are_refused():
    def act() -> None: ...

    with pytest.raises(UsageError, match="two functions named act"):
        toolbox([act, act])


def test_state_and_task_are_injected_only_where_they_are_named():
    def both(task, x: int, state=None):
        return task, x, state

    def neither(x: int):
        return x

    injected = {"state": "S", "task": "T"}

    assert Tool.of(both).bound('{"x": 1}', injected)() == ("T", 1, "S")
    assert Tool.of(neither).bound('{"x": 1}', injected)() == 1


def test_nothing_runs_when_the_arguments_do_not_fit():
    ran = []

    def act(x: int) -> None:
        ran.append(x)

    with pytest.raises(InvalidArguments):
        Tool.of(act).bound('{"x": "1"}', {})
    assert ran == []


@pytest.mark.parametrize(
    ("function", "result"),
    [
        (lambda s: s, "S"),
        (lambda s, /: s, "S"),
        (lambda seen, whatever: (seen, whatever), ("N", "S")),
        (lambda answer: answer, "A"),
        (lambda: "nothing", "nothing"),
        (lambda x="default": x, "default"),
        (lambda s, *, seen: (s, seen), ("S", "N")),
        (dict, {}),
        (len, 1),
    ],
)
def test_a_users_function_is_given_what_its_parameters_name(function, result):
    assert call_with(function, "state", {"state": "S", "answer": "A", "seen": "N"}) == result
