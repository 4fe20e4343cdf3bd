"""What runs cost: episodes grouped by what made them, their calls estimated under one cache model, and priced.

Each group has caches of its own, cold at its first call, one for each deployment of a model, and its calls meet them in
the order in which they were asked. So every protocol is treated alike and none lives on another's prompts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from spectrace.audit.prompt_ids import PromptIds
from spectrace.audit.queries import Reader
from spectrace.audit.reading import Unread, unread
from spectrace.audit.spending import Asked, Spending, spending
from spectrace.audit.standing import standing
from spectrace.core.types import ModelFacts, Usage
from spectrace.core.versions import first_newer, newer_version
from spectrace.cost.architecture import Architecture
from spectrace.cost.estimate import Work, call_work
from spectrace.cost.phases import Call, PhaseCost, by_phase, summed
from spectrace.cost.prices import Price, cost_micro_usd, price_of
from spectrace.cost.profiles import Profile, architecture_of
from spectrace.cost.radix import RadixCache
from spectrace.cost.tokens import Tokenize, in_tokens_of
from spectrace.errors import EpisodeNotFound, StoreError, UsageError

_EACH_FOR_ITSELF = frozenset({"imported", "reverify"})
"""Protocols of which a name holds what it is given, not cells that were run until they had a result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costing:
    """How costs are estimated."""

    profile: Profile | None = None
    """What the models are taken to be; None: each by its recorded name."""
    prices: Mapping[str, Sequence[Price]] = field(default_factory=dict)
    """For episodes that recorded no price."""
    page_size: int = 1
    cache_tokens: int | None = None
    checkpoint_every: int | None = None
    """See `cost.radix.RadixCache`."""
    tokenize: Tokenize | None = None
    """The models' own tokenizer and chat template, where there is one; else `cost.tokens` stands in."""
    estimate_tokens: bool = False
    """Whether four bytes are taken for a token where a server told no count."""

    def cache(self) -> RadixCache:
        """Return an empty cache."""
        return RadixCache(self.page_size, self.cache_tokens, self.checkpoint_every)


@dataclass(frozen=True, slots=True)
class Made:
    """What made a group's episodes: equal in all of them."""

    protocol: str
    run: str | None
    options: str
    weak: str | None
    strong: str | None


@dataclass(frozen=True, slots=True, eq=False)
class CostGroup:
    """Episodes that were made alike, and what their calls cost."""

    made: Made
    spendings: tuple[Spending, ...]
    calls: Mapping[Asked, Call]
    estimated: int
    """Calls whose tokens are counted by bytes, because no server told them."""
    superseded: int = 0
    """Episodes of a named run that another of the same task and trial stands for: none of their calls is here."""

    @property
    def phases(self) -> dict[tuple[str, str], PhaseCost]:
        """Costs by (phase, who)."""
        return by_phase(self.calls.values())

    @property
    def total(self) -> PhaseCost:
        """Costs of all calls."""
        return summed(self.calls.values())

    @property
    def tasks(self) -> set[str]:
        """The tasks, as clusters."""
        return {one.task for one in self.spendings}

    @property
    def concurrency(self) -> set[int | None]:
        """How many episodes ran at once, as recorded."""
        return {one.started.concurrency for one in self.spendings}

    @property
    def deployments(self) -> set[tuple[str, str, str, str | None]]:
        """Which models answered, and where."""
        return {(facts.role, *_deployment(facts)) for one in self.spendings for facts in one.started.models}


def read_spendings(reader: Reader, episodes: Iterable[str], lost: list[Unread]) -> list[Spending]:
    """Return what episodes spent; `lost` is told what cannot be read, and its calls are in no sum."""
    found = []
    for episode in episodes:
        expected = reader.store.row(episode).events  # asked first: a running episode grows meanwhile
        try:
            events = reader.events(episode)
            newer = first_newer(events)
            if newer is not None:
                raise newer_version(newer)
            made = spending(events)
            _require_prices(made)
        except EpisodeNotFound:
            raise
        except StoreError as error:
            lost.append(Unread(episode, None, str(error)))
            continue
        lost += unread(episode, events, expected, told_from=False, store=reader.store)
        found.append(made)
    return found


def _require_prices(one: Spending) -> None:
    """Raise StoreError where a recorded price is none: a file from elsewhere may hold anything."""
    for facts in one.started.models:
        try:
            _ = facts.price and Price.from_json(facts.price)
        except UsageError as error:
            raise StoreError(f"event 0 of {one.episode} has a price of {facts.name} that is none: {error}") from error


