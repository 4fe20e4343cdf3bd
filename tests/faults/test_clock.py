"""A wall clock that goes back: order is by number, durations are never negative, and the step is shown."""

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from spectrace.audit.integrity import verify_episode
from spectrace.audit.queries import Reader
from spectrace.audit.recovery import recover
from spectrace.core.fold import fold
from spectrace.errors import Conflict
from spectrace.store.event_store import Pending
from spectrace.store.sql import open_store
from spectrace.store.statements import LEASE_US
from tests.episodes import recorded_events
from tests.faults.children import in_child
from tests.faults.record import now, pending, started

CASE = Path(__file__).parents[1] / "cases" / "083-end-before-start"
EXPECTED = json.loads((CASE / "expected.json").read_text())
CLOCK = [json.loads(line) for line in (CASE / "events.jsonl").read_text().splitlines()]
BACK_US = 90_000_000


def wall_us(line: dict) -> int:
    return round(datetime.fromisoformat(line["wall"]).timestamp() * 1_000_000)


@pytest.fixture
def store(database_url):
    opened = open_store(database_url)
    yield opened
    opened.close()


@pytest.fixture
def case_083(store) -> str:
    """Four events as the case times them; what happened at the step back took 600 ms by the monotonic clock."""
    first, *rest = recorded_events()
    answered = next(event.body for event in rest if event.type == "generate.completed")
    bodies = [rest[2].body, replace(answered, request=1, latency_us=600_000), rest[-1].body]
    writer = store.create("ep-1", first.body, wall_us(CLOCK[0]))
    for line, body in zip(CLOCK[1:], bodies, strict=True):
        writer.append([Pending(line["seq"], "", wall_us(line), body)], durable=True)
    writer.close()
    return "ep-1"


def test_case_083_order_is_by_number_wherever_events_are_told(store, case_083):
    reader = Reader(store)
    tellings = {
        "events": reader.events(case_083),
        "timeline": reader.timeline(case_083),
        "details": list(reader.details(case_083)),
        "stored": list(store.stored(case_083)),
    }

    assert {name: [one.seq for one in told] for name, told in tellings.items()} == dict.fromkeys(
        tellings, EXPECTED["order"]
    )
    assert verify_episode(store, case_083).result == "consistent"


def test_case_083_the_duration_is_what_passed_and_the_step_is_flagged(store, case_083):
    episode = fold(store.read(case_083))

    assert (episode.took_us, episode.clock_back) == (EXPECTED["duration_ms"] * 1000, [2])
    assert episode.last_at < episode.started_at


def test_case_083_what_the_clock_said_is_kept(store, case_083):
    assert [event.at for event in store.read(case_083)] == [wall_us(line) for line in CLOCK]


@pytest.fixture
def set_back(store) -> str:
    """A whole episode in whose middle, between a write's request and its outcome, the clock is set back 90 s."""
    events = recorded_events()
    asked = next(
        event.seq for event in reversed(events) if event.type == "act.requested" and event.body.effect == "write"
    )
    writer = store.create("back", events[0].body, events[0].at)
    shifted = [Pending(e.seq, e.lane, e.at - (BACK_US if e.seq > asked else 0), e.body) for e in events[1:]]
    writer.append(shifted, durable=True)
    writer.close()
    return "back"


def test_the_ledger_keeps_its_order_and_its_times_when_the_clock_is_set_back_in_a_write(store, set_back):
    rows = [deed for deed in Reader(store).actions() if deed.episode == set_back]
    [write] = [deed for deed in rows if deed.tool == "cancel_order" and deed.outcome == "ok"]

    assert [deed.seq for deed in rows] == sorted(deed.seq for deed in rows)
    assert write.completed_at - write.requested_at < 0
    assert fold(store.read(set_back)).clock_back == [write.seq + 1]


def test_an_episode_that_ended_before_it_started_is_listed_as_what_it_is(store, set_back):
    [one] = Reader(store).episodes()

    assert (one.status, one.ended_at < one.started_at) == ("completed", True)
    assert fold(store.read(set_back)).took_us >= 0


def clock(store, shift_us: int) -> None:
    store.now = lambda: now() + shift_us


def test_a_writer_whose_clock_is_set_back_keeps_its_episode(store):
    writer = store.create("ep-1", started(), now())
    events = pending(6, 40)
    writer.append(events[:2], durable=True)
    clock(store, -BACK_US)
    states = [store.row("ep-1").state]
    writer.renew()
    writer.append([replace(event, at=event.at - BACK_US) for event in events[2:4]], durable=True)
    states.append(store.row("ep-1").state)

    assert states == ["running", "running"]
    with pytest.raises(Conflict):
        recover(store, "ep-1")


def test_a_clock_that_is_put_right_again_ends_nobodys_episode(store):
    """The lease was stamped while the clock was 90 s behind, so by the right time it ran out; its process lives."""
    clock(store, -BACK_US)
    writer = store.create("ep-1", started(), now())
    events = pending(6, 40)
    writer.append(events[:2], durable=True)
    clock(store, 0)
    with pytest.raises(Conflict, match="which lives"):
        recover(store, "ep-1")
    writer.renew()
    writer.append(events[2:], durable=True)

    assert store.row("ep-1").state == "ended"


def test_a_dead_writer_is_known_though_its_lease_seems_to_last(store, database_url):
    """The clock was set back after the lease was stamped: by the clock it has minutes left; its process has not."""

    def die() -> str:
        mine = open_store(database_url)
        clock(mine, 10 * LEASE_US)
        mine.create("ep-1", started(), now())
        return "dead"

    assert in_child(die) == "dead"
    assert store.row("ep-1").state == "interrupted"
    assert recover(store, "ep-1").state == "interrupted"
