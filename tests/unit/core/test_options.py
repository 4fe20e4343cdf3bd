"""The table of options: complete, checked, the first value the default."""

from dataclasses import fields

import pytest

from spectrace.core.options import OPTIONS, lacking, recorded_options, types_of
from spectrace.core.protocols import PROTOCOLS
from spectrace.core.specagent import SpecAgent
from spectrace.errors import UsageError


def test_every_option_of_every_protocol_is_explained():
    taken = {item.name for protocol in PROTOCOLS.values() for item in fields(protocol)}

    assert taken == set(OPTIONS)


def test_the_first_value_named_is_the_default():
    defaults = {item.name: str(item.default).lower() for item in fields(SpecAgent)}

    assert {name: defaults[name] for name, option in OPTIONS.items() if option.values and name in defaults} == {
        name: option.values[0] for name, option in OPTIONS.items() if option.values and name in defaults
    }


def test_a_protocols_own_options_come_before_the_limits():
    names = list(types_of(SpecAgent))

    assert (names[0], names[-1]) == ("k", "max_wall_s")


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"acceptance": "fuzzy"}, "acceptance: expected one of semantic, exact, found 'fuzzy'"),
        ({"k": 0}, "k must be a whole number of at least 1 and at most 2147483647, found 0"),
        ({"max_unreviewed": 0}, "max_unreviewed must be a whole number of at least 1"),
        ({"max_wall_s": -1}, "max_wall_s must be a whole number"),
        (
            {"max_cost_usd": "cheap"},
            "max_cost_usd must be a number of at least 0 and at most 2147483647, found 'cheap'",
        ),
        ({"max_cost_usd": "NaN"}, "max_cost_usd must be a number"),
        ({"max_cost_usd": "-0.1"}, "max_cost_usd must be a number"),
        ({"threshold": "Infinity"}, "threshold must be a number"),
        ({"threshold": "2"}, "threshold must be a number of at least 0 and at most 1, found '2'"),
        ({"k": 2**31}, "k must be a whole number of at least 1 and at most 2147483647, found 2147483648"),
        ({"max_tokens": 10**5000}, "found 0x"),
        ({"max_cost_usd": "1e999999"}, "max_cost_usd must be a number of at least 0 and at most"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(option, words):
    with pytest.raises(UsageError, match=words):
        SpecAgent(**option)


def test_an_option_says_what_it_has_no_effect_without():
    assert lacking(SpecAgent(threshold="0.7"), "threshold") == (("verdict", "scored"),)
    assert lacking(SpecAgent(threshold="0.7", verdict="scored"), "threshold") == ()
    assert lacking(SpecAgent(acceptance="exact", verdict="scored"), "verdict") == (("acceptance", "semantic"),)
    assert lacking(SpecAgent(acceptance="exact"), "verdict") == ()


def test_what_an_option_needs_is_a_value_of_another():
    needed = [(other, value) for option in OPTIONS.values() for other, value in option.needs]

    assert [(other, value) for other, value in needed if value not in OPTIONS[other].values] == []


@pytest.mark.parametrize("text", ["", "os:system", "[1]", "null", "[" * 100_000, "1" * 5_000, "\ud800"])
def test_what_is_no_object_holds_no_options(text):
    assert recorded_options(text) is None
