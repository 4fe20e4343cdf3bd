"""FunctionJudge: a Python function as a verifier, `--verifier MODULE:ATTRIBUTE`.

The function gets a ReviewRequest (`core.review_request`) and may be async; a plain one runs in a thread, so several run
at once under `--concurrency`. It returns one of

    a Verdict (`core.types`)                      with `drafted` = the steps that there are
    {"verdict": "accept"}                         or {"verdict": "reject", "first_wrong": 1, "category": "unsafe",
                                                  "reason": "...", "replacement": None}: the form that models answer in
    a text                                        the same, as a model wrote it
    True, or a whole number n                     all steps stand; the first n of them stand. False is 0

Whatever else it returns, or a verdict that contradicts itself, is `unusable` and says why, never an accept; as with a
model, it is asked once more then, and `prompt` of that second request ends with what was wrong. An exception is a
failed call with the last line of its traceback. The function's source files are among the recorded facts by their
digests; a replay neither imports nor calls it.

A plain function has a daemon thread of its own for each call: one that never returns must not keep the program from
ending, and StopIteration, which no future takes, is an error like another.
"""

import asyncio
import contextvars
import functools
import hashlib
import inspect
import json
import sys
import threading
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from spectrace.core.review_request import ReviewRequest
from spectrace.core.types import Completion, Message, ModelFacts, Verdict
from spectrace.errors import ModelFailed, UsageError
from spectrace.models.judge import ACCEPT, rejection

T = TypeVar("T")
Judging = Callable[[ReviewRequest], object | Awaitable[object]]


class FunctionJudge:
    """A function in a model's place."""

    def __init__(self, name: str, function: object) -> None:
        """Call it `name`; raise UsageError where it cannot be called."""
        if not callable(function) or isinstance(function, type):
            what = "a class" if isinstance(function, type) else type(function).__name__
            raise UsageError(f"verifier {name}: expected a function of a ReviewRequest, found {what}.")
        self._name = name
        self._function: Judging = function
        self._sources = _sources(name, function)

    async def facts(self) -> ModelFacts:
        """Name the function and the digests of its source files."""
        return ModelFacts("", "function", self._name, server=json.dumps({"sources": self._sources}, sort_keys=True))

    def covers(self, request: ReviewRequest) -> bool:
        """A function can be asked anything."""
        del request
        return True

    def unused(self) -> tuple[str, ...]:
        """Nothing is held."""
        return ()

    async def judge(self, request: ReviewRequest) -> Completion:
        """Call the function; what it raises is a failed call."""
        begun = time.monotonic_ns()
        answer, error = await _called(self._function, request)
        took = (time.monotonic_ns() - begun) // 1000
        if error is not None:
            said = traceback.format_exception_only(error)[-1].strip()
            raise ModelFailed("invalid", f"{self._name} raised {said}{_where(error)}", latency_us=took) from error
        message = Message("assistant", verdict_text(answer, request.drafted))
        return Completion(message, finish_reason="stop", model=self._name, latency_us=took)

    async def close(self) -> None:
        """Nothing is held."""


async def _called(function: Judging, request: ReviewRequest) -> tuple[object, BaseException | None]:
    """Return what the function returned and None, or None and what it raised."""
    answer: object = function
    try:
        if inspect.iscoroutinefunction(function):
            answer = function(request)
        else:
            answer, error = await _in_thread(function, request)
            if error is not None:
                return None, error
        return (await answer) if inspect.isawaitable(answer) else answer, None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - it belongs to whoever reads the log
        return None, error


async def _in_thread(function: Judging, request: ReviewRequest) -> tuple[object, BaseException | None]:
    loop, context = asyncio.get_running_loop(), contextvars.copy_context()
    ended: asyncio.Future[tuple[object, BaseException | None]] = loop.create_future()

    def call() -> None:
        try:
            outcome: tuple[object, BaseException | None] = context.run(function, request), None
        except BaseException as error:  # noqa: BLE001 - as above, CancelledError included
            outcome = None, error
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_settle, ended, outcome)

    threading.Thread(target=call, name="verifier", daemon=True).start()
    return await ended


def _settle(ended: "asyncio.Future[T]", outcome: T) -> None:
    if not ended.done():
        ended.set_result(outcome)


def _where(error: BaseException) -> str:
    """Say in which line it was raised: the last frame that is the user's."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).parent != Path(__file__).parent]
    return f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""


def verdict_text(answer: object, drafted: int) -> str:
    """Return what a function returned as the JSON text of a verdict, or as a text that no reader takes for one."""
    match answer:
        case bool():
            return ACCEPT if answer else rejection(0, None, "The function returned False.")
        case int():
            if not 0 <= answer <= drafted:
                return f"{answer} of {drafted} steps stand, it says"
            return ACCEPT if answer == drafted else rejection(answer, None, f"The function returned {answer}.")
        case Verdict():
            return _of_verdict(answer, drafted)
        case str():
            return answer
        case Mapping():
            try:
                return json.dumps(dict(answer), ensure_ascii=False, allow_nan=False)
            except (TypeError, ValueError, RecursionError) as error:
                return f"a mapping that is no JSON: {error}"
        case _:
            kind = type(answer)
            return (
                f"{kind.__name__ if kind.__module__ == 'builtins' else f'{kind.__module__}.{kind.__name__}'} returned"
            )


def _of_verdict(verdict: Verdict, drafted: int) -> str:
    if verdict.status == "unusable":
        return f"unusable, by its own word: {verdict.cause or 'no cause'}"
    if verdict.drafted != drafted:
        return f"a Verdict on {verdict.drafted} steps, not {drafted}"
    if not 0 <= verdict.accepted <= drafted:
        return f"{verdict.accepted} of {drafted} steps stand, it says"
    if verdict.accepts_all:
        return ACCEPT
    return rejection(verdict.accepted, verdict.category, verdict.reason, verdict.replacement)


def _sources(name: str, function: object) -> str:
    """Return the modules that the function was named in and is defined in, each with the digest of its file."""
    inner = inspect.unwrap(function.func if isinstance(function, functools.partial) else function)  # type: ignore[arg-type]
    defined = getattr(inner, "__module__", None) or type(inner).__module__
    modules = dict.fromkeys((name.partition(":")[0], defined))
    return ", ".join(f"{module} {_digest(module) or 'without a file'}" for module in modules)


def _digest(module: str) -> str | None:
    """Return the digest of a module's file; None where it has none, such as a built-in's."""
    file = getattr(sys.modules.get(module), "__file__", None)
    try:
        return None if file is None else f"sha256:{hashlib.sha256(Path(file).read_bytes()).hexdigest()}"
    except OSError:
        return None
