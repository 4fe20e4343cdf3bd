"""What the scripted table of the five protocols costs: every call in a phase, every strong call in R."""

import asyncio

import pytest

from spectrace.audit.costing import Costing, cost_groups
from spectrace.audit.relative import relative
from spectrace.audit.spending import spending
from spectrace.cost.profile_file import load_profile
from spectrace.store.memory import MemoryEventStore
from tests.protocol_table import PROTOCOLS, TASKS, record_table

PAPER = Costing(profile=load_profile("paper"))
MEASURES = ("flops", "hbm_read_low", "hbm_read_high")


@pytest.fixture(scope="module")
def logs():
    """Protocol -> the events of its episodes."""
    store = MemoryEventStore()
    recorded = asyncio.run(record_table(store))
    return {name: [list(store.read(recorded[name, task].episode)) for task in TASKS] for name in PROTOCOLS}


@pytest.fixture(scope="module")
def groups(logs):
    found = cost_groups([spending(events) for episodes in logs.values() for events in episodes], PAPER)
    return {group.made.protocol: group for group in found}


def test_each_protocol_is_a_group(groups):
    assert {name: len(group.spendings) for name, group in groups.items()} == dict.fromkeys(PROTOCOLS, 4)


@pytest.mark.parametrize(
    ("protocol", "phases"),
    [
        ("weak-only", {("act", "weak")}),
        ("strong-only", {("act", "strong")}),
        ("specagent", {("draft", "weak"), ("verify", "strong")}),
        ("speculative-actions", {("draft", "weak"), ("act", "strong")}),
        ("agentcollab", {("act", "weak"), ("act", "strong"), ("plan", "strong"), ("progress", "weak")}),
    ],
)
def test_calls_fall_into_the_phases_of_their_protocol(groups, protocol, phases):
    assert phases <= set(groups[protocol].phases) <= phases | {("repair", "strong"), ("progress", "strong")}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("measure", MEASURES)
def test_r_accounts_for_every_strong_call(groups, protocol, measure):
    group = groups[protocol]
    lines = relative(group, [groups["strong-only"]]).measures[measure].accounted
    spent = sum(call.cost(measure) for call in group.calls.values() if call.who == "strong")

    assert (lines.r + lines.apart) * lines.d * lines.steps == pytest.approx(spent, rel=1e-9)


@pytest.mark.parametrize("measure", MEASURES)
def test_the_weak_model_alone_costs_nothing_strong_and_the_strong_one_alone_1(groups, measure):
    alone = [groups["strong-only"]]
    found = {name: relative(groups[name], alone).measures[measure] for name in ("weak-only", "strong-only")}

    assert {name: (one.accounted.r, one.per_task) for name, one in found.items()} == {
        "weak-only": (0, 0),
        "strong-only": (pytest.approx(1), pytest.approx(1)),
    }


def test_steps_of_speculative_actions_are_the_strong_models_own(groups):
    found = relative(groups["speculative-actions"], [groups["strong-only"]]).measures["flops"].accounted

    assert found.r == pytest.approx(1, rel=0.05)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_modelled_tokens_agree_with_a_server_that_keeps_every_prompt(logs, protocol):
    """The scripted models count what they have read before themselves, character by character, answers not counted."""
    measured = modelled = 0
    for events in logs[protocol]:
        one = spending(events)
        for call in one.calls:
            call.answer = None
        (group,) = cost_groups([one], PAPER)  # each episode met new models: no group shares a cache
        measured += group.total.sums["uncached_measured"].exact
        modelled += group.total.sums["uncached_modelled"].exact

    assert modelled == pytest.approx(measured, rel=0.05)
