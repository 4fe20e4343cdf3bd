import asyncio
import threading

import pytest

from spectrace.testing.loop import in_a_loop


async def here():
    return threading.current_thread().name


async def broken():
    raise KeyError("oops")


def test_a_coroutine_runs_in_this_thread_where_no_loop_does():
    assert in_a_loop(here()) == threading.current_thread().name


def test_inside_a_loop_it_runs_in_a_thread_of_its_own():
    async def test():
        return in_a_loop(here())

    assert asyncio.run(test()) != threading.current_thread().name


def test_what_it_raises_comes_out_of_either():
    async def test():
        return in_a_loop(broken())

    with pytest.raises(KeyError, match="oops"):
        in_a_loop(broken())
    with pytest.raises(KeyError, match="oops"):
        asyncio.run(test())
