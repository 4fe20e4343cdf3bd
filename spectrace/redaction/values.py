"""Every text of a structured value through a redactor: event bodies, completions, observations, tasks, tools.

A value without secrets comes back as the very same object. A pair of texts (a label, a header) is told apart by its
first. Digests that an episode records of its task and tools are those of the redacted ones: what is recorded is whole
in itself, and replay needs no key.
"""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache
from typing import TypeVar, cast

from spectrace.core.digest import task_digest, tools_digest
from spectrace.core.events import EpisodeStarted, ToolsChanged
from spectrace.core.types import Task
from spectrace.redaction.findings import MARK, PLACEHOLDER
from spectrace.redaction.redactor import Redactor

T = TypeVar("T")

_PAIR = 2


def redacted(redactor: Redactor | None, value: T) -> T:
    """Return a value with every text in it redacted; without a redactor, as it is."""
    if redactor is None:
        return value
    mapped = leaves(value, redactor.text, redactor.named)
    if isinstance(mapped, EpisodeStarted) and isinstance(value, EpisodeStarted):
        return cast("T", _started(value, mapped))
    if isinstance(mapped, ToolsChanged) and mapped is not value:
        return cast("T", replace(mapped, tools_digest=tools_digest(mapped.tools)))
    return mapped


def told_task(redactor: Redactor | None, task: Task) -> Task:
    """Return a task as an episode records it: its id stays, that is how it is found again."""
    return replace(redacted(redactor, Task(task.id, task.request, task.data)), id=task.id)


def restored(redactor: Redactor, value: T) -> T:
    """Return a value with every placeholder that is known put back."""
    return leaves(value, redactor.restore)


def unknown(redactor: Redactor, value: object) -> tuple[str, ...]:
    """Return the placeholders in a value that cannot be put back."""
    return _told(redactor.unknown, value)


def mangled(redactor: Redactor, value: object) -> tuple[str, ...]:
    """Return what looks like a placeholder in a value and is none."""
    return _told(redactor.mangled, value)


def _told(find: Callable[[str], tuple[str, ...]], value: object) -> tuple[str, ...]:
    found: dict[str, None] = {}

    def look(text: str) -> str:
        found.update(dict.fromkeys(find(text)))
        return text

    leaves(value, look)
    return tuple(found)


def leaves(value: T, text: Callable[[str], str], named: Callable[[str, str], str] | None = None) -> T:
    """Map every text in a frozen value: of dataclasses, tuples and texts, nested as they may be."""
    return cast("T", _mapped(value, text, named))


def _mapped(value: object, text: Callable[[str], str], named: Callable[[str, str], str] | None) -> object:
    if isinstance(value, str):
        return value if isinstance(value, Enum) else text(value)
    if isinstance(value, tuple):
        if named is not None and len(value) == _PAIR and isinstance(value[0], str) and isinstance(value[1], str):
            told = text(value[0]), named(value[0], value[1])
            return value if told == value else told
        items = tuple(_mapped(item, text, named) for item in value)
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if is_dataclass(value) and not isinstance(value, type):
        changed = {}
        for name in _names(type(value)):
            old = getattr(value, name)
            new = _mapped(old, text, named)
            if new is not old:
                changed[name] = new
        return replace(value, **changed) if changed else value
    return value


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _started(was: EpisodeStarted, now: EpisodeStarted) -> EpisodeStarted:
    """Keep what episodes are found and run again by; digests are over the redacted texts."""
    kept = replace(
        now,
        project=was.project,
        run=was.run,
        protocol=was.protocol,
        options=was.options,
        versions=was.versions,
        parent=was.parent,
        task=replace(now.task, id=was.task.id),
    )
    return replace(kept, task_digest=task_digest(kept.task), tools_digest=tools_digest(kept.tools))


def has_placeholder(value: object) -> bool:
    """Whether a placeholder stands in any text of a value."""
    found = False

    def look(text: str) -> str:
        nonlocal found
        found = found or (MARK in text and PLACEHOLDER.search(text) is not None)
        return text

    leaves(value, look)
    return found
