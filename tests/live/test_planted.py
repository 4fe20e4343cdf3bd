"""The planted segments are what they are called: the shop's own grade says so. Quick, no model."""

import asyncio
import json

import pytest

from spectrace.environments.shop import INSTRUCTIONS, open_shop
from tests.live.planted import FORBIDDEN, PLANTED, RIGHT, SKIPPED, WRONG_ID, laid_out
from tests.live.verdicts import Judged, agreement, recall


def rewarded(planted):
    """Take every step, the held one too, and return the shop's grade."""

    async def go():
        shop = open_shop()
        shop.prepare(next(one for one in shop.tasks() if one.id == planted.task))
        await shop.reset(None)
        for step in planted.steps:
            observation = await shop.act(step, "agent")
        return observation, float((await shop.evaluate()).reward)

    return asyncio.run(go())


@pytest.mark.parametrize("planted", PLANTED, ids=lambda one: f"{one.task}-{one.kind}")
def test_the_shops_grade_tells_right_from_wrong(planted):
    observation, reward = rewarded(planted)

    assert not observation.error
    # What skips a look-up may end well: it is the policy that asks for one.
    assert reward == (1.0 if planted.kind in {RIGHT, SKIPPED} else 0.0)


def test_an_error_is_the_held_step_and_right_segments_have_none():
    assert [one for one in PLANTED if one.wrong != (None if one.kind == RIGHT else len(one.steps))] == []


def test_what_is_skipped_is_a_look_up_that_the_policy_asks_for():
    assert "find the customer by name or e-mail and read the order" in INSTRUCTIONS
    skipped = [[step.tool for step in one.steps] for one in PLANTED if one.kind == SKIPPED]

    assert all({"find_customer", "get_order"} - set(tools) for tools in skipped)


def test_there_are_as_many_of_each_kind_and_as_many_right_as_wrong():
    counts = {kind: sum(one.kind == kind for one in PLANTED) for kind in (RIGHT, WRONG_ID, SKIPPED, FORBIDDEN)}

    assert counts == {RIGHT: 12, WRONG_ID: 4, SKIPPED: 4, FORBIDDEN: 4}


def test_segments_are_observed_in_the_shop_and_their_last_step_is_held():
    history, steps = asyncio.run(laid_out(PLANTED[0]))

    assert [message.content for message in history.opening] == ["Hi, Ana Silva here. Please cancel my order W200."]
    assert steps[1].observation.content.startswith("W200 of C11, open")
    assert json.loads(steps[-1].action.arguments) == {"order_id": "W200"}
    assert steps[-1].observation is None


def judged(*accepted, odds=()):
    return [Judged(planted, stands, odds) for planted, stands in zip(PLANTED, accepted, strict=False)]


def test_recall_counts_errors_found_and_right_steps_refused():
    found = recall(judged(2, 2, 0, None))  # a right one refused, an error at its step, one too early, one unreadable

    assert found == {
        "rejected, of the segments with an error": (2, 2),
        "rejected at the very step": (1, 2),
        "rejected, wrong id": (1, 1),
        "rejected, skipped look-up": (1, 1),
        "rejected, of those that are right": (1, 2),
        "unusable": (1, 4),
    }


def test_agreement_leaves_out_what_cannot_be_read():
    found = agreement(judged(3, 2, None), judged(3, 1, 2, odds=(0.1, -2.0, 0.2)))

    assert found == {
        "same: everything accepted, or not": (2, 2),
        "same length accepted": (1, 2),
        "steps within 0.15 nat of the threshold": (2, 6),
    }
