import pytest

from spectrace.core.types import Effect, ToolSpec
from spectrace.environments.effects import Overridden, Override, effective, overridden, parse_overrides, unknown_tools
from spectrace.environments.environment import Attachable
from spectrace.environments.functions import FunctionEnvironment, tool
from spectrace.environments.shop import open_shop
from spectrace.environments.volatile import volatile_places
from spectrace.errors import UsageError
from tests.desk import open_desk
from tests.lasting_desk import open_lasting

READ = ToolSpec("sql_read", "", "{}", Effect.READ, "declared")


def test_the_operators_word_replaces_the_declaration_and_says_so():
    assert effective(READ, {"sql_read": Override(Effect.WRITE)}) == ToolSpec(
        "sql_read", "", "{}", Effect.WRITE, "override"
    )


def test_a_tool_without_an_override_is_as_declared():
    assert effective(READ, {"other": Override(Effect.WRITE)}) is READ


def test_external_is_overridden_apart_from_the_effect():
    assert effective(READ, {"sql_read": Override(external=True)}) == ToolSpec(
        "sql_read", "", "{}", Effect.READ, "override", external=True
    )


def test_a_table_of_the_configuration_is_read():
    table = {"a": "read", "b": {"effect": "write", "external": True}, "c": {"external": False}}

    assert parse_overrides(table) == {
        "a": Override(Effect.READ),
        "b": Override(Effect.WRITE, external=True),
        "c": Override(external=False),
    }


@pytest.mark.parametrize("value", ["maybe", {"effect": "maybe"}, {"external": "true"}, {"efect": "read"}, {}, 1, None])
def test_a_value_that_is_no_override_is_refused_by_name(value):
    with pytest.raises(UsageError, match="effects: expected drop = "):
        parse_overrides({"drop": value})


def test_names_that_no_tool_has_are_found():
    assert unknown_tools([READ], {"sql_read": Override(), "sql_raed": Override()}) == ("sql_raed",)


def test_an_overridden_environment_shows_the_effective_effects():
    environment = Overridden(open_shop(), parse_overrides({"get_order": "write"}))

    effects = {spec.name: (spec.effect, spec.effect_by) for spec in environment.tools()}

    assert effects["get_order"] == (Effect.WRITE, "override")
    assert effects["list_orders"] == (Effect.READ, "declared")


def test_an_override_of_a_misspelt_tool_is_refused():
    environment = Overridden(open_shop(), parse_overrides({"get_ordr": "write"}))

    with pytest.raises(UsageError, match="found get_ordr; the tools are find_customer"):
        environment.tools()


def test_nothing_is_wrapped_where_nothing_is_overridden_and_what_can_be_attached_to_stays_so(tmp_path):
    lasting, desk = open_lasting(tmp_path / "desk.db"), open_desk([])
    word = {"look": Override(Effect.WRITE)}

    assert overridden(desk, None) is overridden(desk, {}) is desk
    assert isinstance(overridden(lasting, word), Attachable)
    assert not isinstance(overridden(desk, word), Attachable)
    assert {one.name: one.effect_by for one in overridden(lasting, word).tools()}["look"] == "override"


def test_places_that_differ_are_those_of_the_environment():
    @tool(effect="read", volatile="/at")
    def clock() -> str:
        """Tell the time."""
        return "{}"

    desk = FunctionEnvironment.from_functions("desk", (clock,), "")

    assert volatile_places(overridden(desk, {"clock": Override(Effect.WRITE)})) == {"clock": ("/at",)}
