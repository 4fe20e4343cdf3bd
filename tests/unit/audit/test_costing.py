import asyncio
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from spectrace.audit.costing import Costing, cost_groups, read_spendings
from spectrace.audit.queries import Reader
from spectrace.audit.spending import spending
from spectrace.core.baselines import StrongOnly
from spectrace.cost.estimate import call_work
from spectrace.cost.prices import Price
from spectrace.cost.profile_file import load_profile
from spectrace.cost.profiles import PROFILES
from spectrace.cost.tokens import approximate
from spectrace.errors import ModelFailed
from spectrace.runs.live import Labels
from spectrace.store.memory import MemoryEventStore
from tests.episodes import record_shop, recorded_events
from tests.spent import ALONE_TOLD, STRONG_TOLD, WEAK_TOLD

PAPER = Costing(profile=load_profile("paper"))


SPEC = recorded_events(weak=WEAK_TOLD, strong=STRONG_TOLD)
ALONE = recorded_events(weak=WEAK_TOLD, strong=ALONE_TOLD, protocol=StrongOnly())


def spec():
    return spending(SPEC)


def alone():
    return spending(ALONE)


def priced(one, price, role="strong"):
    models = tuple(
        replace(facts, price=price.to_json()) if facts.role == role else facts for facts in one.started.models
    )
    return replace(one, started=replace(one.started, models=models))


def test_episodes_are_grouped_by_what_made_them():
    groups = cost_groups([spec(), alone(), spec()], Costing())

    assert [(group.made.protocol, len(group.spendings)) for group in groups] == [("specagent", 2), ("strong-only", 1)]


def test_phases_add_up_to_the_whole():
    (group,) = cost_groups([spec()], PAPER)

    for name, one in group.total.sums.items():
        assert one.known == pytest.approx(sum(cost.sums[name].known for cost in group.phases.values()))


def test_phases_have_their_servers_tokens():
    (group,) = cost_groups([spec()], Costing())
    sums = {key: {name: one.known for name, one in cost.sums.items()} for key, cost in group.phases.items()}

    assert [(*key, one["input"], one["uncached_measured"], one["output"]) for key, one in sums.items()] == [
        ("draft", "weak", 2300, 200, 40),
        ("verify", "strong", 2100, 800, 50),
    ]


def test_a_call_is_estimated_from_its_tokens_and_what_the_cache_model_finds():
    (group,) = cost_groups([spec()], PAPER)
    call = list(group.calls.values())[-1]

    assert 0 < call.cached_modelled < 800
    assert call.work == call_work(PROFILES["paper"].strong.architecture, 800, call.cached_modelled, 5)


def test_the_first_call_of_a_deployment_finds_nothing():
    (group,) = cost_groups([alone()], Costing())

    assert next(iter(group.calls.values())).cached_modelled == 0


def test_a_second_episode_finds_what_the_first_left():
    one, other = spec(), spec()
    (group,) = cost_groups([one, other], Costing())

    assert group.calls[other.calls[0]].cached_modelled > 400


def test_groups_do_not_live_on_each_others_prompts():
    first = alone()
    other = replace(alone(), started=replace(first.started, options='{"max_steps": 9}'))
    groups = cost_groups([first, other], Costing())

    assert [next(iter(group.calls.values())).cached_modelled for group in groups] == [0, 0]


def test_a_cache_without_room_finds_nothing():
    (group,) = cost_groups([spec()], Costing(cache_tokens=0))

    assert {call.cached_modelled for call in group.calls.values()} == {0}


def test_ids_of_ones_own_tokenizer_are_taken():
    asked = []

    def tokenize(messages):
        asked.append(messages)
        return approximate(messages)

    (own,) = cost_groups([spec()], Costing(tokenize=tokenize))
    (other,) = cost_groups([spec()], Costing())

    assert len(asked) == 14
    assert [call.cached_modelled for call in own.calls.values()] == [
        call.cached_modelled for call in other.calls.values()
    ]


def test_without_a_profile_a_model_of_unknown_shape_has_no_estimate():
    (group,) = cost_groups([spec()], Costing())

    assert group.total.sums["flops"].unknown == 7


def test_a_model_is_known_by_its_recorded_name():
    one = alone()
    models = tuple(replace(facts, provider="local", name="qwen2.5-coder-1.5b") for facts in one.started.models)
    (group,) = cost_groups([replace(one, started=replace(one.started, models=models))], Costing())

    assert group.total.sums["flops"].exact > 0


def test_the_recorded_price_holds():
    price = Price(Decimal(2), Decimal("0.2"), Decimal(8), date(2026, 1, 1), "made up")
    (group,) = cost_groups([priced(alone(), price)], Costing())

    assert group.total.sums["usd"].exact == pytest.approx((400 * 2 + 2200 * 0.2 + 80 * 8) / 1e6)


def test_a_price_of_ones_own_holds_where_none_was_recorded():
    own = {"scripted:scripted": (Price(Decimal(1), Decimal(1), Decimal(0), date(2020, 1, 1), "made up"),)}
    one = alone()
    models = tuple(replace(facts, price=None) for facts in one.started.models)
    (group,) = cost_groups([replace(one, started=replace(one.started, models=models))], Costing(prices=own))

    assert group.total.sums["usd"].exact == pytest.approx(2600 / 1e6)


