"""Whether a call is among its task's gold actions, compared as τ² does: an anchor that stands beside agreement.

The gold actions are those of the recorded task's own data (`evaluation_criteria.actions`), so nothing of the benchmark
is imported. A task that lists none has no gold write; one that says nothing of actions, or an entry that was filed
under a wrong task, leaves it unknown. Other environments record no gold actions.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spectrace.core.events import EpisodeStarted
from spectrace.core.types import Call

_TAU2 = "tau2:"


@dataclass(frozen=True, slots=True)
class GoldAction:
    """One action that a task's author expects; `compared` are the arguments that count, None: those of the call."""

    name: str
    arguments: Mapping[str, object]
    compared: tuple[str, ...] | None

    def equals(self, name: str, arguments: Mapping[str, object]) -> bool:
        """Whether a call is this one, by the rule of τ²'s `Action.compare_with_tool_call`.

        Where the task names no arguments to compare, those that the call has are compared, and no others.
        """
        if self.name != name:
            return False
        compared = tuple(arguments) if self.compared is None else self.compared
        mine, theirs = ({key: each[key] for key in each if key in compared} for each in (self.arguments, arguments))
        return mine == theirs


def gold_actions(started: EpisodeStarted) -> tuple[GoldAction, ...] | None:
    """Return the gold actions of an episode's task; None where nobody says."""
    unfit = started.origin is not None and started.origin.unfit is not None
    if not started.environment.name.startswith(_TAU2) or unfit:
        return None
    criteria = _object(_read(started.task.data)).get("evaluation_criteria")
    actions = _object(criteria).get("actions")
    return tuple(_gold(one) for one in actions if isinstance(one, dict)) if isinstance(actions, list) else None


def is_gold(call: Call, gold: Sequence[GoldAction]) -> bool:
    """Whether a call is among the gold actions; what is no JSON object is none of them."""
    arguments = _read(call.arguments)
    return isinstance(arguments, dict) and any(one.equals(call.tool, arguments) for one in gold)


def _gold(action: Mapping[str, object]) -> GoldAction:
    compared = action.get("compare_args")
    return GoldAction(
        name=str(action.get("name")),
        arguments=_object(action.get("arguments")),
        compared=tuple(map(str, compared)) if isinstance(compared, list) else None,
    )


def _read(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
