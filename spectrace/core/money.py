"""What model calls cost by the prices recorded with the episode: whole micro-dollars, or unknown, never a guess of 0.

USD per million tokens is the same number as micro-dollars per token. A price is recorded as JSON text (`cost.prices`
writes it); a count or a price that nobody said leaves a call's cost unknown, and a sum that holds one is "at least".
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from functools import lru_cache

from spectrace.core.events import EpisodeStarted, Event, GenerateCompleted, GenerateFailed, GenerateRequested
from spectrace.core.types import Usage

_MICRO = Decimal(1_000_000)
MOST_USD = Decimal(1_000_000)
"""For a million tokens. A recorded text may claim 1E+999999999, which nobody could add up."""
_NEVER_BILLED = frozenset({"budget", "unreachable", "busy", "refused", "context"})
"""Failures of a call for which nothing was generated."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Micro-dollars for a token that is read anew, read from the provider's cache, and written."""

    input: Decimal
    cached: Decimal
    output: Decimal


@dataclass(frozen=True, slots=True)
class Spent:
    """A sum over calls: what is known of it, and of how many calls the cost is not known."""

    micro_usd: int = 0
    known: int = 0
    unknown: int = 0

    def plus(self, cost: int | None) -> "Spent":
        """Return the sum with one more call."""
        if cost is None:
            return Spent(self.micro_usd, self.known, self.unknown + 1)
        return Spent(self.micro_usd + cost, self.known + 1, self.unknown)

    @property
    def usd(self) -> str | None:
        """The whole sum in dollars; None where a part of it is unknown."""
        return None if self.unknown else dollars(self.micro_usd)

    @property
    def at_least_usd(self) -> str | None:
        """What is known of a sum that is known in part; None where it is known whole, or not at all."""
        return dollars(self.micro_usd) if self.unknown and self.known else None


def dollars(micro_usd: int) -> str:
    """Return micro-dollars as dollars, e.g. 0.0123."""
    return format((Decimal(micro_usd) / _MICRO).normalize(), "f")


def micro_usd(rates: Rates, usage: Usage) -> int | None:
    """Return what a call cost; None where a count is unknown that would change it.

    `usage.input` includes the cached tokens; reasoning is part of the output, as servers count it.
    """
    read = 0 if rates.input == rates.cached == 0 else usage.input
    written = 0 if rates.output == 0 else usage.output
    cached = 0 if rates.input == rates.cached else usage.cached
    if read is None or written is None or cached is None:
        return None
    cached = min(cached, read)  # a server may count more after a retraction (SGLang #11900)
    exact = (read - cached) * rates.input + cached * rates.cached + written * rates.output
    return int(exact.to_integral_value(ROUND_HALF_EVEN))


@lru_cache(maxsize=256)
def rates_of(price: str | None) -> Rates | None:
    """Return the rates of a recorded price; None where there is none, or none that can be read."""
    try:
        values = json.loads(price or "null")
        amounts = [Decimal(str(values[name])) for name in ("input", "cached", "output")]
    except (ValueError, TypeError, KeyError, InvalidOperation):  # a foreign log may hold anything
        return None
    return Rates(*amounts) if all(amount.is_finite() and 0 <= amount <= MOST_USD for amount in amounts) else None


def rates_by_model(started: EpisodeStarted) -> Mapping[str, Rates | None]:
    """Return weak, strong and user (and judge) -> the rates recorded for that model."""
    return {facts.role: rates_of(facts.price) for facts in started.models}


def spent(events: Iterable[Event]) -> Spent:
    """Return what an episode's own calls cost: not those that it took from a record or a cache.

    Those of an imported recording are its own, and at least one was made, whether the file tells of it or not.
    """
    total, rates, asked, foreign = Spent(), dict[str, Rates | None](), dict[int, str](), False
    for event in events:
        match event.body:
            case EpisodeStarted(origin=origin):
                rates, foreign = dict(rates_by_model(event.body)), origin is not None
            case GenerateRequested(who=who):
                asked[event.seq] = who
            case GenerateCompleted(source="live" | "import") | GenerateFailed(source="live" | "import"):
                rate = rates.get(asked.get(event.body.request, ""))
                total = total.plus(cost_of(event.body, rate))
            case _:
                pass
    return Spent(unknown=1) if foreign and total == Spent() else total


def stated_usd(started: EpisodeStarted) -> str | None:
    """Return what a τ²-bench file itself says that an episode cost, the agent and the user; nobody here checked it."""
    if started.origin is None or started.origin.format != "tau2":
        return None
    try:
        said = json.loads(started.origin.extra, parse_float=Decimal)["simulation"]
        agent, user = said["agent_cost"], said.get("user_cost")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    amounts = [_amount(agent), Decimal(0) if user is None else _amount(user)]
    known = [amount for amount in amounts if amount is not None]
    if len(known) < len(amounts):
        return None
    return dollars(int((sum(known, Decimal(0)) * _MICRO).to_integral_value(ROUND_HALF_EVEN)))


def _amount(said: object) -> Decimal | None:
    if isinstance(said, bool) or not isinstance(said, int | Decimal):
        return None
    return Decimal(said) if 0 <= said <= MOST_USD else None


def never_billed(body: GenerateCompleted | GenerateFailed) -> bool:
    """Whether nothing was read or written for a call: its tokens, its work and its cost are 0, and known."""
    return isinstance(body, GenerateFailed) and body.kind in _NEVER_BILLED and body.usage == Usage()


def never_sent(body: GenerateCompleted | GenerateFailed) -> bool:
    """Whether a budget refused the call here: it was asked for, and no model ever saw it."""
    return isinstance(body, GenerateFailed) and body.kind == "budget"


def cost_of(body: GenerateCompleted | GenerateFailed, rates: Rates | None) -> int | None:
    """Return what one call cost."""
    if never_billed(body):
        return 0
    return None if rates is None else micro_usd(rates, body.usage)
