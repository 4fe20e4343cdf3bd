"""The grade of a τ² episode, by the package's own evaluators. Imported by `tau2_dialogue.py` only.

The package grades a trajectory by executing it again. Here the live environment *is* where that would lead, so the
evaluator is handed it with nothing left to replay; the gold side and every comparison stay the package's. How the
parts make one reward is its `evaluate_simulation`, whose module cannot be imported without litellm.
"""

import math
from typing import Any

from tau2.data_model.message import Message as Tau2Message
from tau2.data_model.simulation import RewardInfo
from tau2.data_model.tasks import RewardType
from tau2.data_model.tasks import Task as Tau2Task
from tau2.environment.environment import Environment as Tau2World
from tau2.evaluator.evaluator_action import ActionEvaluator
from tau2.evaluator.evaluator_communicate import CommunicateEvaluator
from tau2.evaluator.evaluator_env import EnvironmentEvaluator

from spectrace.core.types import Evaluation
from spectrace.environments.tau2_domain import Domain
from spectrace.environments.values import decimal_text, encode
from spectrace.errors import EnvironmentFailed


class _Reached:
    """An environment that stands where its trajectory leads."""

    def __init__(self, world: Tau2World) -> None:
        self._world = world

    def set_state(self, **_: object) -> None:
        """Do nothing: every call has been executed."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)


def grade(
    domain: Domain, task: Tau2Task, world: Tau2World, trajectory: list[Tau2Message], *, ended: bool
) -> Evaluation:
    """Grade an episode; `ended`: the user ended it. One that was cut off earns nothing, as in the package."""
    criteria = task.evaluation_criteria
    if not ended:
        return _told("0.0", note="the user did not end the dialogue")
    if criteria is None:
        return _told("1.0", note="the task has no evaluation criteria")

    try:
        state, communicated, actions = _parts(domain, task, world, trajectory)
    except Exception as error:
        msg = f"the grader of tau2:{domain.name} raised {type(error).__name__}: {error}"
        raise EnvironmentFailed("crashed", msg) from error

    basis = set(criteria.reward_basis)
    parts: list[tuple[set[RewardType], RewardInfo]] = [
        ({RewardType.DB, RewardType.ENV_ASSERTION}, state),
        ({RewardType.ACTION}, actions),
        ({RewardType.COMMUNICATE}, communicated),
    ]
    reward = decimal_text(math.prod(part.reward for bases, part in parts if basis & bases))
    details = _details(sorted(kind.value for kind in basis), state, communicated, actions)
    if RewardType.NL_ASSERTION in basis:
        note = "NL_ASSERTION is part of the reward basis and needs a judge model, which is not asked here"
        return _told(None, note=note, reward_without_it=reward, **details)
    return _told(reward, **details)


def _parts(
    domain: Domain, task: Tau2Task, world: Tau2World, trajectory: list[Tau2Message]
) -> tuple[RewardInfo, RewardInfo, RewardInfo]:
    worlds = iter((_Reached(world),))  # the evaluator makes the agent's environment first, then the gold one
    return (
        EnvironmentEvaluator.calculate_reward(
            environment_constructor=lambda **_: next(worlds, None) or domain.world(),
            task=task,
            full_trajectory=trajectory,
        ),
        CommunicateEvaluator.calculate_reward(task=task, full_trajectory=trajectory),
        ActionEvaluator.calculate_reward(task=task, full_trajectory=trajectory),
    )


def _details(basis: list[str], state: RewardInfo, communicated: RewardInfo, actions: RewardInfo) -> dict[str, object]:
    return {
        "basis": basis,
        "db_match": state.db_check.db_match if state.db_check else None,
        "env_assertions": [
            {"function": check.env_assertion.func_name, "met": check.met} for check in state.env_assertions or []
        ],
        "communicate": [{"info": check.info, "met": check.met} for check in communicated.communicate_checks or []],
        "actions": [
            {"action_id": check.action.action_id, "tool": check.action.name, "match": check.action_match}
            for check in actions.action_checks or []
        ],
    }


def _told(reward: str | None, **detail: object) -> Evaluation:
    return Evaluation(reward, encode(detail))
