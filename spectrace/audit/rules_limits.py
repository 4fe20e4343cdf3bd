"""The rule `limits_exceeded`: K, the stretches of agentcollab, and the budgets, each with the recorded options.

Budgets are checked before each call of the agent's models, so a call that was made beyond one breaks it; the call
before may have overdrawn it. Side by side each branch counts what it used itself on top of what was used before. Money
and time are counted as far as the log knows them, so never too much: what nobody knows is not held against anyone.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from spectrace.audit.rules_account import AGENT, Account, Found
from spectrace.core.deeds import FORK, FROM_THE_RECORD
from spectrace.core.events import (
    ControlPassed,
    Event,
    GenerateCompleted,
    GenerateRequested,
    ProgressJudged,
    RepairMade,
    StepDrafted,
    StepsDiscarded,
)
from spectrace.core.money import Rates, micro_usd, rates_by_model
from spectrace.core.options import is_decimal

_MICRO = 1_000_000
_MOST_USD = Decimal(2**31)


def limits_exceeded(account: Account) -> Iterator[Found]:
    """Yield segments longer than K, and model calls beyond a budget or a stretch."""
    if not account.own:
        return
    k = account.options.get("k")
    if account.specagent is not None and type(k) is int:
        for segment, steps in account.sizes.items():
            if steps > k:
                seq = account.drafts[f"s{segment}.{k + 1}"][0] if f"s{segment}.{k + 1}" in account.drafts else 0
                yield seq, f"segment {segment} has {steps} steps, and k={k}"
    limits = _limits(account)
    if limits:
        yield from _beyond(account, limits)
    if account.started is not None and account.started.protocol == "agentcollab" and type(k) is int:
        yield from _stretches(account, k)


def _limits(account: Account) -> dict[str, int]:
    found: dict[str, int] = {}
    for name in ("max_steps", "max_strong_calls", "max_tokens", "max_wall_s"):
        value = account.options.get(name)
        if type(value) is int:
            found[name] = value * (_MICRO if name == "max_wall_s" else 1)
    cost = account.options.get("max_cost_usd")
    if is_decimal(cost, _MOST_USD):
        found["max_cost_usd"] = max(round(Decimal(str(cost)) * _MICRO), 1)
    return found


@dataclass(slots=True)
class _Used:
    """What was used, before the branches that run now and in each of them."""

    joined: Counter[str] = field(default_factory=Counter)
    lanes: dict[str, Counter[str]] = field(default_factory=dict)

    def at(self, lane: str, name: str) -> int:
        """Return how much of something was used where a lane stands."""
        own = self.lanes.get(lane)
        return self.joined[name] + (own[name] if own is not None else 0)

    def use(self, lane: str, **amounts: int) -> None:
        """Count."""
        (self.lanes.setdefault(lane, Counter()) if lane else self.joined).update(amounts)

    def join(self) -> None:
        """Let the branches be over."""
        for own in self.lanes.values():
            self.joined.update(own)
        self.lanes.clear()


def _beyond(account: Account, limits: Mapping[str, int]) -> Iterator[Found]:
    used, asked = _Used(), dict[int, str]()
    rates = rates_by_model(account.started) if account.started is not None else {}
    live = _live(account)
    for event in account:
        if not event.lane and used.lanes:
            used.join()
        match event.body:
            case GenerateRequested(who=who) if who in AGENT:
                asked[event.seq] = who
                core = ("max_steps", "max_strong_calls", "max_tokens")
                for name in (*core, *(("max_wall_s", "max_cost_usd") if event.seq in live else ())):
                    if name in limits and used.at(event.lane, name) >= limits[name]:
                        shown = account.options.get(name)
                        yield event.seq, f"the {who} model was asked beyond {name}={shown}"
                        return
            case GenerateCompleted(request=request) as body if request in asked:
                _answered(used, event, body, asked[request], rates, paid=request in live or not _is_fork(account))
            case StepDrafted():
                used.use(event.lane, max_steps=1)
            case RepairMade(actions=actions):
                used.use(event.lane, max_steps=len(actions))
            case StepsDiscarded(repair=True, start=start, end=end):
                used.use(event.lane, max_steps=start - end - 1)
            case _:
                pass


def _live(account: Account) -> frozenset[int]:
    """Return the model calls that were answered now: others cost nothing here, and no clock ran."""
    said = (one.body for one in account if isinstance(one.body, GenerateCompleted))
    return frozenset(body.request for body in said if body.source not in FROM_THE_RECORD)


def _is_fork(account: Account) -> bool:
    return account.started is not None and account.started.parent is not None and account.started.parent.kind == FORK


def _answered(  # noqa: PLR0913 - one answer, and what it cost
    used: _Used, event: Event, body: GenerateCompleted, who: str, rates: Mapping[str, Rates | None], *, paid: bool
) -> None:
    used.use(event.lane, max_strong_calls=who == "strong")
    used.use(event.lane, max_tokens=(body.usage.input or 0) + (body.usage.output or 0))
    rate = rates.get(who)
    cost = micro_usd(rate, body.usage) if rate is not None and paid and body.source != "edited" else None
    used.use(event.lane, max_cost_usd=cost or 0)
    if not event.lane and body.source not in FROM_THE_RECORD:  # side by side two seconds are one
        used.use("", max_wall_s=body.latency_us or 0)


def _stretches(account: Account, k: int) -> Iterator[Found]:
    """Yield where a model in control went on beyond its stretch without looking back."""
    most, taken, who = k, 0, "weak"
    for event in account:
        match event.body:
            case ControlPassed(to=who, steps=steps):
                most, taken = (steps if steps is not None else k), 0
            case ProgressJudged():
                taken = 0
            case StepDrafted():
                taken += 1
            case GenerateRequested(role="actor", position=position) if not position.endswith(".p") and taken >= most:
                yield event.seq, f"the {who} model went on after {taken} steps, its stretch is {most}"
                return
            case _:
                pass
