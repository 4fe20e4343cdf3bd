"""Equal actions of an episode are grouped by tool and value of their arguments; nothing is merged, nothing guessed."""

from dataclasses import replace

import pytest

from spectrace.audit.repeats import repeated
from spectrace.core.deeds import deeds
from tests.episodes import recorded_events


def sent(seq, arguments, outcome="ok", **more):
    (deed,) = [one for one in deeds(recorded_events()) if one.tool == "cancel_order" and one.outcome == "ok"]
    return replace(deed, seq=seq, arguments=arguments, outcome=outcome, episode="e", **more)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ('{"a": 1, "b": 2}', '{"b":2,"a":1}', True),
        ('{"a": 150}', '{"a": 150.0}', True),
        ('{"a": 15e1}', '{"a": 150}', True),
        ('{"a": 1}', '{"a": "1"}', False),
        ('{"a": 1}', '{"a": true}', False),
        ('{"a": 0.1}', '{"a": 0.10000000000000001}', False),
        ('{"a": 1e400}', '{"a": 1e401}', False),
        ("{}", "", True),
        ("no json", "no json", True),
        ("no json", "no  json", False),
    ],
)
def test_arguments_are_compared_by_value(one, other, same):
    assert len(repeated([sent(1, one), sent(2, other)])) == same


def test_what_nobody_knows_makes_the_count_a_range():
    (group,) = repeated([sent(1, "{}", "indeterminate"), sent(2, "{}"), sent(3, "{}", "error")])

    assert (group.seqs, group.least, group.most) == ((1, 2, 3), 1, 2)


def test_what_was_never_sent_and_another_episodes_are_no_repeats():
    never = sent(1, "{}", "never", requested_at=None)

    assert repeated([never, sent(2, "{}"), replace(sent(3, "{}"), episode="f")]) == []


def test_reads_are_no_repeats():
    read = sent(1, "{}", effect_declared="read", state_changed=False)

    assert repeated([read, read]) == []


def test_what_two_episodes_of_one_family_did_was_done_twice():
    deeds = [sent(1, "{}"), replace(sent(3, "{}"), episode="f"), replace(sent(5, "{}"), episode="other")]
    (group,) = repeated(deeds, {"e": "p", "f": "p", "other": "other"})

    assert (group.places, group.least, group.most) == (("e:1", "f:3"), 2, 2)


def test_what_never_ran_and_was_done_by_a_child_was_done_once():
    deeds = [sent(1, "{}", "never"), replace(sent(3, "{}"), episode="f")]

    assert repeated(deeds, {"e": "e", "f": "e"}) == []


def test_what_a_child_took_over_is_no_repeat():
    deeds = [sent(1, "{}"), replace(sent(1, "{}"), episode="f", taken_over=True)]

    assert repeated(deeds, {"e": "e", "f": "e"}) == []