def test_a_model_without_a_price_has_no_cost_rather_than_none():
    one = alone()
    models = tuple(replace(facts, provider="openai", price=None) for facts in one.started.models)
    (group,) = cost_groups([replace(one, started=replace(one.started, models=models))], Costing())

    assert (group.total.sums["usd"].unknown, group.total.sums["usd"].known) == (4, 0)


def test_tokens_that_nobody_told_are_unknown_unless_they_are_estimated():
    one = spending(recorded_events())
    (silent,) = cost_groups([one], Costing())
    (counted,) = cost_groups([one], Costing(estimate_tokens=True))

    assert (silent.total.sums["input"].unknown, silent.estimated) == (7, 0)
    assert (counted.total.sums["input"].unknown, counted.estimated) == (0, 7)
    assert counted.total.sums["uncached_measured"].unknown == 7  # the server's word, and it said none


def test_counts_that_a_server_told_are_never_estimated():
    (group,) = cost_groups([spec()], Costing(estimate_tokens=True))

    assert group.estimated == 0


def test_what_cannot_be_read_is_told():
    store = MemoryEventStore()
    episode = asyncio.run(record_shop(store, weak=WEAK_TOLD, strong=STRONG_TOLD)).episode
    lost = []
    with Reader(store) as reader:
        found = read_spendings(reader, [episode], lost)

    assert ([one.episode for one in found], lost) == ([episode], [])


class Overpriced(MemoryEventStore):
    """Records what no price is, as a file from elsewhere may hold it."""

    wrong = False

    def create(self, episode, started, at):
        if self.wrong:
            started = replace(started, models=tuple(replace(facts, price="dear") for facts in started.models))
        return super().create(episode, started, at)


def test_a_price_that_is_none_costs_its_own_episode_only():
    store = Overpriced()
    kept = asyncio.run(record_shop(store, weak=WEAK_TOLD, strong=STRONG_TOLD)).episode
    store.wrong = True
    broken = asyncio.run(record_shop(store, weak=WEAK_TOLD, strong=STRONG_TOLD)).episode
    lost = []
    with Reader(store) as reader:
        found = read_spendings(reader, [kept, broken], lost)

    assert [one.episode for one in found] == [kept]
    assert "has a price of scripted that is none" in lost[0].detail


def test_a_call_that_came_without_its_prompt_has_no_modelled_tokens():
    one = spec()
    calls = tuple(replace(call, messages=(), tools=None) for call in one.calls)
    bare = replace(one, calls=calls, rounds=(), acting=(), apart=())
    (group,) = cost_groups([bare], PAPER)

    assert (group.total.sums["uncached_modelled"].unknown, group.total.sums["flops"].unknown) == (7, 7)


@pytest.mark.parametrize(("kind", "calls"), [("budget", 0), ("refused", 1), ("context", 1), ("busy", 1)])
def test_a_call_that_was_never_billed_leaves_every_sum_known(kind, calls):
    events = recorded_events(strong=[*ALONE_TOLD[:2], ModelFailed(kind, "no")], protocol=StrongOnly())
    (group,) = cost_groups([spending(events)], PAPER)
    sums = group.total.sums

    assert (group.total.calls, group.total.failed) == (2 + calls, calls)
    assert {name: one.unknown for name, one in sums.items()} == dict.fromkeys(sums, 0)
    assert (sums["output"].exact, sums["usd"].exact) == (40, 0)


def test_a_call_that_was_never_billed_leaves_nothing_in_the_cache():
    events = recorded_events(strong=[ModelFailed("refused", "no")], protocol=StrongOnly())
    first, second = spending(events), alone()
    groups = cost_groups([first, replace(second, started=first.started)], Costing())

    assert [next(iter(group.calls.values())).cached_modelled for group in groups] == [0]
    assert groups[0].calls[second.calls[0]].cached_modelled == 0


def test_a_group_knows_how_many_episodes_ran_at_once():
    labelled = recorded_events(weak=WEAK_TOLD, strong=STRONG_TOLD, labels=Labels(concurrency=3))

    assert cost_groups([spending(labelled)], Costing())[0].concurrency == {3}


def of_run(one, run="nightly", **changes):
    return replace(one, started=replace(one.started, run=run), **changes)


def test_a_superseded_episode_of_a_run_is_left_out_and_counted():
    one = spending(recorded_events())
    first, second = of_run(one, score=None), of_run(one, episode="second", at=one.at + 1, score=1.0)
    (group,) = cost_groups([first, second], Costing())

    assert ([one.episode for one in group.spendings], group.superseded) == (["second"], 1)


@pytest.mark.parametrize("protocol", ["imported", "reverify"])
def test_what_a_name_was_given_is_all_counted(protocol):
    one = spending(recorded_events())
    twice = [replace(one, started=replace(one.started, run="filed", protocol=protocol)) for _ in range(2)]
    (group,) = cost_groups(twice, Costing())

    assert (len(group.spendings), group.superseded) == (2, 0)
