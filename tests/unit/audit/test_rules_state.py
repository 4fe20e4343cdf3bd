"""The state and repeated writes: what the log says itself is a warning, what it hides a violation."""

from spectrace.audit.rules import RULES, Tally, violations
from spectrace.core.baselines import WeakOnly
from spectrace.core.events import ActRequested, EffectObserved, StateMoved
from spectrace.core.specagent import SpecAgent
from tests.altered import answer_to, approved, each, first, put, renumbered
from tests.broken_rules import ELSEWHERE
from tests.episodes import CANCEL, DONE, recorded_events
from tests.playbook import accept
from tests.properties.played import play
from tests.properties.scripts import Judged, Script


def found(events, rule):
    return [(one.seq, one.severity, one.detail) for one in violations(events, [RULES[rule]])]


def test_a_read_that_changed_the_state_is_worth_a_look_and_hidden_a_violation():
    events = play(Script(weak=("lie", "read")), SpecAgent, {}).events
    act, told = first(events, ActRequested, tool="lie"), first(events, EffectObserved)
    hidden = renumbered([e for e in events if e is not told])

    said = f"lie at s1.1 is declared a read and changed the state (event {told.seq})"
    assert found(events, "read_changed_state") == [(act.seq, "warning", said)]
    assert [(seq, how) for seq, how, _ in found(hidden, "read_changed_state")] == [(act.seq, "violation")]


def test_a_log_that_breaks_off_behind_such_a_read_hides_nothing():
    events = play(Script(weak=("lie", "read")), SpecAgent, {}).events
    told = first(events, EffectObserved)

    assert found(events[: told.seq], "read_changed_state") == []


def test_reads_without_fingerprints_are_not_judged():
    tally = Tally()
    violations(play(Script(weak=("read", "read"), fingerprints=False), SpecAgent, {}).events, tally=tally)

    assert (tally.subjects["read_changed_state"], tally.unjudged["read_changed_state"]) == (2, 2)


def test_a_state_that_moved_under_a_held_action_is_worth_a_look_and_hidden_a_violation():
    script = Script(weak=("read", "write", "read"), verdicts=(Judged("accept", drifts=True),))
    events = play(script, SpecAgent, {}).events
    told = first(events, StateMoved)
    hidden = renumbered([e for e in events if e is not told])
    (act,) = approved(events)

    (moved,) = found(events, "state_moved")
    assert moved == (told.seq, "warning", "the state moved between holding and doing the action at s1.2")
    assert [(seq, how) for seq, how, _ in found(hidden, "state_moved")] == [(act.seq, "violation")]


def test_an_approved_action_on_another_state_is_named_with_both():
    events = recorded_events()
    act = approved(events)[0]
    changed = put(events, answer_to(events, act).seq, fingerprint_before=ELSEWHERE)

    ((seq, how, detail),) = found(changed, "state_moved")
    assert (seq, how, "eeee when it was done" in detail) == (act.seq, "violation", True)


def twice(**of_first):
    events = recorded_events(weak=[CANCEL, CANCEL, DONE], strong=[accept()] * 3)
    acts = each(events, ActRequested, tool="cancel_order")
    done = put(events, answer_to(events, acts[1]).seq, outcome="ok")
    return put(done, answer_to(events, acts[0]).seq, **of_first), acts


def test_the_same_write_twice_is_worth_a_look():
    events, (one, other) = twice(outcome="ok")

    assert found(events, "repeated_write") == [
        (other.seq, "warning", f"cancel_order at s2.1 is the same write as event {one.seq}")
    ]


def test_the_same_write_in_another_spelling_is_the_same():
    events, (one, other) = twice(outcome="ok")
    spelt = type(one.body.action)("cancel_order", '{ "order_id" : "W200" }')

    assert len(found(put(events, other.seq, action=spelt), "repeated_write")) == 1


def test_a_write_that_was_refused_is_done_once_when_it_is_tried_again():
    events, _ = twice(outcome="error")

    assert found(events, "repeated_write") == []


def test_one_key_twice_is_a_violation_whatever_was_done():
    events, (one, other) = twice(outcome="error")
    changed = put(events, other.seq, idempotency_key=one.body.idempotency_key)

    assert found(changed, "repeated_write") == [
        (other.seq, "violation", f"cancel_order at s2.1 was sent under the idempotency key of event {one.seq}")
    ]


def test_a_protocol_without_reviews_says_of_a_read_that_it_changed_the_state_too():
    events = play(Script(weak=("lie", "read")), WeakOnly, {}).events

    assert [how for _, how, _ in found(events, "read_changed_state")] == ["warning"]
