"""Whether an entry can be a run of the task that it is filed under.

Published files exist whose entries were given the wrong task. The evidence used is the filed grade's own: the gold
actions that it was computed from. Conversations are not used, because an agent may well ask about the wrong user. An
entry is unfit when its grade was computed from other actions than its task's; and in a file where that is so for
some, also when its grade was computed from no action at all, because then nothing shows which task it is.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from spectrace.interchange import json_text
from spectrace.interchange.tau2_file import ResultFile, Simulation


@dataclass(frozen=True, slots=True)
class _Gold:
    """Gold actions in order: their ids, and what they do."""

    ids: tuple[str, ...]
    actions: tuple[str, ...]


def unfit(file: ResultFile) -> list[str | None]:
    """Return for every simulation why it cannot be a run of its task, or None."""
    tasks = {task: _gold_of_task(text) for task, text in file.tasks.items()}
    graded = [_gold_of_grade(simulation) for simulation in file.simulations]
    reasons = [_wrong(one, gold, tasks) for one, gold in zip(file.simulations, graded, strict=True)]
    misfiled = sum(reason is not None for reason in reasons)
    return [
        reason or _without_task(one) or (_not_shown(one, gold, misfiled) if misfiled else None)
        for one, gold, reason in zip(file.simulations, graded, reasons, strict=True)
    ]


def _wrong(simulation: Simulation, graded: _Gold | None, tasks: dict[str, _Gold]) -> str | None:
    filed = tasks.get(simulation.task or "")
    if graded is None or filed is None:
        return None
    true = [task for task, gold in tasks.items() if gold == graded]
    same_actions = graded.actions == filed.actions
    if same_actions and (graded.ids == filed.ids or not true):
        return None
    return f"its grade was computed from {_named(graded, true)}, but it is filed as task {simulation.task}"


def _named(graded: _Gold, true: Sequence[str]) -> str:
    if not graded.ids:
        return "no gold action"
    if len(true) == 1:
        return f"the gold actions of task {true[0]}"
    return f"gold actions {graded.ids[0]} to {graded.ids[-1]}, which are no task's here"


def _without_task(simulation: Simulation) -> str | None:
    return "the file does not show which task this is: the entry names none" if simulation.task is None else None


def _not_shown(simulation: Simulation, graded: _Gold | None, misfiled: int) -> str | None:
    if graded is not None and graded.ids:
        return None
    others = "1 other entry of the file is" if misfiled == 1 else f"{misfiled} other entries of the file are"
    return (
        f"the file does not show that this is task {simulation.task}: its grade names no gold action, and "
        f"{others} filed under a wrong task"
    )


def _gold_of_task(text: str) -> _Gold:
    criteria = _member(text, "evaluation_criteria")
    return _gold(_items(_member(criteria, "actions")))


def _gold_of_grade(simulation: Simulation) -> _Gold | None:
    """Return the gold actions that the grade was computed from; None where it does not say."""
    reward = simulation.parts.get("reward_info")
    checks = _member(reward, "action_checks")
    if json_text.is_array(checks):
        return _gold([action for check in _items(checks) if (action := _member(check, "action")) is not None])
    note = json_text.string(_member(_member(_member(reward, "info"), "action"), "note"))
    return _Gold((), ()) if note == "No actions to evaluate" else None


def _gold(actions: Sequence[str]) -> _Gold:
    parts = [json_text.members(action) for action in actions if json_text.is_object(action)]
    ids = tuple(json_text.string(part.get("action_id")) or "?" for part in parts)
    return _Gold(ids, tuple(map(_deed, parts)))


def _deed(action: dict[str, str]) -> str:
    """Return what an action does, in one spelling whatever the order of its arguments."""
    values = {key: json.loads(action.get(key, "null")) for key in ("requestor", "name", "arguments")}
    return json.dumps(values | {"requestor": values["requestor"] or "assistant"}, sort_keys=True)


def _member(text: str | None, name: str) -> str | None:
    return json_text.members(text or "{}").get(name) if json_text.is_object(text) else None


def _items(text: str | None) -> list[str]:
    return json_text.items(text or "[]") if json_text.is_array(text) else []
