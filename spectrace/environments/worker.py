"""One thread for an environment's blocking functions, so that a time limit can leave one behind.

All of an instance's functions run in the same thread, in order: its state may be something that belongs to one
thread, such as a sqlite3 connection. A function that is abandoned keeps its thread; the next one gets a new one.
Threads are daemons: a function that never returns must not keep the program from ending.
"""

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import NoReturn, TypeVar

T = TypeVar("T")


class Worker:
    """Runs functions in a thread of its own, one after the other."""

    def __init__(self, name: str) -> None:
        """Name the thread; it starts with the first function."""
        self._name = name
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] | None = None

    async def run(self, function: Callable[[], T]) -> T:
        """Return what the function returns or raise what it raises; when cancelled, leave it behind."""
        job = self._submit(function)
        try:
            ended = await asyncio.wrap_future(job)
        except asyncio.CancelledError:
            self.close()
            raise
        return ended()

    def run_now(self, function: Callable[[], T]) -> T:
        """Wait for the function without letting the event loop run: for quick ones only."""
        return self._submit(function).result()()

    def close(self) -> None:
        """Let the thread end once it has nothing more to do."""
        if self._jobs is not None:
            self._jobs.put(None)
            self._jobs = None

    def _submit(self, function: Callable[[], T]) -> "Future[Callable[[], T]]":
        if self._jobs is None:
            self._jobs = queue.SimpleQueue()
            threading.Thread(target=_serve, args=(self._jobs,), name=self._name, daemon=True).start()
        future: Future[Callable[[], T]] = Future()
        context = contextvars.copy_context()
        self._jobs.put(lambda: context.run(_settle, future, function))
        return future


def _serve(jobs: "queue.SimpleQueue[Callable[[], None] | None]") -> None:
    while (job := jobs.get()) is not None:
        job()


def _settle(future: "Future[Callable[[], T]]", function: Callable[[], T]) -> None:
    """Give the future a thunk of the outcome: a future refuses StopIteration and rewrites CancelledError."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = function()
    except BaseException as error:  # noqa: BLE001 - it belongs to whoever waits, SystemExit included
        future.set_result(_raising(error))
    else:
        future.set_result(lambda: result)


def _raising(error: BaseException) -> Callable[[], NoReturn]:
    def again() -> NoReturn:
        raise error

    return again
