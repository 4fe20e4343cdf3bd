"""Coroutine tests without a plugin: `@in_loop` runs the test in an event loop of its own."""

import asyncio
import functools


def in_loop(test):
    @functools.wraps(test)
    def run(*args, **kwargs):
        asyncio.run(test(*args, **kwargs))

    return run
