import json

import pytest

from spectrace.interchange.lost_writes import OpenWrites
from spectrace.store.memory import MemoryEventStore
from tests.shop_log import recorded
from tests.transfers import lines_of


@pytest.fixture(scope="module")
def lines():
    store = MemoryEventStore()
    return lines_of(store, recorded(store))


def said(lines) -> list[str]:
    writes = OpenWrites()
    for line in lines:
        writes.follow(line.row, json.loads(line.row.body))
    return list(writes.said())


def until(lines, type_, effect=None):
    """Return the events up to the first of that type and effect, and its number."""
    seq = next(one.row.seq for one in lines if one.row.type == type_ and effect in {None, one.row.lifted.effect})
    return lines[: seq + 1], seq


def test_a_whole_episode_leaves_nothing_open(lines):
    assert said(lines) == []


def test_a_write_that_was_under_way_has_an_unknown_outcome(lines):
    cut, seq = until(lines, "act.requested", "write")

    assert said(cut) == [f"event {seq} (act.requested, cancel_order) has no outcome in what is left: outcome unknown."]
    assert said(lines[: seq + 2]) == []


def test_a_read_that_was_under_way_is_no_matter(lines):
    assert said(until(lines, "act.requested", "read")[0]) == []


def test_a_held_write_is_said_to_be_held(lines):
    cut, seq = until(lines, "action.held")

    assert [text.startswith(f"event {seq} (action.held") and "held, outcome unknown" in text for text in said(cut)] == [
        True
    ]


@pytest.mark.parametrize(
    ("type_", "whole", "words"),
    [
        ("action.held", True, " (action.held: held, outcome unknown)"),
        ("act.requested", True, " (act.requested: outcome unknown)"),
        ("step.drafted", True, " (step.drafted)"),
        ("action.h", False, " (its type began with 'action.h': if it was a write, held, outcome unknown)"),
        ("act.c", False, " (its type began with 'act.c': if it was a write, outcome unknown)"),
        ("segment", False, " (its type began with 'segment')"),
        ("", False, " (its type began with '': if it was a write, held, outcome unknown)"),
    ],
)
def test_what_half_a_line_says_of_a_write_is_told(type_, whole, words):
    assert OpenWrites.of_torn(type_, whole=whole) == words
