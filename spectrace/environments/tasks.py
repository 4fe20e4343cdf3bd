"""A user's own task: what is asked, and the function that grades how it ended."""

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from spectrace.core.types import Evaluation
from spectrace.core.types import Task as CoreTask
from spectrace.environments.values import decimal_text, encode
from spectrace.errors import UsageError


@dataclass(frozen=True, slots=True, init=False)
class Task(CoreTask):
    """A task with its grade: a function of the final state that returns a bool, a number or an Evaluation."""

    grade: Callable[..., Any] | None = field(default=None, compare=False, repr=False)

    def __init__(self, id: str, request: str, grade: Callable[..., Any] | None = None, data: str = "{}") -> None:  # noqa: A002
        """`data` is JSON text that `reset` may want; it is recorded, the grade is not."""
        for part, text in (("id", id), ("request", request), ("data", data)):
            if not isinstance(text, str):
                raise UsageError(f"Task({id!r}, ...): {part} must be text, found {type(text).__name__} {text!r:.80}.")
        if not id:
            raise UsageError("Task('', ...): id must not be empty: it is what --task names.")
        if grade is not None and not callable(grade):
            raise UsageError(
                f"Task({id!r}, ...): grade must be a function of the final state, found {type(grade).__name__}."
            )
        for name, value in (("id", id), ("request", request), ("data", data), ("grade", grade)):
            object.__setattr__(self, name, value)

    def plain(self) -> CoreTask:
        """Return the task as it is recorded."""
        return CoreTask(self.id, self.request, self.data)


def graded(value: object) -> Evaluation:
    """Return what a grade function said as an Evaluation; raise ValueError for what is no grade."""
    match value:
        case Evaluation(reward=reward):
            if reward is not None:
                decimal_text(_decimal(reward))
            return value
        case bool() | int() | float() | Decimal():
            return Evaluation(decimal_text(value), encode({"grade": value}))
        case _:
            msg = f"expected a grade that is a bool, a finite number or an Evaluation, found {value!r}"
            raise ValueError(msg)


def _decimal(reward: object) -> Decimal:
    try:
        return Decimal(reward if isinstance(reward, str) else "")
    except InvalidOperation:
        msg = f"expected a decimal string as the reward of an Evaluation, found {reward!r}"
        raise ValueError(msg) from None
