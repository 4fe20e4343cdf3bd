"""Each rule of the audit: broken by the one change that breaks it, by no sound recording, and found in random ones."""

import json

import pytest
from hypothesis import given, settings

from spectrace.audit.rules import RULES, violations
from spectrace.core.agentcollab import AgentCollab
from spectrace.core.baselines import StrongOnly, WeakOnly
from spectrace.core.events import ActCompleted, ActRequested, EpisodeEnded
from spectrace.core.specagent import SpecAgent
from spectrace.core.speculative_actions import SpeculativeActions
from spectrace.core.types import Finish
from spectrace.store.memory import MemoryEventStore
from tests.altered import first
from tests.broken_rules import BROKEN
from tests.desk import at, open_desk
from tests.forks import fork, recorded_in
from tests.golden.loader import all_golden
from tests.lasting_desk import connected, open_lasting
from tests.playbook import accept
from tests.properties.played import play
from tests.properties.scripts import BUDGETS, COLLABORATING, GUESSING, OPTIONS, options, scripts
from tests.resumes import answers, cuts, resume
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
WHOLE = {"not_by_the_protocol", "totals_misstated"}
"""Rules on an episode as a whole: what breaks another one breaks them as well."""


def sound(rule):
    broken = BROKEN[rule]
    return play(broken.script, PROTOCOLS[broken.protocol][0], dict(broken.options)).events


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_broken_by_the_one_change_that_breaks_it_and_by_nothing_before(rule):
    events = sound(rule)
    changed = BROKEN[rule].change(events)

    assert violations(events) == []
    assert changed is not None
    found = {one.rule for one in violations(changed)}
    assert rule in found
    assert found <= {rule, *WHOLE}


RECORDED = [one for one in all_golden() if "totals" in one.about and one.path.stem not in MADE_UP]


@pytest.mark.parametrize("golden", RECORDED, ids=str)
def test_no_golden_episode_holds_a_violation(golden):
    store = MemoryEventStore()
    put(store, golden.lines, golden.blobs)

    assert [one for one in violations(list(store.read(golden.episode))) if one.severity == "violation"] == []


WEAK = [at("look"), at("change"), at("change", "B"), Finish("done")]
STRONG = [accept()] * 3


def test_no_fork_breaks_a_rule_wherever_it_begins():
    events = recorded_in(open_desk([]), SpecAgent(), weak=WEAK, strong=STRONG)
    end = first(events, EpisodeEnded).seq
    for seq in range(end - 2):
        child = fork(events, seq, open_desk([]), weak=WEAK, strong=STRONG)

        assert [one for one in violations(child) if one.severity == "violation"] == [], seq


def test_no_resume_breaks_a_rule_wherever_it_was_killed(tmp_path):
    file = tmp_path / "desk.db"
    events = recorded_in(open_lasting(file), SpecAgent(), weak=WEAK, strong=STRONG)
    for store, episode, last in cuts(events):
        done = {one.body.request for one in events[: last + 1] if isinstance(one.body, ActCompleted)}
        acts = [one for one in events[: last + 1] if isinstance(one.body, ActRequested) and one.body.effect != "read"]
        sent = [one for one in acts if one.body.tool == "change"]
        if {one.seq for one in acts} - done:  # nobody has said what became of it
            continue
        with connected(file) as database:
            database.execute("DELETE FROM changes")
            names = [(json.loads(one.body.action.arguments)["id"],) for one in sent]
            database.executemany("INSERT INTO changes (id) VALUES (?)", names)
        child = resume(store, episode, open_lasting(file), answers(events, last))

        assert violations(child) == [], last


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
