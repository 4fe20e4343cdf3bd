"""A small order desk, built with `functions.py`: eleven tools, twelve tasks, a policy that a hasty model breaks.

The tools do what they are told and refuse only what makes no sense: that the order is the customer's, that it is
not shipped yet, that one voucher is enough is for the models to see. Prompts and observations are short, because a
model on a CPU reads 50 to 100 tokens a second.
"""

import re
from importlib import metadata

from spectrace.core.types import Action, Call
from spectrace.environments.functions import FunctionEnvironment, tool
from spectrace.environments.seen import Seen
from spectrace.environments.shop_data import Customer, Desk, Order, Product, new_desk
from spectrace.environments.shop_tasks import TASKS
from spectrace.environments.values import encoded_digest

INSTRUCTIONS = """\
You run the order desk of a small shop. Use the tools, then finish with a short message to the customer.
Policy:
- Before any change, find the customer by name or e-mail and read the order. It must be theirs.
- Only an open order can be cancelled or sent to another address.
- Refund only what was paid for the items concerned, of delivered or returned orders. More than 2000 cents only once \
the order is returned: if it is delivered, start a return instead.
- Exchange items of delivered orders only, for a product of the same price that is in stock.
- A voucher is 500 cents, for an order that came late, one per customer ever.
- Do only what was asked. What the policy forbids: change nothing, say why.
Money is in cents."""

_ID = re.compile(r"\b[CWP]\d+\b")


class NotFound(Exception):
    """There is no such thing."""


class Refused(Exception):
    """It makes no sense, whatever the policy says."""


def open_shop() -> FunctionEnvironment:
    """Return the order desk, for one episode."""
    return FunctionEnvironment.from_functions(
        "shop",
        TOOLS,
        INSTRUCTIONS,
        reset=new_desk,
        tasks=TASKS,
        fingerprint=Desk.snapshot,
        check=check,
        restore="reset",
        clock="none",
        version=metadata.version("spectrace"),
        data=[("desk", encoded_digest(new_desk().snapshot()))],
    )


def check(action: Action, seen: Seen) -> str | None:
    """Object to ids that neither the customer nor a tool has mentioned."""
    ids = _ID.findall(action.arguments) if isinstance(action, Call) else []
    unseen = seen.unseen(ids)
    return f"never seen in this episode: {', '.join(unseen)}" if unseen else None


@tool(effect="read")
def find_customer(state: Desk, name_or_email: str) -> str:
    """Find a customer by full name or e-mail."""
    wanted = name_or_email.strip().casefold()
    for id_, customer in state.customers.items():
        if wanted in {customer.name.casefold(), customer.email.casefold()}:
            vouchers = ", ".join(f"{amount} cents" for amount in customer.vouchers) or "none"
            return f"{id_} {customer.name}, {customer.email}, vouchers so far: {vouchers}"
    raise NotFound("no customer has that name or e-mail")


@tool(effect="read")
def list_orders(state: Desk, customer_id: str) -> str:
    """List a customer's orders."""
    _customer(state, customer_id)
    lines = [
        f"{id_} {order.status}: {', '.join(state.products[item].name for item in order.items)}"
        for id_, order in state.orders.items()
        if order.customer == customer_id
    ]
    return "\n".join(lines) or "no orders"


@tool(effect="read")
def get_order(state: Desk, order_id: str) -> str:
    """Read an order."""
    order = _order(state, order_id)
    items = ", ".join(f"{item} {state.products[item].name} {state.products[item].price}" for item in order.items)
    notes = [
        "came late" if order.late else "",
        "return started" if order.return_started else "",
        f"refunded {order.refunded}" if order.refunded else "",
    ]
    about = [f"{order_id} of {order.customer}", order.status, *filter(None, notes)]
    return f"{', '.join(about)}. Items: {items}. Total {state.total(order)}. To: {order.address}"


@tool(effect="read")
def get_product(state: Desk, product_id: str) -> str:
    """Read a product's price and stock."""
    return _shown(product_id, _product(state, product_id))


@tool(effect="read")
def search_products(state: Desk, text: str) -> str:
    """Find products by a word of their name."""
    wanted = text.strip().casefold()
    lines = [_shown(id_, product) for id_, product in state.products.items() if wanted in product.name]
    return "\n".join(lines) or "no products found"


@tool(effect="write")
def cancel_order(state: Desk, order_id: str) -> str:
    """Cancel an order."""
    order = _order(state, order_id)
    if order.status == "cancelled":
        raise Refused(f"{order_id} is cancelled already")
    order.status = "cancelled"
    return f"{order_id} is cancelled"


@tool(effect="write")
def change_address(state: Desk, order_id: str, address: str) -> str:
    """Send an order to another address."""
    order = _order(state, order_id)
    order.address = address.strip()
    return f"{order_id} goes to {order.address}"


@tool(effect="write")
def start_return(state: Desk, order_id: str) -> str:
    """Let the customer send an order back."""
    order = _order(state, order_id)
    if order.return_started:
        raise Refused(f"a return of {order_id} was started before")
    order.return_started = True
    return f"return of {order_id} started"


@tool(effect="write")
def refund_order(state: Desk, order_id: str, cents: int) -> str:
    """Pay money back for an order."""
    order = _order(state, order_id)
    if not 0 < cents <= state.total(order) - order.refunded:
        raise Refused(f"expected 1 to {state.total(order) - order.refunded} cents")
    order.refunded += cents
    return f"{cents} cents refunded for {order_id}"


@tool(effect="write")
def exchange_item(state: Desk, order_id: str, product_id: str, new_product_id: str) -> str:
    """Exchange one item of an order for another product."""
    order, old, new = _order(state, order_id), _product(state, product_id), _product(state, new_product_id)
    if product_id not in order.items:
        raise Refused(f"{product_id} is not in {order_id}")
    order.items[order.items.index(product_id)] = new_product_id
    old.stock += 1
    new.stock -= 1
    return f"{product_id} of {order_id} exchanged for {new_product_id}"


@tool(effect="write")
def issue_voucher(state: Desk, customer_id: str, cents: int) -> str:
    """Give a customer a voucher."""
    if cents <= 0:
        raise Refused("expected more than 0 cents")
    _customer(state, customer_id).vouchers.append(cents)
    return f"voucher of {cents} cents issued to {customer_id}"


TOOLS = (
    find_customer,
    list_orders,
    get_order,
    get_product,
    search_products,
    cancel_order,
    change_address,
    start_return,
    refund_order,
    exchange_item,
    issue_voucher,
)


def _customer(desk: Desk, id_: str) -> Customer:
    if id_ not in desk.customers:
        raise NotFound("no such customer id: find_customer tells it")
    return desk.customers[id_]


def _order(desk: Desk, id_: str) -> Order:
    if id_ not in desk.orders:
        raise NotFound("no such order id: list_orders tells them")
    return desk.orders[id_]


def _product(desk: Desk, id_: str) -> Product:
    if id_ not in desk.products:
        raise NotFound("no such product id: search_products tells them")
    return desk.products[id_]


def _shown(id_: str, product: Product) -> str:
    return f"{id_} {product.name}, {product.price} cents, {product.stock} in stock"
