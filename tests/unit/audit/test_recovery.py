import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from spectrace.audit.recovery import interrupted, recover, require_ended
from spectrace.core.events import EpisodeEnded, Event
from spectrace.core.fold import fold
from spectrace.errors import Conflict, StoreError
from spectrace.store.event_store import Pending
from spectrace.store.memory import MemoryEventStore
from spectrace.store.sql import open_store
from tests.damage import damage
from tests.episodes import recorded_events
from tests.shop_log import recorded

CASE = Path(__file__).parents[2] / "cases" / "086-killed-mid-call"
AT = 1_800_000_000_000_000


@pytest.fixture(scope="module")
def events() -> list[Event]:
    return recorded_events()


def cut(store, events, after: int) -> str:
    """Write an episode that stops after that event, its writer gone."""
    writer = store.create("cut", events[0].body, events[0].at)
    pending = [Pending(event.seq, event.lane, event.at, event.body) for event in events[1 : after + 1]]
    writer.append(pending, durable=True)
    writer.close()
    return "cut"


def told(events, after: int):
    store = MemoryEventStore()
    return recover(store, cut(store, events, after), AT)


def last(events, type_: str, tool: str) -> int:
    return max(event.seq for event in events if event.type == type_ and event.body.tool == tool)


def test_case_086_a_write_is_not_started_until_it_was_asked_and_unknown_from_then_on(events):
    expected = json.loads((CASE / "expected.json").read_text())
    held, asked = last(events, "action.held", "cancel_order"), last(events, "act.requested", "cancel_order")
    found = {}
    for after in (held, asked - 1, asked, asked + 1):
        one = told(events, after)
        found[after] = ([a.tool for a in one.never_started], [a.tool for a in one.indeterminate])

    assert expected == {"after_7": "unknown", "after_6": "not started"}
    assert found == {
        held: (["cancel_order"], []),
        asked - 1: (["cancel_order"], []),
        asked: ([], ["cancel_order"]),
        asked + 1: ([], []),
    }


def test_an_episode_cut_after_any_event_is_recovered_and_says_where_it_stopped(events):
    found = [told(events, after) for after in range(len(events) - 1)]

    assert [(one.last_seq, one.state, one.result) for one in found] == [
        (after, "interrupted", "consistent") for after in range(len(events) - 1)
    ]


def test_an_indeterminate_write_is_named_with_what_the_environment_was_given(events):
    asked = last(events, "act.requested", "cancel_order")

    [action] = told(events, asked).indeterminate

    assert (action.seq, action.position, action.kind, action.tool) == (asked, "s2.2", "call", "cancel_order")
    assert action.arguments == '{"order_id": "W200"}'
    assert action.idempotency_key == events[asked].body.idempotency_key


def test_a_decided_repair_that_was_not_sent_was_never_started(events):
    decided = last(events, "repair.made", "find_customer")
    write = events[last(events, "act.requested", "cancel_order")].body.action
    repair = replace(events[decided], body=replace(events[decided].body, actions=(write,)))

    one = told([*events[:decided], repair], decided)

    assert [(a.seq, a.position, a.tool) for a in one.never_started] == [(decided, "s1.r1", "cancel_order")]


def test_the_end_is_written_once_and_counts_what_was_done(events):
    store = MemoryEventStore()
    cut(store, events, 31)

    first, second = recover(store, "cut", AT), recover(store, "cut", AT + 5)
    end = list(store.read("cut"))[-1]

    assert first == second
    assert (end.seq, end.at) == (32, AT)
    assert end.body == EpisodeEnded(
        outcome="interrupted",
        reason="recovered",
        answer=None,
        reward=None,
        totals=fold(list(store.read("cut"))[:32]).totals,
    )


def test_an_ended_episode_is_told_and_left_alone(events):
    store = MemoryEventStore()
    episode = recorded(store)
    before = list(store.stored(episode))

    one = recover(store, episode, AT)

    assert (one.state, one.indeterminate, one.never_started) == ("completed", (), ())
    assert list(store.stored(episode)) == before


def test_an_episode_that_is_being_written_is_refused(events):
    store = MemoryEventStore()
    store.create("now", events[0].body, AT)

    with pytest.raises(Conflict, match="being written"):
        recover(store, "now", AT)


def test_interrupted_episodes_are_found_with_and_without_their_end(database_url, events):
    store = open_store(database_url)
    cut(store, events, 9)
    store.create("let-go", events[0].body, events[0].at + 1).close()
    store.create("running", events[0].body, events[0].at + 2)
    recorded(store)
    before = interrupted(store)
    recover(store, "cut", time.time_ns() // 1000)
    after = interrupted(store)
    store.close()

    assert before == after == ["cut", "let-go"]


@pytest.fixture
def store(tmp_path, events):
    opened = open_store(str(tmp_path / "log.db"))
    cut(opened, events, 20)
    yield opened
    opened.close()


def test_a_damaged_episode_gets_no_end_and_is_told_up_to_the_damage(store, tmp_path):
    damage(tmp_path / "log.db", "UPDATE events SET link = zeroblob(32) WHERE key > 0 AND (key & 1048575) = 12")

    one = recover(store, "cut", AT)

    assert (one.result, one.state, one.events, one.last_seq) == ("invalid", "interrupted", 12, 11)
    assert store.row("cut").events == 21


def test_from_a_damaged_episode_nothing_goes_on(store, tmp_path):
    damage(tmp_path / "log.db", "UPDATE events SET link = zeroblob(32) WHERE key > 0 AND (key & 1048575) = 12")

    with pytest.raises(StoreError, match="cut is invalid, so nothing goes on from it"):
        require_ended(store, "cut")


def test_what_goes_on_from_has_its_end_first(store):
    require_ended(store, "cut")

    assert store.row("cut").state == "ended"


def test_an_episode_without_its_first_event_is_told_without_what_that_would_have_said(store, tmp_path):
    damage(tmp_path / "log.db", "DELETE FROM events WHERE key > 0 AND (key & 1048575) = 0")

    one = recover(store, "cut", AT)

    assert (one.result, one.events, one.last_seq, one.last_type) == ("invalid", 0, None, None)
