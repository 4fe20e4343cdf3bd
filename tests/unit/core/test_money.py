from dataclasses import replace
from decimal import Decimal

import pytest

from spectrace.core.events import EpisodeStarted, Event, Origin
from spectrace.core.money import Rates, Spent, dollars, micro_usd, rates_of, spent, stated_usd
from spectrace.core.types import Usage
from tests.model_calls import PRICE, answered, asked, failed, started

RATES = Rates(Decimal(3), Decimal("0.3"), Decimal(15))
FREE = Rates(Decimal(0), Decimal(0), Decimal(0))


def cost(*bodies, **prices) -> Spent:
    told = [started(**prices), *bodies]
    return spent(Event("e", seq, "", seq, body) for seq, body in enumerate(told))


@pytest.mark.parametrize(
    ("rates", "usage", "expected"),
    [
        (RATES, Usage(1000, 400, 10), 600 * 3 + 120 + 150),
        (RATES, Usage(1000, 1400, 10), 300 + 150),
        (RATES, Usage(1000, None, 10), None),
        (RATES, Usage(None, 0, 10), None),
        (RATES, Usage(1000, 0, None), None),
        (replace(RATES, cached=Decimal(3)), Usage(1000, None, 10), 3150),
        (FREE, Usage(), 0),
        (replace(FREE, output=Decimal(1)), Usage(None, None, 7), 7),
        (replace(FREE, output=Decimal("0.5")), Usage(None, None, 3), 2),
    ],
)
def test_a_call_costs_what_each_kind_of_token_does_or_nobody_knows(rates, usage, expected):
    assert micro_usd(rates, usage) == expected


@pytest.mark.parametrize("text", [None, "", "{}", "[]", "3", '{"input": "x", "cached": "0", "output": "0"}', "{"])
def test_a_price_that_is_none_has_no_rates(text):
    assert rates_of(text) is None


@pytest.mark.parametrize("amount", ["-1", "NaN", "Infinity", "1E+999999999", "1000000.01"])
def test_an_amount_that_is_no_price_has_no_rates(amount):
    assert rates_of(PRICE.replace('"15"', f'"{amount}"')) is None


def test_a_recorded_price_is_read():
    assert rates_of(PRICE) == RATES


@pytest.mark.parametrize(
    ("micro", "text"), [(0, "0"), (1, "0.000001"), (12_300, "0.0123"), (2_000_000, "2"), (100_000_000, "100")]
)
def test_money_is_written_without_exponents_or_trailing_zeros(micro, text):
    assert dollars(micro) == text


def test_an_episode_costs_the_sum_of_its_calls_by_the_price_of_the_model_asked():
    total = cost(
        asked("strong"), answered(1, Usage(100, 0, 10)), asked("weak"), answered(3, Usage(50, 0, 5)),
        strong=PRICE, weak=PRICE.replace('"3"', '"1"').replace('"15"', '"2"'),
    )  # fmt: skip

    assert (total, total.usd, total.at_least_usd) == (Spent(450 + 60, 2), "0.00051", None)


def test_a_cost_that_is_known_in_part_is_told_as_the_part():
    total = cost(
        asked("strong"), answered(1, Usage(100, 0, 10)), asked("weak"), answered(3, Usage(5, 0, 5)),
        strong=PRICE, weak=None,
    )  # fmt: skip

    assert (total.usd, total.at_least_usd) == (None, "0.00045")


def test_a_cost_of_which_nothing_is_known_is_not_zero():
    total = cost(asked("strong"), answered(1, Usage(100, 0, 10)), strong=None)

    assert (total.usd, total.at_least_usd) == (None, None)


@pytest.mark.parametrize("source", ["record", "cache", "edited"])
def test_a_call_that_was_not_made_for_this_episode_is_not_its_cost(source):
    assert cost(asked("strong"), answered(1, Usage(100, 0, 10), source), strong=PRICE).usd == "0"


def test_an_imported_call_costs_what_its_model_costs_which_as_a_rule_nobody_knows():
    called = asked("strong"), answered(1, Usage(100, 0, 10), "import")

    assert (cost(*called, strong=PRICE).usd, cost(*called, strong=None).usd) == ("0.00045", None)


def filed(extra: str, format_: str = "tau2") -> EpisodeStarted:
    return replace(started(strong=None), origin=Origin(format_, "results.json", "d", "sim-1", extra=extra))


def test_a_recording_without_calls_of_its_own_has_no_cost_rather_than_none():
    total = spent([Event("e", 0, "", 0, filed("{}"))])

    assert (total.usd, total.at_least_usd) == (None, None)


def test_an_episode_of_ours_without_calls_costs_nothing():
    assert cost(strong=None).usd == "0"


@pytest.mark.parametrize(
    ("said", "stated"),
    [
        ('"agent_cost": 0.02746, "user_cost": 0.010488', "0.037948"),
        ('"agent_cost": 5e-06, "user_cost": null', "0.000005"),
        ('"agent_cost": 1', "1"),
        ('"user_cost": 1', None),
        ('"agent_cost": null', None),
        ('"agent_cost": "1"', None),
        ('"agent_cost": true', None),
        ('"agent_cost": -1', None),
        ('"agent_cost": NaN', None),
        ('"agent_cost": 1E+999999999', None),
    ],
)
def test_what_a_file_says_of_its_cost_is_kept_apart_as_its_word(said, stated):
    assert stated_usd(filed(f'{{"simulation": {{{said}}}}}')) == stated


@pytest.mark.parametrize("extra", ["", "[]", "{}", '{"simulation": 7}', "[" * 100_000])
def test_a_file_that_says_nothing_of_its_cost_states_none(extra):
    assert stated_usd(filed(extra)) is None


def test_only_a_format_whose_words_are_known_states_a_cost():
    extra = '{"simulation": {"agent_cost": 1}}'

    assert (stated_usd(filed(extra, "openai")), stated_usd(started(strong=None))) == (None, None)


@pytest.mark.parametrize(
    ("kind", "usage", "expected"),
    [
        ("busy", Usage(), "0"),
        ("context", Usage(), "0"),
        ("timeout", Usage(), None),
        ("server", Usage(100, 0, 10), "0.00045"),
    ],
)
def test_a_failed_call_costs_what_was_generated_before_it_failed(kind, usage, expected):
    assert cost(asked("strong"), failed(1, kind, usage), strong=PRICE).usd == expected


def test_a_model_that_the_start_does_not_name_has_no_price():
    assert cost(asked("judge"), answered(1, Usage(100, 0, 10)), strong=PRICE).usd is None
