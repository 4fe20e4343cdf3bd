"""Rules are asked one after the other; what they find is named, in the order of the events."""

from dataclasses import replace

from spectrace.audit.rules import Violation, violations
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
