"""Coroutines side by side: the first that fails, or a cancellation, ends the others, and none is left behind."""

import asyncio
from collections.abc import Coroutine, Iterable


async def together(work: Iterable[Coroutine[object, object, None]]) -> None:
    """Run them all to their ends; raise the first failure once the others have had theirs."""
    working = [asyncio.create_task(one) for one in work]
    try:
        await asyncio.gather(*working)
    finally:
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)
