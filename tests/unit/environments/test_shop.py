import asyncio
from importlib.resources import files

import pytest

from spectrace.core.events import ActCompleted, RepairMade, VerdictGiven
from spectrace.core.prompts import Prompts
from spectrace.core.setup import Setup
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Effect, ModelFacts, Observation
from spectrace.environments.shop import INSTRUCTIONS, TOOLS, open_shop
from spectrace.environments.shop_tasks import TASKS
from spectrace.models.script_file import read_script
from spectrace.runs.drive import Driver
from spectrace.runs.sources import Limits, LiveSource

WRITES = {"cancel_order", "change_address", "start_return", "refund_order", "exchange_item", "issue_voucher"}


def call(tool, arguments, task=TASKS[0]):
    async def play():
        shop = open_shop()
        shop.prepare(task)
        await shop.reset(None)
        before = shop.fingerprint()
        observation = await shop.act(Call(tool, arguments))
        moved = shop.fingerprint() != before
        await shop.close()
        return observation, moved

    return asyncio.run(play())


def test_every_effect_is_declared():
    specs = open_shop().tools()

    assert {spec.name for spec in specs if spec.effect is Effect.WRITE} == WRITES
    assert {spec.effect_by for spec in specs} == {"declared"}
    assert len(specs) == len(TOOLS) == 11


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        (
            "find_customer",
            '{"name_or_email": "DAN@mail.example "}',
            "C14 Dan Novak, dan@mail.example, vouchers so far: 500 cents",
        ),
        ("list_orders", '{"customer_id": "C15"}', "W205 delivered: kettle\nW212 shipped: mug green"),
        (
            "get_order",
            '{"order_id": "W206"}',
            "W206 of C14, returned, return started. Items: P8 teapot 5200. Total 5200. To: 1 Bell Ct, Ely",
        ),
        ("get_product", '{"product_id": "P6"}', "P6 tea towel grey, 900 cents, 0 in stock"),
        (
            "search_products",
            '{"text": "Mug"}',
            "P1 mug blue, 1500 cents, 8 in stock\nP2 mug green, 1500 cents, 3 in stock",
        ),
        ("search_products", '{"text": "P99"}', "no products found"),
    ],
)
def test_a_read_says_this_and_changes_nothing(tool, arguments, text):
    assert call(tool, arguments) == (Observation(text), False)


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("cancel_order", '{"order_id": "W201"}', "W201 is cancelled"),
        ("change_address", '{"order_id": "W212", "address": " 3 Dock Rd "}', "W212 goes to 3 Dock Rd"),
        ("start_return", '{"order_id": "W205"}', "return of W205 started"),
        ("refund_order", '{"order_id": "W205", "cents": 8900}', "8900 cents refunded for W205"),
        (
            "exchange_item",
            '{"order_id": "W207", "product_id": "P1", "new_product_id": "P3"}',
            "P1 of W207 exchanged for P3",
        ),
        ("issue_voucher", '{"customer_id": "C14", "cents": 500}', "voucher of 500 cents issued to C14"),
    ],
)
def test_a_write_is_done_whatever_the_policy_says(tool, arguments, text):
    assert call(tool, arguments) == (Observation(text), True)


