from decimal import Decimal

import pytest

from spectrace.core.money import Rates
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import ModelFacts, Usage
from spectrace.errors import UsageError
from spectrace.runs.purse import Purse, most, require_prices

UNPRICED = ModelFacts(role="strong", provider="openai", name="big")


def test_without_limits_nothing_empties_a_purse():
    purse = Purse()
    purse.pay(10**12)
    purse.pay(None)

    assert purse.empty is None


def test_a_purse_is_empty_once_its_limit_is_reached():
    purse = Purse("0.002")
    purse.pay(1999)
    before = purse.empty
    purse.pay(1)

    assert (before, purse.empty) == (None, "max_cost_usd")


def test_what_is_free_is_never_refused():
    purse = Purse("0")
    purse.pay(0)
    free = purse.empty
    purse.pay(1)

    assert (free, purse.empty) == (None, "max_cost_usd")


def test_a_cost_that_nobody_knows_empties_a_purse_of_money():
    purse = Purse("100")
    purse.pay(None)

    assert purse.empty == "cost_unknown"


def test_time_runs_out():
    assert (Purse(max_wall_s=0).empty, Purse(max_wall_s=60).empty) == ("max_wall_s", None)


def test_the_most_that_a_call_can_have_cost_takes_unknown_tokens_as_new_and_knows_no_more():
    rates = Rates(Decimal(10), Decimal(1), Decimal(100))

    assert [most(rates, Usage(100, cached, 10)) for cached in (0, None, 100)] == [2000, 2000, 1100]
    assert (most(rates, Usage(None, 0, 10)), most(None, Usage(1, 1, 1))) == (None, None)


def test_the_most_is_the_most_also_where_reading_from_the_cache_costs_more():
    rates = Rates(Decimal(1), Decimal(5), Decimal(1))

    assert [most(rates, Usage(100, cached, 0)) for cached in (0, None, 100)] == [100, 500, 500]


def test_a_runs_purse_says_that_it_is_the_runs():
    assert (Purse("1", of_run=True, spent=1_000_000).empty, Purse(max_wall_s=0, of_run=True).empty) == (
        "run_max_cost_usd",
        "run_max_wall_s",
    )


def test_an_episodes_purse_is_made_from_its_protocols_options():
    purse = Purse.of(SpecAgent(max_cost_usd="0.5", max_wall_s=9))
    purse.pay(500_000)

    assert (purse.counts_money, purse.empty) == (True, "max_cost_usd")


def test_a_limit_of_money_needs_prices_and_says_how_to_give_them():
    with pytest.raises(UsageError, match=r'strong model openai:big.*\n\n\[prices\."openai:big"\]\ninput = 0\.5'):
        require_prices([UNPRICED], [Purse(), Purse("1")])


def test_a_limit_of_time_needs_no_prices():
    require_prices([UNPRICED], [Purse(max_wall_s=1)])
