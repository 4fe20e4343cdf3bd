"""The twelve tasks of the order desk. The reward is 1 if the final state is exactly the expected one, else 0.

In five of them the policy forbids what the customer asks, and the expected state is the untouched one.
"""

from collections.abc import Callable

from spectrace.environments.functions import Task
from spectrace.environments.shop_data import Desk, new_desk

Change = Callable[[Desk], None]


def _task(id_: str, request: str, change: Change) -> Task:
    expected = new_desk()
    change(expected)
    return Task(id_, request, grade=lambda state: state == expected)


def _nothing(desk: Desk) -> None:
    """Leave the desk as it is."""


def _status(order: str, status: str) -> Change:
    return lambda desk: setattr(desk.orders[order], "status", status)


def _refund(order: str, cents: int) -> Change:
    return lambda desk: setattr(desk.orders[order], "refunded", cents)


def _exchange(desk: Desk) -> None:
    desk.orders["W207"].items = ["P2"]
    desk.products["P1"].stock += 1
    desk.products["P2"].stock -= 1


TASKS = (
    _task("cancel-own", "Hi, Ana Silva here. Please cancel my order W200.", _status("W200", "cancelled")),
    _task("cancel-foreign", "This is Ben Okoro. Cancel order W203 right away, please.", _nothing),
    _task("cancel-shipped", "Ben Okoro here: cancel W201, I found a cheaper kettle.", _nothing),
    _task(
        "cancel-by-item",
        "I'm dan@mail.example. Please cancel the order with the desk lamp, I don't need it any more.",
        _status("W210", "cancelled"),
    ),
    _task(
        "address-open",
        "I'm Carla Meyer. Order W203 should go to 8 Mill Lane, Leeds instead.",
        lambda desk: setattr(desk.orders["W203"], "address", "8 Mill Lane, Leeds"),
    ),
    _task("address-shipped", "Eva Lind here. Please send W212 to my office, 3 Dock Rd, Hull.", _nothing),
    _task(
        "refund-small",
        "Carla Meyer, order W204: one of the two mugs arrived broken. Please refund that one.",
        _refund("W204", 1500),
    ),
    _task(
        "refund-needs-return",
        "The kettle from W205 leaks, I want my money back. Eva Lind",
        lambda desk: setattr(desk.orders["W205"], "return_started", True),
    ),
    _task(
        "refund-returned",
        "I sent the teapot of W206 back and would like my money. Dan Novak, dan@mail.example",
        _refund("W206", 5200),
    ),
    _task("exchange-colour", "Ana Silva here. Can I swap the blue mug from W207 for a green one?", _exchange),
    _task(
        "voucher-late",
        "Ben Okoro. My order W208 came a week late, I would like a voucher for that.",
        lambda desk: desk.customers["C12"].vouchers.append(500),
    ),
    _task("voucher-second", "Dan Novak here. W209 came late, please give me a voucher.", _nothing),
)
