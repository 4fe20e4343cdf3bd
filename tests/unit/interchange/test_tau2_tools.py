import importlib
import json

import pytest

from spectrace.core.types import Effect
from spectrace.interchange import tau2_tools
from spectrace.interchange.tau2_tools import defined_tools, effects


@pytest.mark.parametrize("domain", ["airline", "retail", "mock"])
@pytest.mark.slow
def test_the_table_says_what_the_package_marks(domain):
    pytest.importorskip("tau2")
    from spectrace.environments.tau2 import open_tau2

    marked = {tool.name: tool.effect for tool in open_tau2(domain).tools()}

    known = effects(domain, ())
    assert {name: known.get(name, Effect.WRITE) for name in marked} == marked
    assert {name for name, effect in marked.items() if effect is Effect.WRITE} == set(
        tau2_tools._WRITES[domain].split()
    )


def test_the_table_knows_the_users_tools_of_telecom():
    pytest.importorskip("tau2")
    from spectrace.environments.tau2 import open_tau2

    open_tau2("mock")  # imports the package as quietly as it can be
    toolkit = importlib.import_module("tau2.environment.toolkit")
    world = importlib.import_module("tau2.domains.telecom.environment").get_environment()
    kinds = toolkit.get_tool_types(world.tools) | toolkit.get_tool_types(world.user_tools)
    reads = {name for name, kind in kinds.items() if kind.value == "read"}

    assert reads | set(tau2_tools._WRITES["telecom"].split()) == set(kinds)
    assert {name for name, effect in effects("telecom", ()).items() if effect is Effect.READ} == reads


def test_a_files_own_mark_comes_before_the_table():
    definitions = {
        "cancel_reservation": {"name": "cancel_reservation", "doc": "Cancels.", "params": {"type": "object"}},
        "get_user_details": {"mutates_state": True},
        "calculate": {"tool_type": "WRITE"},
        "invented": {},
        "transfer_to_human_agents": {"mutates_state": False},
        "get_flight_status": {},
    }

    tools = defined_tools("airline", json.dumps(definitions))

    assert [(tool.name, tool.effect.value, tool.effect_by) for tool in tools] == [
        ("cancel_reservation", "write", "environment"),
        ("get_user_details", "write", "declared"),
        ("calculate", "write", "declared"),
        ("invented", "write", "default"),
        ("transfer_to_human_agents", "write", "environment"),
        ("get_flight_status", "read", "environment"),
    ]
    assert (tools[0].description, tools[0].parameters) == ("Cancels.", '{"type": "object"}')
    assert effects("airline", tools)["get_user_details"] is Effect.WRITE


def test_definitions_as_sent_to_a_model_are_read_too():
    sent = [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}]

    (tool,) = defined_tools("library", json.dumps(sent))

    assert (tool.name, tool.description, tool.parameters, tool.effect_by) == ("f", "d", '{"type": "object"}', "default")


@pytest.mark.parametrize("text", [None, "null", '"x"', "{}", "[]", "[1]"])
def test_a_file_without_definitions_has_no_tools(text):
    assert defined_tools("airline", text) == ()
