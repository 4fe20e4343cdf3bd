"""What an act names as its authority is looked up: the finer points beside `tests/contract/test_rules.py`."""

import pytest

from spectrace.audit.rules import RULES, violations
from spectrace.core.baselines import WeakOnly
from spectrace.core.events import ActRequested, GenerateCompleted, VerdictGiven
from spectrace.core.specagent import SpecAgent
from spectrace.runs.fork import Edit
from tests.altered import approved, each, first, on, put
from tests.episodes import recorded_events
from tests.forks import fork
from tests.playbook import accept
from tests.properties.played import play
from tests.properties.scripts import Script

EVENTS = recorded_events()


def found(events, rule):
    return [(one.seq, one.detail) for one in violations(events, [RULES[rule]])]


@pytest.mark.parametrize(
    ("authority", "why"),
    [
        ("verdict:9999", "names verdict:9999, and that is no event"),
        ("verdict:0", "names verdict:0, and that is episode.started"),
        ("repair:0", "names repair:0, and that is episode.started"),
        ("person:Ana", "names person:Ana, who edited no verdict here"),
        ("unknown", "names 'unknown', which is no authority"),
        ("because", "names 'because', which is no authority"),
        ("read", "ran on the authority read"),
        ("reply", "ran on the authority reply"),
        ("actor", "ran on the authority actor, which a protocol with reviews does not have"),
    ],
)
def test_a_write_names_an_authority_that_is_there_and_its_own(authority, why):
    act = approved(EVENTS)[0]

    assert found(on(EVENTS, act, authority), "write_without_authority") == [(act.seq, f"cancel_order at s2.2 {why}")]


def test_a_final_answer_that_is_held_does_not_run_unreviewed():
    act = approved(EVENTS, "finish")[0]

    assert found(on(EVENTS, act, "unreviewed"), "write_without_authority") == [
        (act.seq, "finish at s3.1 ran unreviewed, though the options say finish=held")
    ]


def test_a_final_answer_that_is_free_runs_unreviewed():
    assert violations(play(Script(weak=("finish",)), SpecAgent, {"finish": "free"}).events) == []


def test_a_protocol_without_reviews_has_no_unreviewed_writes():
    events = play(Script(weak=("write",)), WeakOnly, {}).events
    act = first(events, ActRequested, tool="change")

    assert found(on(events, act, "unreviewed"), "write_without_authority")[0][0] == act.seq


def test_a_held_write_that_ran_before_any_verdict_is_found_whatever_it_names():
    act = approved(EVENTS)[0]
    given = int(act.body.authority.partition(":")[2])
    without = [e for e in on(EVENTS, act, "read") if e.seq != given]
    numbered = [type(e)(e.episode, n, e.lane, e.at, e.body) for n, e in enumerate(without)]

    assert found(numbered, "write_before_verdict") == [
        (act.seq - 1, "cancel_order at s2.2 was held, and was sent before any verdict on segment 2")
    ]


def edited():
    rejected = first(EVENTS, VerdictGiven, outcome="reject")
    return fork(EVENTS, rejected.seq, edit=Edit(accept(), "person:Ana"), weak=["{}"] * 4, strong=["{}"] * 4)


def test_what_is_done_on_a_verdict_that_a_person_edited_is_done_on_their_authority():
    events = edited()
    act = first(events, ActRequested, authority="person:Ana")

    assert violations(events) == []
    given = first(events, VerdictGiven)
    for rule, authority in (
        ("edited_without_person", f"verdict:{given.seq}"),
        ("write_without_authority", "person:Bo"),
    ):
        assert found(on(events, act, authority), rule)[0][0] == act.seq


def test_an_edit_names_a_person():
    events = edited()
    said = first(events, GenerateCompleted, source="edited")
    for nobody in (None, "", "strong", "person:", "person: "):
        assert (said.seq) in dict(found(put(events, said.seq, model=nobody), "edited_without_person"))


def test_a_repair_is_no_authority_for_a_drafted_step_nor_a_verdict_for_a_repair():
    fused = first(EVENTS, ActRequested, position="s1.r1")
    given = first(EVENTS, VerdictGiven)

    assert found(on(EVENTS, fused, f"verdict:{given.seq}"), "verdict_elsewhere") == [
        (fused.seq, f"find_customer at s1.r1 names verdict:{given.seq}: a verdict is no authority for that step")
    ]


def test_what_is_sent_as_another_effect_than_drafted_differs():
    act = approved(EVENTS)[0]

    assert "was sent as a reply" in found(put(EVENTS, act.seq, effect="reply"), "executed_differs")[0][1]


def test_a_header_that_names_another_tool_than_the_action_differs():
    act = approved(EVENTS)[0]

    assert found(put(EVENTS, act.seq, tool="get_order"), "executed_differs") == [
        (act.seq, "the header names get_order, the action is cancel_order")
    ]


def test_a_fused_repair_is_the_replacement_that_the_verdict_names():
    given = first(EVENTS, VerdictGiven, outcome="reject")
    other = each(EVENTS, ActRequested)[-1].body.action

    assert (
        "the fused repair is not the replacement"
        in found(put(EVENTS, given.seq, replacement=other), "executed_differs")[0][1]
    )
