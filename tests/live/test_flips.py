"""A real server's scored verdicts under load: in bfloat16 they move, in float32 they stand (to the fifth digit)."""

import asyncio

import pytest
from live import flips
from live.planted import PLANTED
from live.sglang_server import server

pytestmark = [pytest.mark.live, pytest.mark.timeout(1500)]

SEGMENTS = PLANTED[:4]
ROUNDING = 1e-3
"""Nats: far over what float32 moves by (1e-5), far under a step of a bfloat16 logit (6e-2)."""


@pytest.mark.parametrize(("dtype", "moves"), [("bfloat16", True), ("float32", False)])
def test_scored_verdicts_move_under_load_in_bfloat16_and_not_in_float32(can_serve, dtype, moves):
    with server.running(dtype=dtype, flags=flips.CHUNKS) as url:
        found = asyncio.run(flips.moved(url, SEGMENTS, loads=1))

    assert (max(one.nats for one in found) > ROUNDING) == moves
