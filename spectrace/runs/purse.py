"""What an episode, or a whole run, may spend: money and time, looked at before each call of the agent's models.

A purse is empty once what was spent reaches its limit, so it may be overdrawn by the calls under way, one for each
episode that runs at once. Tokens of which nobody says whether they were cached cost what is more; where a server
counts no tokens at all, nobody can keep to a limit, and the purse is empty too. A call that failed costs nothing, as
most do. A refusal is recorded as `generate.failed`, kind budget; a replay needs neither prices nor a clock.
"""

import time
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal

from spectrace.core.endings import COST_UNKNOWN, RUN
from spectrace.core.money import Rates, Spent, micro_usd
from spectrace.core.types import ModelFacts, Usage
from spectrace.errors import UsageError

_MICRO = 1_000_000


class Purse:
    """Money and time with their limits; None is no limit."""

    def __init__(
        self, max_cost_usd: str | None = None, max_wall_s: float | None = None, *, of_run: bool = False, spent: int = 0
    ) -> None:
        """Begin to count now; `spent` micro-dollars are gone already."""
        self._micro_usd = None if max_cost_usd is None else round(Decimal(max_cost_usd) * _MICRO)
        self._wall_s = max_wall_s
        self._prefix = RUN if of_run else ""
        self._begun = time.monotonic()
        self.spent = Spent(spent)

    @classmethod
    def of(cls, protocol: object) -> "Purse":
        """Return the purse of one episode, from its protocol's options."""
        return cls(getattr(protocol, "max_cost_usd", None), getattr(protocol, "max_wall_s", None))

    @property
    def counts_money(self) -> bool:
        """Whether there is a limit of money: then every model must have a price."""
        return self._micro_usd is not None

    @property
    def empty(self) -> str | None:
        """Which limit is reached, as the end reason of an episode; None while there is something left."""
        if self._micro_usd is not None and self.spent.unknown:
            return COST_UNKNOWN
        if self._micro_usd is not None and self.spent.micro_usd >= max(
            self._micro_usd, 1
        ):  # what is free is never refused
            return f"{self._prefix}max_cost_usd"
        if self._wall_s is not None and time.monotonic() - self._begun >= self._wall_s:
            return f"{self._prefix}max_wall_s"
        return None

    def pay(self, micro_usd: int | None) -> None:
        """Count one answered call."""
        self.spent = self.spent.plus(micro_usd)

    def pass_time(self, seconds: float) -> None:
        """Count time that went by before: an interrupted episode's, in one that goes on with it."""
        self._begun -= seconds


def most(rates: Rates | None, usage: Usage) -> int | None:
    """Return the most that a call can have cost, in micro-dollars; None where its tokens or rates are unknown."""
    if rates is None:
        return None
    if usage.cached is None:
        usage = replace(usage, cached=usage.input if rates.cached > rates.input else 0)
    return micro_usd(rates, usage)


def require_prices(models: Iterable[ModelFacts], purses: Iterable[Purse]) -> None:
    """Raise UsageError where money is limited and a model's price is unknown, saying how to give one."""
    if not any(purse.counts_money for purse in purses):
        return
    for facts in models:
        if facts.price is None:
            name = f"{facts.provider}:{facts.name}"
            raise UsageError(
                f"max_cost_usd needs a price for the {facts.role} model {name}, and none is known. Give it in "
                f'spectrace.toml, in USD per million tokens:\n\n[prices."{name}"]\ninput = 0.5\ncached = 0.05\n'
                'output = 1.5\nsince = "2026-11-30"'
            )
