"""The nouns: frozen, and a verdict knows what it decides."""

from dataclasses import FrozenInstanceError

import pytest

from spectrace.core.types import Effect, History, Observation, Step, Verdict
from tests.playbook import look


def test_a_verdict_decides_accept_reject_or_nothing():
    assert [
        Verdict(3, 3).decision,
        Verdict(3, 1).decision,
        Verdict(3, 0, status="unusable").decision,
        Verdict(0, 0, status="unusable").accepts_all,
    ] == ["accept", "reject", "unusable", False]


def test_a_history_grows_by_a_new_value():
    empty = History(())
    grown = empty.then(Step("s1.1", look(), Effect.READ, Observation("red")))

    assert (len(empty.steps), len(grown.steps)) == (0, 1)
    with pytest.raises(FrozenInstanceError):
        grown.steps = ()
