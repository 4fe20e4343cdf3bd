import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from aio import in_loop

from spectrace.core.types import (
    Call,
    Completion,
    Finish,
    Message,
    NeedsModel,
    Observation,
    Opening,
    Reply,
    Role,
    Task,
    ToolCall,
)
from spectrace.environments.tau2 import open_tau2
from spectrace.environments.values import decimal_text
from spectrace.errors import EnvironmentFailed

GREETING = Message("assistant", "Hi! How can I help you today?")


def said(text):
    return Completion(Message("assistant", text))


async def begun(domain="mock", task="create_task_1", first="Please create it."):
    environment = open_tau2(domain)
    environment.prepare(next(one for one in environment.tasks() if one.id == task))
    await environment.reset(None)
    await environment.resume(said(first))
    return environment


@in_loop
async def test_the_agent_has_greeted_and_the_user_speaks_first():
    environment = open_tau2("mock")
    environment.prepare(environment.tasks()[0])
    asked = await environment.reset(7)
    opening = await environment.resume(said("Please create it."))

    assert asked.role is Role.USER
    assert [message.role for message in asked.request.messages] == ["system", "user"]
    assert asked.request.messages[1] == Message("user", "Hi! How can I help you today?")
    assert opening == Opening((GREETING, Message("user", "Please create it.")))


@in_loop
async def test_the_user_is_asked_with_the_roles_flipped_and_without_tool_calls():
    environment = await begun()
    await environment.act(Call("get_users", "{}"))
    asked = await environment.act(Reply("For whom?"))

    assert asked.request.messages[1:] == (
        Message("user", "Hi! How can I help you today?"),
        Message("assistant", "Please create it."),
        Message("user", "For whom?"),
    )


@pytest.mark.parametrize("stop", ["###STOP###", "Thanks! ###TRANSFER###", "Hm. ###OUT-OF-SCOPE### Bye."])
@in_loop
async def test_three_words_of_the_user_end_the_dialogue_and_stay_in_the_observation(stop):
    environment = await begun()
    await environment.act(Reply("Done."))

    assert await environment.resume(said(stop)) == Observation(stop, done=True)
    with pytest.raises(EnvironmentFailed, match="expected a running episode, found one that has ended"):
        await environment.act(Reply("Hello?"))


@in_loop
async def test_a_user_may_end_the_dialogue_at_once():
    environment = open_tau2("mock")
    environment.prepare(environment.tasks()[0])
    await environment.reset(None)

    assert (await environment.resume(said("###STOP###"))).done


@in_loop
async def test_a_user_who_says_nothing_is_no_answer():
    environment = await begun()
    await environment.act(Reply("Done."))

    with pytest.raises(EnvironmentFailed, match="tau2:mock: the user's model wrote nothing"):
        await environment.resume(said("  \n"))


@in_loop
async def test_words_that_nobody_asked_for_are_refused():
    environment = await begun()

    with pytest.raises(EnvironmentFailed, match="expected a question to the user's model before its answer"):
        await environment.resume(said("And another thing."))


@in_loop
async def test_a_final_answer_is_no_action_here():
    observation = await (await begun()).act(Finish("Done."))

    assert observation == Observation("Error: the user ends this dialogue; reply to them instead", error=True)


@in_loop
async def test_a_tools_answer_is_the_packages_own_text():
    environment = await begun()

    assert await environment.act(Call("get_users", "{}")) == Observation(
        '[{"user_id": "user_1", "name": "Test User", "tasks": ["task_1"]}]'
    )
    assert await environment.act(Call("drop", "{}")) == Observation("Error: Tool 'drop' not found.", error=True)
    assert await environment.act(Call("update_task_status", '{"task_id": "t", "status": "done"}')) == Observation(
        "Error: Task t not found", error=True
    )


@in_loop
async def test_a_users_tool_call_reaches_the_users_tools_of_which_these_domains_have_none():
    observation = await (await begun()).act(Call("get_users", "{}"), requestor="user")

    assert observation == Observation("Error: User tools not available", error=True)


