"""One event loop a command: Ctrl-C and SIGTERM both cancel it, so that whatever is being recorded gets its end."""

import asyncio
import signal
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


def run_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end; raise KeyboardInterrupt when it was interrupted, after it has wound down."""

    async def guarded() -> T:
        task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError):  # Windows has no SIGTERM to handle
            loop.add_signal_handler(signal.SIGTERM, task.cancel if task is not None else loop.stop)
        return await work

    try:
        return asyncio.run(guarded())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
