"""Whether episodes met the same environment: the same task, instructions, data and tools with the same effects.

An environment's name proves none of it: MODULE:ATTRIBUTE names whatever is in that file today.
"""

from collections.abc import Sequence
from itertools import pairwise

from spectrace.core.digest import tools_digest
from spectrace.core.events import EpisodeStarted
from spectrace.core.types import EnvironmentFacts, ToolSpec

Begun = tuple[str, EpisodeStarted]
"""An episode and how it began."""


def differences(before: EpisodeStarted, now: EpisodeStarted) -> list[str]:
    """Return what differs between two beginnings of one task; nothing where the environment is the same."""
    found = tool_differences(before.tools, now.tools)
    if before.instructions != now.instructions:
        found.append("the instructions")
    if before.task_digest != now.task_digest:
        found.append("the task's request or data")
    return found + _data_differences(before.environment, now.environment)


def tool_differences(before: Sequence[ToolSpec], now: Sequence[ToolSpec]) -> list[str]:
    """Return which tools differ, and in what."""
    if tools_digest(tuple(before)) == tools_digest(tuple(now)):
        return []
    old, new = ({tool.name: tool for tool in tools} for tools in (before, now))
    found = [f"tool {name} ({_tool(old.get(name), new.get(name))})" for name in {**old, **new}]
    return [one for one in found if not one.endswith("()")] or ["the order of the tools"]


def _tool(old: ToolSpec | None, new: ToolSpec | None) -> str:
    if old is None or new is None:
        return "new" if old is None else "gone"
    said = [] if old.effect == new.effect else [f"effect {old.effect.value}, now {new.effect.value}"]
    said += ["description"] if old.description != new.description else []
    return ", ".join(said + (["parameters"] if old.parameters != new.parameters else []))


def _data_differences(before: EnvironmentFacts, now: EnvironmentFacts) -> list[str]:
    old, new = dict(before.data), dict(now.data)
    found = [f"the data {name}" for name in sorted({**old, **new}) if old.get(name) != new.get(name)]
    # Only an environment that says that it resets begins a task twice in the same state.
    resets = before.restore == now.restore == "reset" and None not in {before.fingerprint, now.fingerprint}
    return found + (["the initial state"] if resets and before.fingerprint != now.fingerprint else [])


def disagreement(episodes: Sequence[Begun]) -> str | None:
    """Return a sentence on the first two episodes, oldest first, that met different environments; None without any.

    Of two tasks only the tools are held together: instructions and data may be a task's own.
    """
    tasks: dict[str, list[Begun]] = {}
    for one in episodes:
        tasks.setdefault(one[1].task.id, []).append(one)
    of_one = (pair for each in tasks.values() for pair in pairwise(each))
    for (first, before), (second, now) in (*of_one, *pairwise(episodes)):
        alike = before.task.id == now.task.id
        found = differences(before, now) if alike else tool_differences(before.tools, now.tools)
        if found:
            where = f"of {before.task.id!r}" if alike else f"of {before.task.id!r} and {now.task.id!r}"
            return f"its episodes {first} and {second} {where} met different environments: {'; '.join(found)}"
    return None
