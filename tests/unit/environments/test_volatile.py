"""An environment may say where its answers differ from run to run; most say nothing."""

import pytest

from spectrace.environments.functions import FunctionEnvironment, tool
from spectrace.environments.shop import open_shop
from spectrace.environments.volatile import volatile_places
from spectrace.errors import UsageError


def desk(*places):
    @tool(effect="read", volatile=places)
    def now() -> str:
        """Tell the time."""
        return ""

    return FunctionEnvironment.from_functions("desk", [now], "Tell.")


def test_a_tools_places_are_the_environments():
    assert volatile_places(desk("/at", "/items/*/at", "")) == {"now": ("/at", "/items/*/at", "")}
    assert volatile_places(open_shop()) == {}


def test_an_environment_of_another_kind_declares_nothing():
    class Bare:
        pass

    assert volatile_places(Bare()) == {}


def test_what_is_no_pointer_is_refused_where_it_is_written():
    with pytest.raises(UsageError, match="expected a JSON pointer"):
        desk("at")
