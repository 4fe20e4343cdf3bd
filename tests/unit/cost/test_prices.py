import tomllib
from datetime import date
from decimal import Decimal

import pytest

from spectrace.core.types import Usage
from spectrace.cost.prices import Price, cost_micro_usd, price_of, read_prices
from spectrace.errors import UsageError

DAY = date(2026, 11, 30)
PRICE = Price(Decimal("0.60"), Decimal("0.06"), Decimal("3.6"), DAY, "an example")


def test_a_call_costs_its_uncached_cached_and_written_tokens():
    cost = cost_micro_usd(PRICE, Usage(input=1_000_000, cached=400_000, output=100_000))

    assert cost == 360_000 + 24_000 + 360_000


@pytest.mark.parametrize("usage", [Usage(None, 0, 1), Usage(1, None, 1), Usage(1, 0, None)])
def test_a_call_costs_nobody_knows_what_where_a_count_that_matters_is_unknown(usage):
    assert cost_micro_usd(PRICE, usage) is None


def test_cached_tokens_that_cost_like_others_need_not_be_known():
    flat = Price(Decimal(1), Decimal(1), Decimal(2), DAY, "an example")

    assert cost_micro_usd(flat, Usage(input=10, cached=None, output=5)) == 20


@pytest.mark.parametrize(("provider", "name"), [("local", "qwen2.5-coder-0.5b"), ("labels", "gold.csv")])
def test_what_is_free_needs_no_counts(provider, name):
    free = price_of(provider, name, DAY)

    assert free is not None
    assert cost_micro_usd(free, Usage()) == 0


def test_more_cached_tokens_than_were_sent_cost_no_less_than_all_of_them_cached():
    assert cost_micro_usd(PRICE, Usage(input=100, cached=180, output=0)) == 6


def test_a_price_is_the_same_after_json():
    assert Price.from_json(PRICE.to_json()) == PRICE


def test_a_small_price_is_written_without_an_exponent():
    assert '"input": "0.0000001"' in Price(Decimal("1e-7"), Decimal(0), Decimal(0), DAY, "").to_json()


@pytest.mark.parametrize("text", ["nonsense", "[]", "{}", '{"input": "1"}'])
def test_a_recorded_price_that_is_none_is_refused(text):
    with pytest.raises(UsageError, match="price"):
        Price.from_json(text)


@pytest.mark.parametrize(
    ("on", "expected"),
    [(date(2026, 1, 31), None), (date(2026, 2, 1), "2"), (date(2026, 6, 1), "2"), (date(2026, 7, 1), "1")],
)
def test_the_price_is_the_one_that_held_on_the_day(on, expected):
    own = read_prices(
        tomllib.loads(
            '[[prices."openai:m"]]\ninput = 2\noutput = 4\nsince = 2026-02-01\n'
            '[[prices."openai:m"]]\ninput = 1\noutput = 4\nsince = 2026-07-01\n'
        )["prices"],
        "spectrace.toml",
    )

    found = price_of("openai", "m", on, own)

    assert (None if found is None else str(found.input)) == expected


def test_ones_own_price_wins_over_the_shipped_one():
    own = read_prices({"local:m": {"input": 0.1, "output": 0.2, "since": "2026-01-01"}}, "spectrace.toml")

    found = price_of("local", "m", DAY, own)

    assert found == Price(
        Decimal("0.1"), Decimal("0.1"), Decimal("0.2"), date(2026, 1, 1), 'spectrace.toml: prices."local:m"'
    )


def test_a_server_of_ones_own_has_no_price_until_one_is_given():
    assert price_of("sglang", "Qwen/Qwen3.5-397B-A17B", DAY) is None


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"openai:m": 3}, "is a table"),
        ({"openai:m": []}, "is a table"),
        ({"openai:m": {"input": 1, "since": "2026-01-01"}}, "output must be given"),
        ({"openai:m": {"input": -1, "output": 1, "since": "2026-01-01"}}, "0 or more; found -1"),
        ({"openai:m": {"input": "many", "output": 1, "since": "2026-01-01"}}, "found 'many'"),
        ({"openai:m": {"input": True, "output": 1, "since": "2026-01-01"}}, "found True"),
        ({"openai:m": {"input": 1, "output": 1, "since": "spring"}}, "a day such as"),
        ({"openai:m": {"inptu": 1, "output": 1, "since": "2026-01-01"}}, "inptu is not known"),
        ({"openai:m": [{"input": 1, "output": 1, "since": "2026-01-01"}] * 2}, "since the same day"),
    ],
)
def test_a_wrong_price_is_named(tables, said):
    with pytest.raises(UsageError, match=said):
        read_prices(tables, "spectrace.toml")
