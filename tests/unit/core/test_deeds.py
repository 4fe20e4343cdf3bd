"""The ledger of actions: authority, verdict, reviewer, outcome."""

import asyncio
from dataclasses import replace

import pytest

from spectrace.core.deeds import changes_state, deeds, own_deeds
from spectrace.core.events import ActCompleted, EffectObserved, Parent, Unknown
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Finish
from spectrace.environments.functions import FunctionEnvironment, Task, tool
from spectrace.errors import StoreError
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live import record
from spectrace.store.memory import MemoryEventStore
from tests.episodes import CANCEL, recorded_events
from tests.guesses import FIND, bodies, events
from tests.playbook import accept


def test_a_rejected_write_is_in_the_ledger_and_never_ran():
    deed = deeds(recorded_events())[0]

    assert (deed.tool, deed.arguments, deed.outcome, deed.authority) == (
        "cancel_order",
        CANCEL.arguments,
        "never",
        None,
    )
    assert (deed.requested_at, deed.state_changed) == (None, None)
    assert deed.verdict_seq is not None
    assert deed.reviewer_model == "scripted"


def test_an_executed_write_names_the_verdict_that_allowed_it():
    events = recorded_events()
    ran = [deed for deed in deeds(events) if deed.tool == "cancel_order" and deed.outcome == "ok"]

    assert [deed.authority for deed in ran] == [f"verdict:{ran[0].verdict_seq}"]
    assert events[ran[0].verdict_seq].type == "verdict.given"
    assert (ran[0].state_changed, ran[0].effect_by) == (True, "declared")
    assert ran[0].held_seq < ran[0].verdict_seq < ran[0].seq


def test_a_write_without_an_answer_is_indeterminate():
    events = recorded_events()
    end = next(
        event.seq for event in events if isinstance(event.body, ActCompleted) and event.body.tool == "cancel_order"
    )
    cut = deeds(events[:end])

    assert [deed.outcome for deed in cut if deed.tool == "cancel_order"] == ["never", "indeterminate"]


def test_reads_are_no_deeds_of_the_ledger():
    assert {deed.tool for deed in deeds(recorded_events()) if changes_state(deed)} == {"cancel_order", None, ""} - {""}


def test_a_read_that_changed_the_state_is_in_the_ledger_as_the_read_that_was_declared():
    @tool(effect="read")
    def peek(state: list[int]) -> str:
        """Look, and leave a trace."""
        state.append(1)
        return "seen"

    environment = FunctionEnvironment.from_functions("desk", [peek], "Look.", reset=lambda: [0], fingerprint=list)
    store = MemoryEventStore()
    models = {"weak": ScriptedModel([Call("peek", "{}"), Finish("x")]), "strong": ScriptedModel([accept()])}
    recorded = asyncio.run(record(Task("t", "Look."), environment, models, SpecAgent(), store))
    (peeked,) = [deed for deed in deeds(store.read(recorded.episode)) if deed.tool == "peek"]

    assert (peeked.effect_declared, peeked.effect_by, peeked.authority) == ("read", "declared", "unreviewed")
    assert changes_state(peeked)


def test_an_action_that_is_held_before_it_was_drafted_is_named():
    events = recorded_events()
    held = next(event.seq for event in events if event.type == "action.held")
    drafted = held - 1
    swapped = [*events[:drafted], events[held], events[drafted], *events[held + 1 :]]

    with pytest.raises(StoreError, match=rf"event {held} \(action.held\) of .* does not follow from the events before"):
        deeds(swapped)


def test_a_guess_that_the_strong_model_takes_is_its_own_step_done_on_speculative_authority():
    found = deeds(events())

    assert [(deed.position, deed.arguments, deed.authority, deed.outcome, deed.seq) for deed in found] == [
        ("s1.g2", '{"id": "W3"}', "speculative", "ok", 4),
        ("s1.1", FIND.arguments, "speculative", "ok", 2),
    ]
    assert (found[1].drafted_at, found[1].requested_at, found[1].completed_at) == (8_000, 2_000, 5_000)


def test_a_guess_that_was_not_started_is_no_deed():
    assert "s1.g3" not in {deed.position for deed in deeds(events())}


def test_a_guess_whose_answer_comes_after_it_was_taken_is_answered_all_the_same():
    told = bodies()
    told.insert(10, told.pop(5))  # the answer, after the match

    assert [(deed.position, deed.outcome, deed.completed_at) for deed in deeds(events(told))][1] == (
        "s1.1",
        "ok",
        10_000,
    )


