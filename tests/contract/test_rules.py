"""Each rule of the audit: broken by the one change that breaks it, by no sound recording, and found in random ones."""

import pytest
from hypothesis import given, settings

from spectrace.audit.rules import RULES, violations
from spectrace.core.agentcollab import AgentCollab
from spectrace.core.baselines import StrongOnly, WeakOnly
from spectrace.core.specagent import SpecAgent
from spectrace.core.speculative_actions import SpeculativeActions
from spectrace.store.memory import MemoryEventStore
from tests.broken_rules import BROKEN
from tests.golden.loader import all_golden
from tests.properties.played import play
from tests.properties.scripts import BUDGETS, COLLABORATING, GUESSING, OPTIONS, options, scripts
from tests.stored_episodes import put

PROTOCOLS = {
    "specagent": (SpecAgent, OPTIONS),
    "weak-only": (WeakOnly, {}),
    "strong-only": (StrongOnly, {}),
    "speculative-actions": (SpeculativeActions, GUESSING),
    "agentcollab": (AgentCollab, COLLABORATING),
}
MADE_UP = {"every-type"}
"""A golden log of one event of every kind, in no order that can have been."""


def sound(rule):
    broken = BROKEN[rule]
    return play(broken.script, PROTOCOLS[broken.protocol][0], dict(broken.options)).events


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_broken_by_the_one_change_that_breaks_it_and_by_nothing_before(rule):
    events = sound(rule)
    changed = BROKEN[rule].change(events)

    assert violations(events) == []
    assert changed is not None
    assert {one.rule for one in violations(changed)} == {rule}


RECORDED = [one for one in all_golden() if "totals" in one.about and one.path.stem not in MADE_UP]


@pytest.mark.parametrize("golden", RECORDED, ids=str)
def test_no_golden_episode_holds_a_violation(golden):
    store = MemoryEventStore()
    put(store, golden.lines, golden.blobs)

    assert [one for one in violations(list(store.read(golden.episode))) if one.severity == "violation"] == []


def mutated(name, examples):
    """Try every change on random episodes; return rule -> (how often it applied, how often it was found)."""
    protocol, table = PROTOCOLS[name]
    tried = dict.fromkeys(RULES, 0)
    missed = []

    @settings(max_examples=examples, derandomize=True, database=None, deadline=None)
    @given(scripts(), options(table, BUDGETS))
    def explore(script, chosen):
        events = play(script, protocol, chosen).events
        for rule, broken in BROKEN.items():
            changed = broken.change(events)
            if changed is None:
                continue
            tried[rule] += 1
            if rule not in {one.rule for one in violations(changed, [RULES[rule]])}:
                missed.append((rule, chosen, script))

    explore()
    return tried, missed


@pytest.mark.slow
def test_every_rule_is_found_broken_in_random_episodes_that_were_changed():
    tried, missed = mutated("specagent", 250)
    for name in ("weak-only", "speculative-actions", "agentcollab"):
        more, others = mutated(name, 60)
        tried = {rule: tried[rule] + more[rule] for rule in tried}
        missed += others

    assert missed == []
    assert [rule for rule, times in tried.items() if times == 0] == []
