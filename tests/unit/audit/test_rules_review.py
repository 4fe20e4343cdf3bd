"""Reviews and what came of them: the finer points beside `tests/contract/test_rules.py`."""

import json

import pytest

from spectrace.audit.rules import RULES, violations
from spectrace.core.events import (
    ActionChecked,
    ActRequested,
    RepairMade,
    SegmentCommitted,
    StepsDiscarded,
    VerdictGiven,
)
from spectrace.core.specagent import SpecAgent
from spectrace.core.speculative_actions import SpeculativeActions
from tests.altered import behind, each, first, put, renumbered
from tests.episodes import recorded_events
from tests.properties.played import play
from tests.properties.scripts import Judged, Script

EVENTS = recorded_events()
ACCEPT = first(EVENTS, VerdictGiven, outcome="accept")


def found(events, rule):
    return [(one.seq, one.detail) for one in violations(events, [RULES[rule]])]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"accepted": -1}, "accepts -1 of 2 steps"),
        ({"accepted": 1}, "is accept (ok) and accepts 1 of 2 steps"),
        ({"outcome": "reject"}, "is reject (ok) and accepts 2 of 2 steps"),
        ({"status": "unusable"}, "is accept (unusable) and accepts 2 of 2 steps"),
        ({"drafted": 3, "accepted": 3}, "is on 3 steps, and 2 were waiting for one"),
        ({"segment": 9}, "is on 2 steps, and 2 were waiting for one"),
    ],
)
def test_a_verdict_says_one_thing_of_what_was_waiting(fields, why):
    ((seq, detail),) = found(put(EVENTS, ACCEPT.seq, **fields), "verdict_contradicts")

    assert (seq, detail.partition(" ")[2].partition(" ")[2]) == (
        ACCEPT.seq,
        f"on segment {fields.get('segment', 2)} {why}",
    )


def test_an_accept_replaces_nothing():
    rejected = first(EVENTS, VerdictGiven, outcome="reject")
    changed = put(EVENTS, ACCEPT.seq, replacement=rejected.body.replacement)

    assert found(changed, "verdict_contradicts")[0][1].endswith("accepts every step and replaces one")


def test_a_segment_is_judged_once():
    again = behind(EVENTS, ACCEPT.seq, ACCEPT.body)

    assert found(again, "verdict_contradicts") == [
        (ACCEPT.seq + 1, f"the verdict on segment 2 was given before, by event {ACCEPT.seq}")
    ]


def test_steps_that_no_verdict_was_given_on_are_not_called_reviewed():
    events = play(Script(weak=("read", "read")), SpecAgent, {"k": 2}).events
    (done,) = each(events, SegmentCommitted, reviewed="no")

    assert found(put(events, done.seq, reviewed="yes"), "false_review") == [
        (done.seq, "steps 1 to 2 of segment 1 were committed as reviewed, and a verdict accepted 0")
    ]


def test_a_protocol_with_reviews_commits_no_write_as_if_it_had_none():
    done = each(EVENTS, SegmentCommitted, segment=2)[0]

    assert len(found(put(EVENTS, done.seq, reviewed="not_applicable"), "unreviewed_write")) == 1


def test_what_has_to_be_reviewed_after_so_many_unreviewed_steps_is():
    events = play(Script(weak=("read", "read", "reply")), SpecAgent, {"k": 2}).events
    options = json.dumps({**json.loads(events[0].body.options), "max_unreviewed": 2})
    (done,) = [e for e in each(events, SegmentCommitted) if e.body.end == 2]

    assert found(put(events, 0, options=options), "review_skipped") == [
        (done.seq, "segment 1 (k_reads) had to be reviewed, and was committed unreviewed")
    ]


def test_an_external_look_up_is_not_started_on_a_guess():
    script = Script(weak=("again",), strong=("write",))
    events = play(script, SpeculativeActions, {}).events
    act = first(events, ActRequested, authority="speculative")
    tools = tuple(tool if tool.name != act.body.tool else _external(tool) for tool in events[0].body.tools)

    assert [seq for seq, _ in found(put(events, 0, tools=tools), "not_held")] == [act.seq]


def _external(tool):
    return type(tool)(tool.name, tool.description, tool.parameters, tool.effect, tool.effect_by, external=True)


def test_a_replacement_needs_the_options_a_verdict_that_names_it_and_a_check():
    made = first(EVENTS, RepairMade, kind="fused")
    given = first(EVENTS, VerdictGiven, outcome="reject")
    unfused = json.dumps({**json.loads(EVENTS[0].body.options), "fused": False})
    unchecked = renumbered([e for e in EVENTS if not isinstance(e.body, ActionChecked)])

    assert "the options say fused=false" in found(put(EVENTS, 0, options=unfused), "invalid_replacement")[0][1]
    assert "names none" in found(put(EVENTS, given.seq, replacement=None), "invalid_replacement")[0][1]
    assert found(unchecked, "invalid_replacement") == [
        (made.seq - 1, "the replacement at s1.r1 was done, though the environment was not asked whether it is valid")
    ]


def test_a_replacement_that_its_tools_schema_refuses_is_not_valid():
    made, given = first(EVENTS, RepairMade), first(EVENTS, VerdictGiven, outcome="reject")
    bad = type(made.body.actions[0])("find_customer", '{"name": 7}')
    changed = put(put(EVENTS, made.seq, actions=(bad,)), given.seq, replacement=bad)

    assert "was done, though" in found(changed, "invalid_replacement")[0][1]


def test_what_a_schema_refuses_is_not_sent():
    act = first(EVENTS, ActRequested, tool="get_order")
    bad = type(act.body.action)("get_order", "{}")

    assert "'order_id' is a required property" in found(put(EVENTS, act.seq, action=bad), "sent_though_invalid")[0][1]


def test_a_repair_of_what_was_accepted_is_found():
    script = Script(weak=("read", "write"), strong=("read",), verdicts=(Judged("reject", "last"),))
    events = play(script, SpecAgent, {}).events
    given, gone = first(events, VerdictGiven), first(events, StepsDiscarded)
    changed = put(events, given.seq, outcome="accept", accepted=given.body.drafted)

    assert gone is not None
    assert found(changed, "repair_without_rejection")[0][1].startswith("segment 1 was repaired, though event")