@in_loop
async def test_a_task_with_a_history_opens_with_it_and_the_user_answers():
    environment = open_tau2("mock")
    task = next(one for one in environment.tasks() if one.id == "update_task_with_message_history")
    facts = environment.prepare(task)
    asked = await environment.reset(None)
    opening = await environment.resume(said("Set it to completed."))

    assert [message.role for message in opening.messages] == ["user", "assistant", "tool", "assistant", "user"]
    assert opening.messages[1].calls == (
        ToolCall(
            "call_1",
            "create_task",
            '{"user_id": "user_1", "title": "Project Review", "description": "Review Q4 project status"}',
        ),
    )
    assert [message.role for message in asked.request.messages] == ["system", "assistant", "user"]
    assert facts.fingerprint == environment.fingerprint() != (await begun()).fingerprint()


@in_loop
async def test_a_history_that_ends_with_the_user_opens_at_once():
    environment = open_tau2("mock")
    raw = json.loads(environment.tasks()[0].data)
    raw["initial_state"] = {"message_history": [{"role": "user", "content": "Create it."}]}
    environment.prepare(Task("x", "", json.dumps(raw)))

    assert await environment.reset(None) == Opening((Message("user", "Create it."),))
    assert isinstance(await environment.act(Reply("Done.")), NeedsModel)


@in_loop
async def test_an_episode_is_graded_at_its_end():
    environment = await begun()
    await environment.act(Call("create_task", '{"user_id": "user_1", "title": "Important Meeting"}'))
    cut_off = await environment.evaluate()
    await environment.act(Reply("Done."))
    await environment.resume(said("###STOP###"))

    assert (cut_off.reward, (await environment.evaluate()).reward) == ("0.0", "1.0")


@pytest.mark.parametrize(
    ("arguments", "objection"),
    [
        ('{"user_id": "user_1"}', None),
        ('{"user_id": "U S E R 1"}', None),
        ('{"order_id": "#W2378156"}', None),
        ('{"reservation_id": "ZFA04Y"}', None),
        ('{"user_id": "user_2"}', "never seen in this episode: user_2"),
        ('{"reservation_id": "ZFA04X", "order_id": "#W9"}', "never seen in this episode: #W9, ZFA04X"),
        ('{"title": "ZFA04X"}', None),
        ('{"user_id": 5}', None),
        ("{", "the arguments are not JSON"),
    ],
)
@in_loop
async def test_only_ids_that_nobody_can_have_meant_meet_an_objection(arguments, objection):
    environment = await begun(first="I am user_1, order 2378156, reservation Z-F-A-0-4-Y.")
    found = environment.check(Call("update", arguments))

    assert found == objection or (objection is not None and found.startswith(objection))


@in_loop
async def test_an_id_that_a_tool_named_is_known_and_one_that_an_error_repeats_is_not():
    environment = await begun()
    before = environment.check(Call("update_task_status", '{"task_id": "task_1"}'))
    await environment.act(Call("update_task_status", '{"task_id": "task_7", "status": "completed"}'))
    await environment.act(Call("get_users", "{}"))

    assert before == "never seen in this episode: task_1"
    assert environment.check(Call("update_task_status", '{"task_id": "task_1"}')) is None
    assert environment.check(Call("update_task_status", '{"task_id": "task_7"}')) is not None


@pytest.mark.parametrize(
    ("expression", "content"),
    [
        ("2 + 3 * 4", "14.0"),
        ("2 ** 10", "1024.0"),
        ("10 ** -2", "0.01"),
        ("1 / 0", "Error: division by zero"),
        ("9**1e9", "Error: Invalid characters in expression"),
        ("2(3)", "Error: 'int' object is not callable"),
    ],
)
@in_loop
async def test_sums_are_the_packages_own(expression, content):
    environment = await begun("airline", "0")

    assert (await environment.act(Call("calculate", json.dumps({"expression": expression})))).content == content


@pytest.mark.parametrize(
    "expression",
    ["9**9**9**9", "9 ** 99999999", "9**(9999999)", "(9**999)**999", "2**99.*9", "1+" * 600 + "1"],
)
@in_loop
async def test_a_sum_that_would_never_end_is_refused_at_once(expression):
    environment = await begun("airline", "0")
    started = time.monotonic()
    observation = await environment.act(Call("calculate", json.dumps({"expression": expression})))

    assert observation.error
    assert observation.content.startswith("Error: expected at most one power")
    assert time.monotonic() - started < 1


