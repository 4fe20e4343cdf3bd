import json

import pytest

from spectrace.core.types import Task
from spectrace.environments import tau2_domain
from spectrace.environments.tau2 import open_tau2
from spectrace.errors import EnvironmentFailed

OTHER = ("create_task", {"user_id": "user_1", "title": "Other"})


def graded(  # noqa: PLR0913 - what makes a graded episode
    task, calls, said=(), *, ended=True, domain="mock", compare=True
):
    """Grade calls and texts of the agent; return our evaluation and the package's own reward by executing it again."""
    open_tau2(domain)
    from tau2.data_model.message import AssistantMessage, ToolCall
    from tau2.evaluator.evaluator_env import EnvironmentEvaluator

    from spectrace.environments.tau2_grade import grade

    loaded = tau2_domain.load(domain)
    parsed = tau2_domain.parse_task(task)
    world = tau2_domain.begin(loaded, parsed)
    trajectory = [AssistantMessage(role="assistant", content=text) for text in said]
    for number, (name, arguments) in enumerate(calls):
        call = ToolCall(id=str(number), name=name, arguments=arguments)
        trajectory += [AssistantMessage(role="assistant", tool_calls=[call]), world.get_response(call)]
    construct = loaded.module.get_environment
    theirs = EnvironmentEvaluator.calculate_reward(construct, parsed, trajectory) if compare else None
    ours = grade(loaded, parsed, world, trajectory, ended=ended)
    return ours.reward, json.loads(ours.detail), theirs


def mock_task(id_, **criteria):
    open_tau2("mock")
    raw = next(raw for raw in tau2_domain.load("mock").raw_tasks if raw["id"] == id_)
    changed = {**raw["evaluation_criteria"], **criteria}
    return Task(id_, "", json.dumps({**raw, "evaluation_criteria": changed}))


CREATE = ("create_task", {"user_id": "user_1", "title": "Important Meeting"})


def test_the_gold_actions_earn_the_reward():
    reward, detail, theirs = graded(mock_task("create_task_1"), [CREATE])

    assert (reward, detail["db_match"], theirs.reward) == ("1.0", True, 1.0)
    assert detail["actions"] == [{"action_id": "create_1", "tool": "create_task", "match": True}]


@pytest.mark.parametrize("calls", [[], [CREATE, CREATE], [("create_task", {"user_id": "user_1", "title": "Other"})]])
def test_another_final_state_earns_nothing(calls):
    reward, detail, theirs = graded(mock_task("create_task_1"), calls)

    assert (reward, detail["db_match"], theirs.reward) == ("0.0", False, 0.0)


def test_what_was_to_be_said_and_was_not_costs_the_reward():
    task = mock_task("create_task_1", communicate_info=["1234"])

    assert graded(task, [CREATE], ["It is number 1,234."])[0] == "1.0"
    reward, detail, _ = graded(task, [CREATE], ["It is done."])
    assert (reward, detail["communicate"]) == ("0.0", [{"info": "1234", "met": False}])


def test_assertions_on_the_environment_count_where_they_are_the_basis():
    task = mock_task("create_task_1_with_env_assertions")

    assert [graded(task, calls)[0] for calls in ([CREATE], [CREATE, OTHER])] == ["1.0", "0.0"]


def test_an_assertion_that_cannot_be_checked_is_a_failure_to_grade_and_no_grade():
    task = mock_task("create_task_1_with_env_assertions")

    with pytest.raises(EnvironmentFailed, match="the grader of tau2:mock raised ValueError: Task task_2 not found"):
        graded(task, [], compare=False)


def test_an_episode_that_the_user_did_not_end_earns_nothing_as_in_the_package():
    reward, detail, _ = graded(mock_task("create_task_1"), [CREATE], ended=False)

    assert (reward, detail) == ("0.0", {"note": "the user did not end the dialogue"})


def test_a_basis_that_needs_a_judge_gives_no_reward_and_says_so():
    reward, detail, _ = graded(mock_task("create_task_1", reward_basis=["DB", "NL_ASSERTION"]), [CREATE])

    assert (reward, detail["reward_without_it"]) == (None, "1.0")
    assert "needs a judge model" in detail["note"]


def test_a_task_without_criteria_earns_the_reward_as_in_the_package():
    task = mock_task("create_task_1")
    task = Task(task.id, "", json.dumps({**json.loads(task.data), "evaluation_criteria": None}))

    assert graded(task, [])[:2] == ("1.0", {"note": "the task has no evaluation criteria"})


@pytest.mark.slow
@pytest.mark.parametrize("domain", ["airline", "retail"])
def test_the_gold_actions_of_real_tasks_earn_the_reward_and_agree_with_the_package(domain):
    open_tau2(domain)
    for task in tau2_domain.load(domain).tasks[:12]:
        criteria = json.loads(task.data)["evaluation_criteria"]
        calls = [(action["name"], action["arguments"]) for action in criteria["actions"]]
        reward, _, theirs = graded(task, calls, criteria["communicate_info"] or (), domain=domain)

        assert (task.id, reward, theirs.reward) == (task.id, "1.0", 1.0)
