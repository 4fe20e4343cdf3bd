"""Side by side: all come to their ends, whatever becomes of one."""

import asyncio

import pytest

from spectrace.runs.together import together


async def hangs(ends):
    try:
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(0)
        ends.append("ended")


async def fails():
    await asyncio.sleep(0)
    raise OSError("gone")


def test_all_are_at_work_at_once():
    meeting = asyncio.Barrier(3)

    async def meets():
        await meeting.wait()

    asyncio.run(asyncio.wait_for(together(meets() for _ in range(3)), 5))


def test_the_first_that_fails_ends_the_others_before_it_is_told():
    ends = []
    with pytest.raises(OSError, match="gone"):
        asyncio.run(together([hangs(ends), fails(), hangs(ends)]))

    assert ends == ["ended", "ended"]


def test_a_cancellation_waits_for_every_end():
    ends = []

    async def cancelled():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(together([hangs(ends), hangs(ends)]), 0.01)

    asyncio.run(cancelled())
    assert ends == ["ended", "ended"]
