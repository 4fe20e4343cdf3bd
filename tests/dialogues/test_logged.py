"""A dialogue's log is one that rules can judge: it is sound, and no longer when something is taken out of it."""

from spectrace.audit.rules import violations
from spectrace.core.events import ActionHeld, ActRequested, VerdictGiven
from tests.altered import each, first, on, renumbered
from tests.dialogues.plays import play
from tests.playbook import accept, change, look


def accepted():
    played = play().begins()
    played.says("weak", look()).observes("A is open")
    played.says("weak", change()).says("strong", accept()).observes("done")
    return played.events()


def test_the_act_names_its_verdict_by_the_number_that_it_has():
    events = accepted()
    (act,) = each(events, ActRequested, tool="change")

    assert [one.seq for one in events] == list(range(len(events)))
    assert act.body.authority == f"verdict:{first(events, VerdictGiven).seq}"
    assert violations(events) == []


def test_a_log_that_says_otherwise_breaks_the_rules():
    events = accepted()
    (act,) = each(events, ActRequested, tool="change")
    unheld = renumbered([one for one in events if not isinstance(one.body, ActionHeld)])

    for changed, rule in ((on(events, act, "read"), "write_without_authority"), (unheld, "not_held")):
        assert {one.rule for one in violations(changed)} == {rule, "not_by_the_protocol"}
