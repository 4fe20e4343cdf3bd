"""Rules are asked one after the other; what they find is named, in the order of the events."""

from dataclasses import replace

from spectrace.audit.rules import Tally, Violation, violations
from tests.guesses import CANCEL, asked, bodies, events


def test_what_every_rule_finds_comes_in_the_order_of_the_events():
    rules = {"late": lambda found: iter([(9, "later")]), "early": lambda found: iter([(2, "sooner")])}

    assert violations(events(), rules) == [
        Violation("e", 2, "early", "sooner"),
        Violation("e", 9, "late", "later"),
    ]


def test_an_episode_that_breaks_nothing_has_no_violations():
    assert violations(events()) == []


def test_a_write_on_a_guess_breaks_a_rule():
    told = [*bodies(), replace(asked("s1.g3", CANCEL, "speculative"), effect="write")]
    (found,) = violations(events(told))

    assert (found.seq, found.rule) == (len(told) - 1, "speculative_write")


def test_an_act_of_unknown_authority_cannot_be_judged():
    told = [bodies()[0], *(replace(asked("s1", CANCEL, authority), effect="write") for authority in ("unknown", "s1"))]
    tally = Tally()
    tally.count(events(told))

    assert (tally.acts, tally.unjudged, tally.nothing_judged) == (2, 1, False)


def test_a_log_without_any_write_leaves_nothing_unjudged():
    tally = Tally()
    tally.count(events())

    assert (tally.unjudged, tally.nothing_judged) == (0, False)
