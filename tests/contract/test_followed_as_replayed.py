"""The rule that runs a protocol again and a replay from the record say the same of every recording, altered or not."""

import asyncio
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spectrace.audit.rules import RULES, Tally, violations
from spectrace.core.specagent import SpecAgent
from spectrace.core.speculative_actions import SpeculativeActions
from spectrace.runs.replay import replay_episode
from tests.properties.played import play
from tests.properties.scripts import BUDGETS, GUESSING, OPTIONS, options, scripts
from tests.properties.test_rules_on_anything import SOUND, altered

RULE = "not_by_the_protocol"


def ruled(events):
    tally = Tally()
    found = violations(events, [RULES[RULE]], tally=tally)
    assert tally.failed == []
    return [one.seq for one in found], tally


def replayed(events):
    result = asyncio.run(replay_episode(events))
    return result.result, None if result.first_difference is None else result.first_difference.seq


def same(events):
    found, tally = ruled(events)
    result, seq = replayed(events)
    if result == "untestable":
        assert found == []
        assert tally.unjudged.get(RULE, 0) == tally.subjects.get(RULE, 0)
    else:
        assert found == ([seq] if result == "diverged" else [])
        assert tally.unjudged.get(RULE, 0) == 0
    return result


@settings(max_examples=120, derandomize=True, database=None, deadline=None)
@given(st.integers(0, 100_000))
def test_an_altered_episode_diverges_where_the_rule_says(seed):
    events = altered(Random(seed))  # noqa: S311 - a test's alterations
    same([replace(event, seq=number) for number, event in enumerate(events)])


def test_alterations_are_of_every_kind():
    results = {same([replace(e, seq=n) for n, e in enumerate(altered(Random(seed)))]) for seed in range(40)}  # noqa: S311

    assert results >= {"diverged", "untestable"}
    assert same(SOUND) == "same"


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "table"), [(SpecAgent, OPTIONS), (SpeculativeActions, GUESSING)])
def test_a_random_episode_is_the_same_wherever_it_stops(protocol, table):
    @settings(max_examples=40, derandomize=True, database=None, deadline=None)
    @given(scripts(), options(table, BUDGETS), st.randoms(use_true_random=False))
    def explore(script, chosen, random):
        events = play(script, protocol, chosen).events

        assert same(events[: random.randint(1, len(events))]) == "same"

    explore()