def cost_groups(spendings: Iterable[Spending], costing: Costing) -> list[CostGroup]:
    """Group episodes by what made them, in the order in which the groups begin, and cost their calls."""
    groups: dict[Made, list[Spending]] = {}
    for one in sorted(spendings, key=lambda one: (one.at, one.episode)):
        groups.setdefault(_made(one), []).append(one)
    return [_standing(made, group, costing) for made, group in groups.items()]


def _standing(made: Made, group: Sequence[Spending], costing: Costing) -> CostGroup:
    """Cost what stands; outside a named run, and of recordings from elsewhere, every episode does."""
    if made.run is None or made.protocol in _EACH_FOR_ITSELF:
        return _costed(made, group, costing)
    stand = standing(group, lambda one: (one.task, one.started.trial), lambda one: one.score)
    return replace(_costed(made, stand, costing), superseded=len(group) - len(stand))


def _made(one: Spending) -> Made:
    models = {facts.role: f"{facts.provider}:{facts.name}" for facts in one.started.models}
    started = one.started
    return Made(started.protocol, started.run, started.options, models.get("weak"), models.get("strong"))


def _deployment(facts: ModelFacts) -> tuple[str, str, str | None]:
    return facts.provider, facts.name, facts.url


def _costed(made: Made, group: Sequence[Spending], costing: Costing) -> CostGroup:
    caches: dict[object, RadixCache] = {}
    ids = PromptIds(costing.tokenize)
    costed: dict[Asked, Call] = {}
    estimated = 0
    order = sorted(
        ((call.at, one.episode, call.seq, call, one) for one in group for call in one.calls), key=lambda item: item[:3]
    )
    for _, _, _, call, one in order:
        facts = next((facts for facts in one.started.models if facts.role == call.who), None)
        if call.never_billed:  # nothing was read: no cache has seen it
            costed[call] = _unspent(call)
            continue
        place = call.who if facts is None else _deployment(facts)
        cache = caches.setdefault(place, costing.cache())
        prompt, answer = ids.of(place, call)
        found = cache.prefill(prompt, answer)
        usage = _counted(call, len(prompt), len(answer)) if costing.estimate_tokens else call.usage
        estimated += usage != call.usage
        costed[call] = _call(call, usage, (len(prompt), found), facts, _price(facts, one, costing), costing)
    in_order = {call: costed[call] for one in group for call in one.calls}
    return CostGroup(made, tuple(group), in_order, estimated)


def _unspent(call: Asked) -> Call:
    return Call(
        phase=call.phase,
        who=call.who,
        usage=Usage(0, 0, 0, 0),
        cached_modelled=0,
        work=Work(),
        latency_us=call.latency_us,
        micro_usd=0,
        retries=call.retries,
        failed=call.failed,
    )


def _counted(call: Asked, prompt: int, answer: int) -> Usage:
    """Return the call's usage, what is unknown of it counted by the stand-in; cached tokens stay the server's word."""
    usage = call.usage
    written = answer if usage.output is None and call.answer is not None else usage.output
    return Usage(prompt if usage.input is None else usage.input, usage.cached, written, usage.reasoning)


def _call(  # noqa: PLR0913 - what a call's cost is made of
    call: Asked,
    usage: Usage,
    found: tuple[int, int],
    facts: ModelFacts | None,
    price: Price | None,
    costing: Costing,
) -> Call:
    cached = None
    if usage.input is not None and call.messages:  # an imported call may have come without its prompt
        cached = in_tokens_of(usage.input, *found)
    model = _architecture(call.who, facts, costing)
    work = None
    if model is not None and usage.input is not None and cached is not None and usage.output is not None:
        work = call_work(model, usage.input, cached, usage.output)
    return Call(
        phase=call.phase,
        who=call.who,
        usage=usage,
        cached_modelled=cached,
        work=work,
        latency_us=call.latency_us,
        micro_usd=None if price is None else cost_micro_usd(price, call.usage),
        retries=call.retries,
        failed=call.failed,
    )


def _architecture(who: str, facts: ModelFacts | None, costing: Costing) -> Architecture | None:
    if costing.profile is not None:
        deployment = costing.profile.deployment(who)
        return None if deployment is None else deployment.architecture
    return None if facts is None else architecture_of(facts.name)


def _price(facts: ModelFacts | None, one: Spending, costing: Costing) -> Price | None:
    """Return the price that was recorded, else the one that held on the day."""
    if facts is None:
        return None
    if facts.price is not None:
        return Price.from_json(facts.price)
    day = datetime.fromtimestamp(one.at / 1e6, UTC).date()
    return price_of(facts.provider, facts.name, day, costing.prices)
