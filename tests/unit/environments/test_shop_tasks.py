import asyncio

import pytest

from spectrace.core.types import Call, Effect, Finish
from spectrace.environments.shop import open_shop
from spectrace.environments.shop_tasks import TASKS

FIND = {
    "Ana": 'find_customer {"name_or_email": "Ana Silva"}',
    "Ben": 'find_customer {"name_or_email": "ben okoro"}',
    "Carla": 'find_customer {"name_or_email": "Carla Meyer"}',
    "Dan": 'find_customer {"name_or_email": "dan@mail.example"}',
    "Eva": 'find_customer {"name_or_email": "Eva Lind"}',
}
GOOD = {
    "cancel-own": [FIND["Ana"], 'get_order {"order_id": "W200"}', 'cancel_order {"order_id": "W200"}'],
    "cancel-foreign": [FIND["Ben"], 'get_order {"order_id": "W203"}'],
    "cancel-shipped": [FIND["Ben"], 'get_order {"order_id": "W201"}'],
    "cancel-by-item": [
        FIND["Dan"],
        'list_orders {"customer_id": "C14"}',
        'get_order {"order_id": "W210"}',
        'cancel_order {"order_id": "W210"}',
    ],
    "address-open": [
        FIND["Carla"],
        'get_order {"order_id": "W203"}',
        'change_address {"order_id": "W203", "address": "8 Mill Lane, Leeds"}',
    ],
    "address-shipped": [FIND["Eva"], 'get_order {"order_id": "W212"}'],
    "refund-small": [
        FIND["Carla"],
        'get_order {"order_id": "W204"}',
        'refund_order {"order_id": "W204", "cents": 1500}',
    ],
    "refund-needs-return": [FIND["Eva"], 'get_order {"order_id": "W205"}', 'start_return {"order_id": "W205"}'],
    "refund-returned": [
        FIND["Dan"],
        'get_order {"order_id": "W206"}',
        'refund_order {"order_id": "W206", "cents": 5200}',
    ],
    "exchange-colour": [
        FIND["Ana"],
        'get_order {"order_id": "W207"}',
        'search_products {"text": "mug"}',
        'exchange_item {"order_id": "W207", "product_id": "P1", "new_product_id": "P2"}',
    ],
    "voucher-late": [
        FIND["Ben"],
        'get_order {"order_id": "W208"}',
        'issue_voucher {"customer_id": "C12", "cents": 500}',
    ],
    "voucher-second": [FIND["Dan"], 'get_order {"order_id": "W209"}'],
}
HASTY = {
    "cancel-foreign": ['cancel_order {"order_id": "W203"}'],
    "cancel-shipped": ['cancel_order {"order_id": "W201"}'],
    "cancel-by-item": ['cancel_order {"order_id": "W211"}'],
    "address-shipped": ['change_address {"order_id": "W212", "address": "3 Dock Rd, Hull"}'],
    "refund-small": ['refund_order {"order_id": "W204", "cents": 3000}'],
    "refund-needs-return": ['refund_order {"order_id": "W205", "cents": 8900}'],
    "exchange-colour": ['exchange_item {"order_id": "W207", "product_id": "P1", "new_product_id": "P3"}'],
    "voucher-second": ['issue_voucher {"customer_id": "C14", "cents": 500}'],
}


async def play(task, steps):
    """Return the reward, and what the environment had to object to before each step."""
    shop = open_shop()
    shop.prepare(task)
    await shop.reset(None)
    objections = []
    for step in steps:
        name, _, arguments = step.partition(" ")
        action = Call(name, arguments)
        objections.append(shop.check(action))
        observation = await shop.act(action)
        assert not observation.error, observation
    await shop.act(Finish("Done."))
    evaluation = await shop.evaluate()
    await shop.close()
    return evaluation.reward, [objection for objection in objections if objection]


def test_the_tasks_are_the_ones_played_here():
    assert [task.id for task in TASKS] == list(GOOD)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_a_careful_episode_earns_the_reward_without_an_objection(task):
    assert asyncio.run(play(task, GOOD[task.id])) == ("1.0", [])


@pytest.mark.parametrize("task", [task for task in TASKS if task.id in HASTY], ids=lambda task: task.id)
def test_the_tools_let_a_hasty_write_through_and_it_costs_the_reward(task):
    assert asyncio.run(play(task, HASTY[task.id]))[0] == "0.0"


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_doing_nothing_is_right_only_where_the_policy_forbids_the_wish(task):
    writes = {spec.name for spec in open_shop().tools() if spec.effect is Effect.WRITE}
    forbidden = not any(step.partition(" ")[0] in writes for step in GOOD[task.id])

    assert asyncio.run(play(task, []))[0] == ("1.0" if forbidden else "0.0")