@in_loop
async def test_half_a_surrogate_pair_reaches_the_user_as_it_was_said():
    environment = await begun(first="half \ud835")
    asked = await environment.act(Reply("other half \udc00"))
    observation = await environment.resume(said("\ud835 ###STOP###"))

    assert [message.content for message in asked.request.messages[2:]] == ["half \ud835", "other half \udc00"]
    assert observation == Observation("\ud835 ###STOP###", done=True)
    assert (await environment.evaluate()).reward == "0.0"


@in_loop
async def test_a_declared_read_that_writes_is_seen_in_the_fingerprint():
    environment = await begun()
    before = environment.fingerprint()
    world = environment._episode.world
    world.tools.get_users = lambda: world.tools.db.tasks.clear() or []
    await environment.act(Call("get_users", "{}"))

    assert environment.fingerprint() != before


@pytest.mark.slow
def test_the_users_prompt_is_the_one_that_the_packages_simulator_builds():
    """In a process of its own: the simulator's module imports litellm."""
    program = (
        "import asyncio, json; from spectrace.environments.tau2 import open_tau2\n"
        "env = open_tau2('airline'); ours, theirs = [], []\n"
        "from tau2.user.user_simulator import UserSimulator; from tau2.data_model.tasks import Task\n"
        "for task in env.tasks()[:5] + open_tau2('mock').tasks()[:2]:\n"
        "    env.prepare(task); ours.append(asyncio.run(env.reset(None)).request.messages[0].content)\n"
        "    scenario = Task.model_validate_json(task.data).user_scenario\n"
        "    theirs.append(UserSimulator(instructions=str(scenario)).system_prompt)\n"
        "print(len(ours), ours == theirs)"
    )
    environ = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "PYTHON_DOTENV_DISABLED": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True)

    assert done.stdout == "7 True\n"


async def again(domain, task, simulation):
    """Do a recorded simulation's calls again; return what differs, and the reward."""
    environment = open_tau2(domain)
    environment.prepare(Task(str(task["id"]), "", json.dumps(task)))
    await environment.reset(None)
    calls, differences = [], []
    for message in simulation["messages"][1:]:
        match message["role"]:
            case "user":
                await environment.resume(said(message["content"]))
            case "assistant" if message.get("tool_calls"):
                calls += message["tool_calls"]
            case "assistant" if (message["content"] or "").strip():
                await environment.act(Reply(message["content"]))
            case "tool":
                call = calls.pop(0)
                observation = await environment.act(Call(call["name"], json.dumps(call["arguments"])))
                environment.fingerprint()
                if (observation.content, observation.error) != (message["content"], message["error"]):
                    differences.append((call, observation, message))
    evaluation = await environment.evaluate()
    await environment.close()
    return differences, evaluation.reward


@pytest.mark.slow
@pytest.mark.parametrize("name", ["airline__45651a42", "airline__83e60796", "airline__b4e983fc", "retail__94ad2a06"])
def test_recorded_simulations_give_the_same_answers_and_rewards(name):
    shared = Path(os.environ.get("SPECTRACE_SHARED", "../shared")) / "corpus" / "tau2"
    found = sorted(shared.glob(f"{name}*.json"))
    if not found and os.environ.get("CI") != "true":
        pytest.skip("SPECTRACE_SHARED names no folder with corpus/tau2 in it")
    assert found, f"no {name}*.json in {shared}"
    recorded = json.loads(found[0].read_text())
    tasks = {task["id"]: task for task in recorded["tasks"]}
    domain = recorded["info"]["environment_info"]["domain_name"]

    started = time.monotonic()
    for simulation in recorded["simulations"]:
        result = asyncio.run(again(domain, tasks[simulation["task_id"]], simulation))
        assert result == ([], decimal_text(simulation["reward_info"]["reward"])), simulation["task_id"]
    assert (time.monotonic() - started) * 50 / len(recorded["simulations"]) < 120
