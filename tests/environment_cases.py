"""The environments that the contract suite runs over, with calls of each kind on their first tasks."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from spectrace.core.types import Call, Task
from spectrace.environments.effects import Overridden
from spectrace.environments.environment import Environment
from spectrace.environments.functions import FunctionEnvironment, tool
from spectrace.environments.shop import open_shop
from spectrace.environments.tau2 import open_tau2

HOSTILE = "a\x00b \x1b[31m [red]<script>alert(1)</script> \u202e ``` {{x}} {x} %s </s> <|im_end|> 2512292042121000001"
HALF_A_PAIR = "\ud835"


@dataclass(frozen=True)
class Case:
    """An environment with calls of each kind on its first task."""

    open: Callable[[], Environment]
    read: Call
    write: Call
    refused: Call
    """Reaches the tool, which says no."""
    hostile: Callable[[str], Call]
    """A call that carries any text."""
    read_back: Callable[[str], str] = str
    """From an observation to the text of its values."""


@tool(effect="read")
def look(state: dict, name: str) -> str:
    """Look something up."""
    return state[name]


@tool(effect="write")
def put(state: dict, name: str, value: str) -> str:
    """Put something there."""
    state[name] = value
    return value


def open_functions() -> FunctionEnvironment:
    return FunctionEnvironment.from_functions(
        "functions",
        [look, put],
        "Do it.",
        reset=lambda: {"a": "1"},
        tasks=[Task("t", "Put 2 into a.")],
        fingerprint=lambda state: state,
        restore="reset",
    )


def _json(**arguments: object) -> str:
    return json.dumps(arguments)


def _strings(observation: str) -> str:
    """Join every string of a JSON text, unescaped."""
    found: list[str] = []

    def walk(value: object) -> None:
        match value:
            case str():
                found.append(value)
            case dict():
                for item in value.values():
                    walk(item)
            case list():
                for item in value:
                    walk(item)

    walk(json.loads(observation))
    return "\n".join(found)


def _address(street: str) -> str:
    return _json(
        user_id="yusuf_rossi_9620", address1=street, address2="", city="Ely", state="PA", country="USA", zip="19122"
    )


SHOP = Case(
    open_shop,
    read=Call("get_order", '{"order_id": "W200"}'),
    write=Call("cancel_order", '{"order_id": "W200"}'),
    refused=Call("get_order", '{"order_id": "W999"}'),
    hostile=lambda text: Call("change_address", _json(order_id="W200", address=text)),
)
CASES = {
    "functions": Case(
        open_functions,
        read=Call("look", '{"name": "a"}'),
        write=Call("put", '{"name": "a", "value": "2"}'),
        refused=Call("look", '{"name": "b"}'),
        hostile=lambda text: Call("put", _json(name="a", value=text)),
    ),
    "shop": SHOP,
    "overridden": Case(lambda: Overridden(open_shop(), {}), SHOP.read, SHOP.write, SHOP.refused, SHOP.hostile),
    "tau2:mock": Case(
        lambda: open_tau2("mock"),
        read=Call("get_users", "{}"),
        write=Call("create_task", '{"user_id": "user_1", "title": "Important Meeting"}'),
        refused=Call("update_task_status", '{"task_id": "task_9", "status": "completed"}'),
        hostile=lambda text: Call("create_task", _json(user_id="user_1", title=text)),
        read_back=_strings,
    ),
    "tau2:airline": Case(
        lambda: open_tau2("airline"),
        read=Call("get_user_details", '{"user_id": "emma_kim_9957"}'),
        write=Call("cancel_reservation", '{"reservation_id": "EHGLP3"}'),
        refused=Call("get_reservation_details", '{"reservation_id": "XXXXXX"}'),
        hostile=lambda text: Call(
            "update_reservation_passengers",
            _json(
                reservation_id="EHGLP3",
                passengers=[{"first_name": text, "last_name": "Silva", "dob": "1971-11-22"}] * 2,
            ),
        ),
        read_back=_strings,
    ),
    "tau2:retail": Case(
        lambda: open_tau2("retail"),
        read=Call("get_user_details", '{"user_id": "yusuf_rossi_9620"}'),
        write=Call("modify_user_address", _address("1 Elm St")),
        refused=Call("get_order_details", '{"order_id": "#W0000000"}'),
        hostile=lambda text: Call("modify_user_address", _address(text)),
        read_back=_strings,
    ),
}
SLOW = {"tau2:airline", "tau2:retail"}
"""Databases of megabytes: half a minute for the suite."""
USER = ("It is about my account.", "Thank you. ###STOP###")
"""What the user says, where the environment asks for a user: first, and ever after."""
