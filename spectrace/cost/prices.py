"""Prices of a model's tokens, each with the date that it holds from and where it was read.

A price is per million tokens, so the same number is micro-dollars per token: money is kept in whole micro-dollars.
Prices change: the one that held when an episode began is recorded with it. A model without a price has no cost, which
is not a cost of 0; only what runs in this process, or is a script, is known to be free.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import cast

from spectrace.core.money import MOST_USD, Rates, micro_usd
from spectrace.core.types import Usage
from spectrace.errors import UsageError

_TOKENS = ("input", "cached", "output")
_KNOWN = (*_TOKENS, "since", "source")


@dataclass(frozen=True, slots=True)
class Price:
    """USD for a million tokens that are read anew, read from the provider's cache, and written.

    Tokens that a provider writes to its cache are read anew. Who bills them higher (Anthropic, where
    `parameters.cache_control` asks for it) has no price of their own here: costs are then at least.
    """

    input: Decimal
    cached: Decimal
    output: Decimal
    since: date
    source: str

    def to_json(self) -> str:
        """Return the price as JSON text, keys sorted, amounts as decimal strings."""
        amounts = {name: format(cast("Decimal", getattr(self, name)), "f") for name in _TOKENS}
        return json.dumps(amounts | {"since": self.since.isoformat(), "source": self.source}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "Price":
        """Read what `to_json` wrote; raise UsageError naming what is wrong."""
        try:
            values = json.loads(text)
        except ValueError:
            values = None
        if not isinstance(values, dict):
            raise UsageError(f"a price is a JSON object with {', '.join(_KNOWN)}; found {text[:80]!r}.")
        return _price("a recorded price", values)


SHIPPED: Mapping[str, tuple[Price, ...]] = {
    "local": (Price(Decimal(0), Decimal(0), Decimal(0), date(2020, 1, 1), "runs in this process: nobody bills it"),),
    "labels": (Price(Decimal(0), Decimal(0), Decimal(0), date(2020, 1, 1), "people's labels: nobody bills a call"),),
    "scripted": (Price(Decimal(0), Decimal(0), Decimal(0), date(2020, 1, 1), "a script: nobody bills it"),),
}
"""`provider:name`, or a provider as a whole -> its prices: only what can be stated with a source and a date.

Providers' list prices are not here: they change by the week, and [prices] of spectrace.toml says what yours are.
"""


def price_of(provider: str, name: str, on: date, own: Mapping[str, Sequence[Price]] | None = None) -> Price | None:
    """Return the price that held on a day: the newest one of `own`, else of the shipped table; None is unknown."""
    for table in (own or {}, SHIPPED):
        for key in (f"{provider}:{name}", provider):
            held = [price for price in table.get(key, ()) if price.since <= on]
            if held:
                return max(held, key=lambda price: price.since)
    return None


def cost_micro_usd(price: Price, usage: Usage) -> int | None:
    """Return what a call cost in micro-dollars; None where a count is unknown that would change it.

    `usage.input` includes the cached tokens; reasoning is part of the output, as servers count it.
    """
    return micro_usd(Rates(price.input, price.cached, price.output), usage)


def read_prices(tables: Mapping[str, object], where: str) -> dict[str, tuple[Price, ...]]:
    """Read the [prices] table of spectrace.toml: `provider:name` -> one table, or several of different dates."""
    found: dict[str, tuple[Price, ...]] = {}
    for name, given in tables.items():
        place = f'{where}: prices."{name}"'
        listed: list[object] = given if isinstance(given, list) else [given]
        entries = [entry for entry in listed if isinstance(entry, dict)]
        if not entries or len(entries) < len(listed):
            raise UsageError(
                f'{place} is a table [prices."{name}"], or several [[prices."{name}"]], with {", ".join(_KNOWN)}.'
            )
        prices = tuple(_price(place, entry) for entry in entries)
        if len({price.since for price in prices}) < len(prices):
            raise UsageError(f"{place} has two prices since the same day; one day has one price.")
        found[name] = prices
    return found


def _price(where: str, values: Mapping[str, object]) -> Price:
    unknown = [name for name in values if name not in _KNOWN]
    if unknown:
        raise UsageError(f"{where}: {unknown[0]} is not known. Known: {', '.join(_KNOWN)}.")
    missing = [name for name in ("input", "output", "since") if name not in values]
    if missing:
        raise UsageError(
            f"{where}: {', '.join(missing)} must be given: USD per million tokens, and the day it holds from."
        )
    read, written = _amount(where, "input", values["input"]), _amount(where, "output", values["output"])
    cached = _amount(where, "cached", values["cached"]) if "cached" in values else read
    return Price(read, cached, written, _day(where, values["since"]), str(values.get("source", where)))


def _amount(where: str, name: str, given: object) -> Decimal:
    try:
        amount = Decimal("nan") if isinstance(given, bool) else Decimal(str(given))
    except InvalidOperation:
        amount = Decimal("nan")
    if not amount.is_finite() or not 0 <= amount <= MOST_USD:
        raise UsageError(f"{where}: {name} must be USD per million tokens, 0 or more; found {given!r}.")
    return amount


def _day(where: str, given: object) -> date:
    if isinstance(given, date) and not isinstance(given, datetime):
        return given
    try:
        return date.fromisoformat(str(given))
    except ValueError:
        raise UsageError(f"{where}: since must be a day such as 2026-11-30, found {given!r}.") from None
