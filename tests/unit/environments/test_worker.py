import asyncio
import contextvars
import threading

import pytest
from aio import in_loop

from spectrace.environments.worker import Worker


def alive(name):
    return [thread for thread in threading.enumerate() if thread.name == name]


def wait_until_none(name):
    for thread in alive(name):
        thread.join(5)
    return alive(name)


@in_loop
async def test_functions_run_one_after_the_other_in_one_thread():
    worker = Worker("one")
    threads = [await worker.run(threading.current_thread) for _ in range(3)]
    threads.append(worker.run_now(threading.current_thread))
    worker.close()

    assert len(set(threads)) == 1
    assert threads[0] is not threading.main_thread()
    assert threads[0].daemon


@in_loop
async def test_the_thread_ends_when_the_worker_is_closed():
    worker = Worker("closing")
    await worker.run(lambda: None)
    worker.close()

    assert wait_until_none("closing") == []


@pytest.mark.parametrize("error", [KeyError("x"), StopIteration(1), SystemExit(3), TimeoutError()])
@in_loop
async def test_whatever_a_function_raises_reaches_who_waits(error):
    def fail():
        raise error

    worker = Worker("raising")
    with pytest.raises((type(error), RuntimeError)) as caught:
        await worker.run(fail)
    worker.close()

    assert error in {caught.value, caught.value.__cause__}


@in_loop
async def test_a_function_left_behind_keeps_its_thread_and_the_next_gets_a_new_one():
    worker, stop = Worker("stuck"), threading.Event()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await worker.run(lambda: stop.wait(10))

    assert await worker.run(lambda: "next") == "next"
    stop.set()
    worker.close()
    assert wait_until_none("stuck") == []


@in_loop
async def test_context_variables_reach_the_function():
    variable = contextvars.ContextVar("variable", default="unset")
    variable.set("set")
    worker = Worker("context")
    found = await worker.run(variable.get)
    worker.close()

    assert found == "set"
