"""Everyday JSON records of many trades, what tools take and answer: the dictionaries are trained on them (`rehearsal`).

All of it is made up by chance from `dictionaries/records.json`: nobody's data, and no benchmark's. There, an object is
filled with some of its fields, a list of one value with several of it, a list of several with one of them, and
`@name` with what `_MAKERS` makes or with a word of that list.
"""

import json
import random
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

Chance = random.Random

_SPACING = ((", ", ": ", None), (", ", ": ", None), (",", ":", None), (",", ": ", 2))
_SEVERAL = (1, 1, 2, 3)


@cache
def _told() -> dict[str, Any]:
    """Return the file."""
    path = files("spectrace.store").joinpath("dictionaries", "records.json")
    told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    told["words"] = {name: words.split() for name, words in told["words"].items()}
    return told


def word(chance: Chance, name: str) -> str:
    """Return a word of a list."""
    return str(chance.choice(_told()["words"][name]))


def identifier(chance: Chance) -> object:
    """Return an id in one of the usual forms."""
    return chance.choice(
        (
            f"{chance.choice('ABCOPRTW')}{chance.randint(100, 99_999)}",
            f"{word(chance, 'prefix')}_{chance.randint(1, 99_999)}",
            f"{word(chance, 'first')}_{word(chance, 'last')}_{chance.randint(1, 9_999)}".lower(),
            f"{chance.getrandbits(32):08x}-{chance.getrandbits(16):04x}-4{chance.getrandbits(12):03x}",
            str(chance.randint(10_000_000, 9_999_999_999)),
            chance.randint(1, 99_999),
            "".join(chance.choices("ABCDEFGHJKLMNPQRSTUVWXYZ0123456789", k=6)),
        )
    )


def _day(chance: Chance) -> str:
    return f"{chance.randint(2022, 2026)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"


def _moment(chance: Chance) -> str:
    minute, second = chance.choice((0, 15, 30, 45, chance.randint(0, 59))), chance.choice((0, chance.randint(0, 59)))
    zone = chance.choice(("", "", "Z", "+00:00", ".000Z"))
    return f"{_day(chance)}{chance.choice('T ')}{chance.randint(0, 23):02}:{minute:02}:{second:02}{zone}"


def _address(chance: Chance) -> object:
    line = f"{chance.randint(1, 999)} {word(chance, 'street')} {word(chance, 'way')}"
    return {
        chance.choice(("street", "line1", "address")): line,
        "city": word(chance, "city"),
        "state": word(chance, "state"),
        chance.choice(("zip", "postal_code")): f"{chance.randint(10_000, 99_999)}",
        "country": word(chance, "country"),
    }


_MAKERS: Mapping[str, Callable[[Chance], object]] = {
    "id": identifier,
    "day": _day,
    "moment": _moment,
    "address": _address,
    "digit": lambda chance: chance.randint(1, 9),
    "small": lambda chance: chance.randint(0, 500),
    "large": lambda chance: chance.randint(10, 9_999_999),
    "price": lambda chance: chance.choice((chance.randint(5, 900), round(chance.uniform(1, 999), 2))),
    "article": lambda chance: f"{word(chance, 'adjective')} {word(chance, 'thing')}",
    "person": lambda chance: f"{word(chance, 'first')} {word(chance, 'last')}",
    "name": lambda chance: {"first_name": word(chance, "first"), "last_name": word(chance, "last")},
    "phone": lambda chance: f"+1 555 {chance.randint(100, 999)} {chance.randint(1_000, 9_999)}",
    "email": lambda chance: (
        f"{word(chance, 'first')}.{word(chance, 'last')}{chance.randint(1, 999)}@{word(chance, 'mail')}".lower()
    ),
    "path": lambda chance: f"/{word(chance, 'folder')}/{word(chance, 'thing')}.{word(chance, 'ending')}",
    "url": lambda chance: f"https://www.example.com/{word(chance, 'thing')}/{chance.randint(1, 999)}",
    "payment": lambda chance: {
        "id": identifier(chance),
        "type": word(chance, "kind"),
        "amount": round(chance.uniform(1, 999), 2),
        "currency": chance.choice(("USD", "EUR")),
    },
}


def _filled(chance: Chance, form: object) -> object:
    match form:
        case str() if form.startswith("@"):
            make = _MAKERS.get(form[1:])
            return word(chance, form[1:]) if make is None else make(chance)
        case [one]:
            return [_filled(chance, one) for _ in range(chance.choice(_SEVERAL))]
        case list():
            return _filled(chance, chance.choice(form))
        case dict():
            kept = chance.sample(list(form), chance.randint(len(form) // 2, len(form)))
            return {name: _filled(chance, value) for name, value in form.items() if name in kept}
        case _:
            return form


def _fields(chance: Chance) -> dict[str, object]:
    return {**_told()["ordinary"], **chance.choice(list(_told()["trades"].values()))}


def answer(chance: Chance) -> str:
    """Return a tool's answer, one record or some, as the text that it is recorded as."""
    form = _fields(chance)
    told = _filled(chance, chance.choice((form, form, [form])))
    item, key, indent = chance.choice(_SPACING)
    return json.dumps(told, separators=(item, key), indent=indent, sort_keys=chance.choice((True, False, False, False)))


def tool_name(chance: Chance) -> str:
    """Return a tool's name."""
    return (
        f"{word(chance, 'verb')}_{chance.choice(list(_told()['trades']))}{chance.choice(('', word(chance, 'suffix')))}"
    )


def arguments(chance: Chance) -> dict[str, object]:
    """Return a call's arguments: one to three plain values."""
    forms = {**_fields(chance), **_told()["arguments"]}
    found: dict[str, object] = {}
    for name in chance.sample(list(forms), len(forms)):
        value = _filled(chance, forms[name])
        if isinstance(value, str | int | float) and len(found) < chance.choice(_SEVERAL):
            found[name] = value
    return found


def parameters_schema(chance: Chance) -> dict[str, object]:
    """Return a tool's parameters as JSON Schema."""
    names = list(arguments(chance))
    types = ("string", "string", "integer", "boolean", "number")
    properties: dict[str, object] = {
        name: {"type": chance.choice(types), "description": f"The {name.replace('_', ' ')}."} for name in names
    }
    if chance.getrandbits(2) == 0:
        properties["kind"] = {"type": "string", "enum": [word(chance, "kind"), word(chance, "kind")]}
    required = names[: chance.randint(0, len(names))]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