@pytest.mark.parametrize(
    ("tool", "arguments", "kind"),
    [
        ("find_customer", '{"name_or_email": "Nobody"}', "NotFound"),
        ("list_orders", '{"customer_id": "W200"}', "NotFound"),
        ("get_order", '{"order_id": "W999"}', "NotFound"),
        ("cancel_order", '{"order_id": "W999"}', "NotFound"),
        ("get_product", '{"product_id": "P99"}', "NotFound"),
        ("refund_order", '{"order_id": "W205", "cents": 8901}', "Refused"),
        ("refund_order", '{"order_id": "W205", "cents": 0}', "Refused"),
        ("refund_order", '{"order_id": "W205", "cents": 1.5}', "InvalidArguments"),
        ("start_return", '{"order_id": "W206"}', "Refused"),
        ("exchange_item", '{"order_id": "W207", "product_id": "P2", "new_product_id": "P1"}', "Refused"),
        ("issue_voucher", '{"customer_id": "C14", "cents": -500}', "Refused"),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(tool, arguments, kind):
    observation, moved = call(tool, arguments)

    assert (observation.error, observation.content.partition(":")[0], moved) == (True, kind, False)


def test_what_is_done_twice_is_refused_the_second_time():
    async def play():
        shop = open_shop()
        shop.prepare(TASKS[0])
        await shop.reset(None)
        calls = [Call("cancel_order", '{"order_id": "W200"}')] * 2
        observations = [(await shop.act(action)).content for action in calls]
        await shop.close()
        return observations

    assert asyncio.run(play()) == ["W200 is cancelled", "Refused: W200 is cancelled already"]


def test_an_id_that_nobody_mentioned_meets_an_objection():
    async def play():
        shop = open_shop()
        shop.prepare(TASKS[0])
        await shop.reset(None)
        cancel = Call("cancel_order", '{"order_id": "W201"}')
        await shop.act(Call("get_order", '{"order_id": "W999"}'))
        found = [shop.check(cancel), shop.check(Call("get_order", '{"order_id": "W999"}'))]
        found.append(shop.check(Call("get_order", '{"order_id": "W200"}')))
        await shop.act(Call("list_orders", '{"customer_id": "C12"}'))
        found.append(shop.check(cancel))
        await shop.close()
        return found

    assert asyncio.run(play()) == [
        "never seen in this episode: W201",
        "never seen in this episode: W999",
        None,
        None,
    ]


def test_prompts_are_short_enough_for_a_model_on_a_cpu():
    """About four characters a token: instructions under 250 tokens, a tool's description under 15."""
    assert len(INSTRUCTIONS) < 1000
    assert max(len(spec.description) for spec in open_shop().tools()) <= 50


def test_the_first_fingerprint_is_that_of_the_shipped_data():
    facts = open_shop().prepare(TASKS[0])

    assert (facts.restore, facts.clock, facts.replies, facts.finish) == ("reset", "none", False, True)
    assert facts.data == (("desk", facts.fingerprint),)


class Log:
    """A log that only remembers."""

    def __init__(self):
        self.bodies = []

    def write(self, _lane, body):
        self.bodies.append(body)
        return len(self.bodies)

    async def settle(self, *, durable): ...

    def act_key(self, position):
        return position


def play_scripts(task_id):
    async def play():
        shop = open_shop()
        task = next(task for task in TASKS if task.id == task_id)
        facts = shop.prepare(task)
        scripts = files("spectrace.environments") / "shop_scripts"
        clients = {role: read_script(str(scripts / f"{role}.json")) for role in ("weak", "strong")}
        models = tuple(ModelFacts(role, "scripted", role) for role in clients)
        setup = Setup(task, facts, shop.instructions(task), shop.tools(), Prompts(), models)
        log = Log()
        outcome = await Driver(LiveSource(shop, clients, Limits()), log, "live").run(SpecAgent().run(setup))
        await shop.close()
        return outcome, log.bodies

    outcome, bodies = asyncio.run(play())
    verdicts = [body.outcome for body in bodies if isinstance(body, VerdictGiven)]
    repairs = [body.kind for body in bodies if isinstance(body, RepairMade)]
    writes = [body.tool for body in bodies if isinstance(body, ActCompleted) and body.effect == "write"]
    return (outcome.status, outcome.reward), verdicts, repairs, writes


@pytest.mark.parametrize(
    ("task", "verdicts", "repairs", "writes"),
    [
        ("cancel-own", ["reject", "accept", "accept"], ["fused"], ["cancel_order"]),
        ("voucher-late", ["accept", "accept"], [], ["issue_voucher"]),
        ("cancel-shipped", ["reject"], ["fused"], []),
    ],
)
def test_the_shipped_scripts_play_whole_episodes_to_the_reward(task, verdicts, repairs, writes):
    assert play_scripts(task) == (("completed", "1.0"), verdicts, repairs, writes)
