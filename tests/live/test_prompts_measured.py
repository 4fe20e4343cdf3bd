"""Shared prompts save what the radix model says they save, by a real server's own count (PROTOCOL section 5)."""

import asyncio

import pytest

from tests.live.prefill import LAYOUTS, prefills

pytestmark = [pytest.mark.live, pytest.mark.timeout(1500)]


@pytest.fixture(scope="module")
def measured(sglang_url):
    return {layout: asyncio.run(prefills(sglang_url, layout)) for layout in LAYOUTS}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_prefill_is_what_the_radix_model_predicts(measured, layout):
    assert sum(one.modelled for one in measured[layout]) == pytest.approx(
        sum(one.measured for one in measured[layout]), rel=0.05
    )


def test_shared_prompts_are_read_no_more_often_wherever_a_corrective_turn_occurs(measured):
    pairs = list(zip(measured["shared"], measured["separate"], strict=True))
    corrected = [(shared.measured, separate.measured) for shared, separate in pairs if shared.corrective]

    assert len(corrected) >= 3
    assert [shared for shared, separate in corrected if shared > separate] == []


def test_both_layouts_walk_the_same_episodes(measured):
    shared, separate = ([(one.task, one.calls) for one in measured[layout]] for layout in LAYOUTS)

    assert shared == separate
