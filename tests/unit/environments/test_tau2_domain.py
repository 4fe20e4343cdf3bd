import dataclasses
import hashlib
import json

import pytest

from spectrace.core.types import Effect, Task
from spectrace.environments import tau2_domain
from spectrace.environments.tau2 import open_tau2
from spectrace.errors import EnvironmentFailed
from spectrace.interchange.tau2_tools import effects

WRITES = {
    "airline": {
        "book_reservation",
        "cancel_reservation",
        "send_certificate",
        "transfer_to_human_agents",
        "update_reservation_baggages",
        "update_reservation_flights",
        "update_reservation_passengers",
    },
    "retail": {
        "cancel_pending_order",
        "exchange_delivered_order_items",
        "modify_pending_order_address",
        "modify_pending_order_items",
        "modify_pending_order_payment",
        "modify_user_address",
        "return_delivered_order_items",
        "transfer_to_human_agents",
    },
    "mock": {"create_task", "transfer_to_human_agents", "update_task_status"},
}


def domain_of(name):
    open_tau2(name)  # the quiet way in
    return tau2_domain.load(name)


@pytest.fixture(params=WRITES)
def name(request):
    return request.param


def test_the_packages_tool_types_give_the_effects(name):
    tools = domain_of(name).tools

    assert {tool.name for tool in tools if tool.effect is Effect.WRITE} == WRITES[name]
    assert {tool.effect_by for tool in tools} == {"environment"}


def test_the_importers_table_says_the_same_of_every_tool(name):
    table = effects(name, ())

    assert {tool.name: table.get(tool.name, Effect.WRITE) for tool in domain_of(name).tools} == {
        tool.name: tool.effect for tool in domain_of(name).tools
    }


def test_a_tool_has_a_description_and_a_schema_of_its_arguments(name):
    for tool in domain_of(name).tools:
        schema = json.loads(tool.parameters)

        assert tool.description
        assert schema["type"] == "object"


@pytest.mark.parametrize(("name", "count"), [("airline", 50), ("retail", 114), ("mock", 9)])
def test_the_tasks_are_the_base_split(name, count):
    assert len({task.id for task in domain_of(name).tasks}) == count


def test_a_task_carries_the_packages_own_whole(name):
    domain = domain_of(name)

    assert [json.loads(task.data) for task in domain.tasks] == list(domain.raw_tasks)
    assert all(task.request for task in domain.tasks)


def test_the_fingerprint_is_the_digest_of_the_databases_json(name):
    domain = domain_of(name)
    text = domain.world().tools.db.model_dump_json()

    assert domain.fingerprint == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def test_a_database_with_half_a_surrogate_pair_has_a_fingerprint_too():
    world = domain_of("mock").world()
    world.tools.db.tasks["task_1"].title = "\ud835"
    first = tau2_domain.fingerprint(world)
    world.tools.db.tasks["task_1"].title = "\ud836"

    assert first.startswith("sha256:")
    assert tau2_domain.fingerprint(world) != first


def test_every_world_has_its_own_database():
    one, other = domain_of("mock").world(), domain_of("mock").world()
    one.tools.db.tasks.clear()

    assert list(other.tools.db.tasks) == ["task_1"]


def test_an_embedded_task_is_read_and_the_packages_own_of_that_id_is_not():
    package = domain_of("mock").tasks[0]
    raw = json.loads(package.data)
    raw["evaluation_criteria"]["actions"][0]["arguments"]["title"] = "Another"
    raw["a_field_of_a_later_version"] = 1
    parsed = tau2_domain.parse_task(Task(package.id, "", json.dumps(raw)))

    assert parsed.evaluation_criteria.actions[0].arguments["title"] == "Another"


@pytest.mark.parametrize(("data", "where"), [("{}", "id"), ("not JSON", "the whole"), ('{"id": 1}', "id")])
def test_data_that_is_no_task_is_refused_by_place(data, where):
    domain_of("mock")
    with pytest.raises(EnvironmentFailed, match=f"task 7: expected a τ² task as JSON in its data, found at {where}:"):
        tau2_domain.parse_task(Task("7", "", data))


def test_an_initial_state_that_does_not_fit_is_the_tasks_failure():
    domain = domain_of("mock")
    raw = {**domain.raw_tasks[0], "initial_state": {"initialization_data": {"agent_data": {"no_such_table": {}}}}}
    task = tau2_domain.parse_task(Task("x", "", json.dumps(raw)))

    with pytest.raises(EnvironmentFailed, match="its initial state does not fit tau2:mock") as caught:
        tau2_domain.begin(domain, task)
    assert caught.value.kind == "task"


def test_the_initial_state_of_a_task_is_set():
    domain = domain_of("mock")
    by_id = {task.id: task for task in domain.tasks}
    titles = {
        name: sorted(tau2_domain.begin(domain, tau2_domain.parse_task(by_id[name])).tools.db.tasks)
        for name in ("create_task_1", "update_task_with_initialization_data", "update_task_with_message_history")
    }

    assert titles == {
        "create_task_1": ["task_1"],
        "update_task_with_initialization_data": ["task_1", "task_2"],
        "update_task_with_message_history": ["task_1", "task_2"],
    }


def test_a_domain_is_a_value_that_nobody_changes():
    with pytest.raises(dataclasses.FrozenInstanceError):
        domain_of("mock").policy = ""
