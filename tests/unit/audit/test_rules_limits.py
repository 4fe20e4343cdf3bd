"""Every limit that is recorded with an episode is kept, and a log knows as much of it as it can."""

import json
from dataclasses import replace

import pytest

from spectrace.audit.rules import RULES, violations
from spectrace.core.agentcollab import AgentCollab
from spectrace.core.events import GenerateCompleted, GenerateRequested, StepDrafted
from spectrace.core.specagent import SpecAgent
from spectrace.core.speculative_actions import SpeculativeActions
from spectrace.core.types import Usage
from tests.altered import each, first, put
from tests.properties.played import play
from tests.properties.scripts import Judged, Script

READS = play(Script(weak=("read", "read", "write", "read"), verdicts=(Judged("accept"),)), SpecAgent, {}).events
PRICE = json.dumps({"input": "1", "cached": "1", "output": "1"})


def under(events, **options):
    return put(events, 0, options=json.dumps({**json.loads(events[0].body.options), **options}))


def found(events):
    return [(one.seq, one.detail) for one in violations(events, [RULES["limits_exceeded"]])]


def asked(events, number, who=("weak", "strong")):
    return [e for e in each(events, GenerateRequested) if e.body.who in who][number]


def test_a_segment_has_no_more_than_k_steps():
    third = first(READS, StepDrafted, segment=1, index=3)

    assert found(under(READS, k=2)) == [(third.seq, "segment 1 has 3 steps, and k=2")]
    assert found(under(READS, k=3)) == []


@pytest.mark.parametrize(
    ("limit", "number", "who"),
    [({"max_steps": 2}, 2, "weak"), ({"max_tokens": 30}, 2, "weak"), ({"max_strong_calls": 1}, 4, "weak")],
)
def test_no_model_is_asked_once_a_budget_is_used_up(limit, number, who):
    ((name, value),) = limit.items()

    assert found(under(READS, **limit)) == [
        (asked(READS, number).seq, f"the {who} model was asked beyond {name}={value}")
    ]


def test_money_is_counted_where_prices_and_tokens_are_known():
    models = tuple(replace(one, price=PRICE) for one in READS[0].body.models)
    priced = put(READS, 0, models=models)

    assert found(under(priced, max_cost_usd="0.000030")) == [
        (asked(READS, 2).seq, "the weak model was asked beyond max_cost_usd=0.000030")
    ]
    assert found(under(READS, max_cost_usd="0.000030")) == []


def test_time_is_what_the_answers_took():
    said = each(READS, GenerateCompleted)[0]
    slow = put(READS, said.seq, latency_us=2_000_000)

    assert found(under(slow, max_wall_s=2)) == [(asked(READS, 1).seq, "the weak model was asked beyond max_wall_s=2")]
    assert found(under(slow, max_wall_s=3)) == []


def test_what_was_answered_from_the_record_of_another_took_no_time():
    said = each(READS, GenerateCompleted)[0]
    told = put(READS, said.seq, latency_us=2_000_000, source="record")

    assert found(under(told, max_wall_s=2)) == []


def test_tokens_that_nobody_counted_are_held_against_nobody():
    events = READS
    for said in each(READS, GenerateCompleted):
        events = put(events, said.seq, usage=Usage())

    assert found(under(events, max_tokens=1)) == []


def test_branches_side_by_side_count_what_each_used_itself():
    script = Script(weak=("again", "again", "again"), strong=("read", "read", "read"))
    events = play(script, SpeculativeActions, {"max_tokens": 60}).events

    assert found(events) == []
    assert found(under(events, max_tokens=30)) != []


def test_a_model_in_control_looks_back_after_its_stretch():
    script = Script(("read", "read", "read"), ("read",) * 3, judgements=("progress", "progress", "progress"))
    events = play(script, AgentCollab, {"k": 2}).events
    second = first(events, StepDrafted, segment=2)

    assert found(events) == []
    assert found(under(events, k=1))[0][1] == "the weak model went on after 1 steps, its stretch is 1"
    assert found(under(events, k=1))[0][0] < second.seq


def test_limits_that_cannot_be_read_are_none():
    assert found(put(READS, 0, options="{")) == []
    assert found(under(READS, max_cost_usd="much", max_steps="two", max_tokens=None)) == []