def test_a_guess_that_changed_the_state_is_in_the_ledger_under_the_step_that_took_it():
    told = bodies()
    told.append(
        EffectObserved(
            effect="write",
            authority="unreviewed",
            tool="find_order",
            request=2,
            fingerprint_before="a",
            fingerprint_after="b",
        )
    )

    assert [(deed.position, deed.authority) for deed in deeds(events(told)) if changes_state(deed)] == [
        ("s1.1", "unreviewed")
    ]


def resumed_events():
    """The shop's episode as a child tells it that took over all up to the end of its accepted write, and no more."""
    told = recorded_events()
    done = next(one.seq for one in told if isinstance(one.body, ActCompleted) and one.body.tool == "cancel_order")
    parent = replace(told[0], body=replace(told[0].body, parent=Parent("resume", "first", done)))
    taken = [
        replace(one, body=replace(one.body, source="record")) if hasattr(one.body, "source") else one
        for one in told[1 : done + 1]
    ]
    return [parent, *taken, *told[done + 1 :]]


def test_what_a_resumed_episode_took_over_is_its_parents_deed_drafts_that_never_ran_included():
    ledger = deeds(resumed_events())

    assert [(deed.tool, deed.outcome, deed.taken_over) for deed in ledger if changes_state(deed)] == [
        ("cancel_order", "never", True),
        ("cancel_order", "ok", True),
        (None, "ok", False),
    ]
    assert [deed.kind for deed in own_deeds(resumed_events())] == ["finish"]


def test_a_fork_executes_again_so_its_deeds_are_its_own():
    resumed = resumed_events()
    forked = [replace(resumed[0], body=replace(resumed[0].body, parent=Parent("fork", "first", 9))), *resumed[1:]]

    assert not any(deed.taken_over for deed in deeds(forked))


def test_a_write_that_was_drafted_in_the_record_and_runs_behind_it_is_the_childs_own():
    resumed = resumed_events()
    live = [
        replace(one, body=replace(one.body, source="live")) if isinstance(one.body, ActCompleted) else one
        for one in resumed
    ]

    assert [deed.outcome for deed in own_deeds(live) if deed.tool == "cancel_order"] == ["ok"]


def erased(event):
    """Return an event as it reads once its body is gone."""
    body = event.body
    header = {name: getattr(body, name, None) for name in ("effect", "authority", "outcome", "tool")}
    return replace(event, body=Unknown(event.type, event.version, "null", **header))


def facts(deed):
    """Return what headers say of a deed."""
    return (deed.seq, deed.tool, deed.kind, deed.effect_declared, deed.authority, deed.outcome, deed.requested_at)


def test_of_wholly_erased_events_the_ledger_shows_tool_effect_authority_outcome_and_times():
    events = recorded_events()
    whole = [deed for deed in deeds(events) if ".r" not in deed.position]
    gone = deeds([erased(event) for event in events])
    sent = [deed for deed in gone if deed.position.startswith("e")]

    assert {facts(deed) for deed in whole} <= {facts(deed) for deed in sent}
    assert {deed.completed_at for deed in sent} >= {deed.completed_at for deed in whole}
    assert {deed.erased for deed in gone} == {True}
    assert {deed.arguments for deed in gone} == {""}
    assert {deed.started_by for deed in gone} == {"?"}


@pytest.mark.parametrize("type_", ["step.drafted", "action.held", "act.requested", "act.completed"])
def test_where_one_kind_of_event_is_erased_the_others_still_tell_of_the_same_deeds(type_):
    events = recorded_events()
    whole, found = deeds(events), deeds([erased(one) if one.type == type_ else one for one in events])

    assert [facts(deed) for deed in found if deed.outcome != "never"] == [
        facts(deed) for deed in whole if deed.outcome != "never"
    ]
    assert len(found) == len(whole)
    assert any(deed.erased for deed in found)


def test_a_verdict_is_known_by_the_authority_it_gave():
    events = recorded_events()
    found = deeds([erased(event) for event in events])
    ran = next(deed for deed in found if deed.tool == "cancel_order" and deed.outcome == "ok")

    assert ran.authority == f"verdict:{ran.verdict_seq}"


def test_an_event_that_follows_nothing_is_still_refused_where_nothing_is_erased():
    events = recorded_events()
    held = next(event for event in events if event.type == "action.held")

    with pytest.raises(StoreError, match="does not follow"):
        deeds([events[0], held])
    assert deeds([erased(events[0]), held]) == []
