"""A rejection that a judge speaks is read as one that a model writes."""

import pytest

from spectrace.core.types import Call, Completion, Finish, Message
from spectrace.core.verdict_reading import read_verdict
from spectrace.models.judge import ACCEPT, rejection
from tests.playbook import change, setup


def read(text, drafted=3):
    return read_verdict(setup(), Completion(Message("assistant", text), finish_reason="stop"), drafted)


def test_an_acceptance_is_read_as_one():
    assert (read(ACCEPT).decision, read(ACCEPT).status) == ("accept", "ok")


@pytest.mark.parametrize("replacement", [None, change("B"), Finish('Ask "why" first.')])
def test_a_rejection_is_read_as_it_was_meant(replacement):
    verdict = read(rejection(1, "unsafe", "not asked for", replacement))

    assert (verdict.accepted, verdict.category, verdict.reason) == (1, "unsafe", "not asked for")
    assert (verdict.status, verdict.replacement) == ("ok", replacement)


def test_what_nobody_said_is_filled_in():
    verdict = read(rejection(0, None, "  "))

    assert (verdict.category, verdict.reason, verdict.status) == ("other", "No reason was given.", "ok")


def test_a_replacement_whose_arguments_are_no_json_makes_no_verdict():
    assert "cut off" in read(rejection(0, None, "no", Call("look", "{"))).cause
