import asyncio
import os
import signal

import pytest

from spectrace.cli.loop import run_loop


def test_a_result_comes_back():
    async def work():
        await asyncio.sleep(0)
        return 3

    assert run_loop(work()) == 3


@pytest.fixture
def heeding_ctrl_c():
    """Undo what a shell does to the jobs that it puts in the background: they ignore SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeding_ctrl_c")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_the_work_wind_down_and_is_an_interrupt(number):
    ended = []

    async def work():
        os.kill(os.getpid(), number)
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("wound down")

    with pytest.raises(KeyboardInterrupt):
        run_loop(work())

    assert ended == ["wound down"]


def test_an_error_passes_through():
    async def work():
        raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        run_loop(work())
