"""Two writers of one episode: never an overwrite, never a gap; and numbers go on after a restart."""

import asyncio
import json
import sqlite3
import threading
from pathlib import Path

import pytest
import sqlalchemy as sa

from spectrace.audit.integrity import verify_episode
from spectrace.core.events import StepDrafted
from spectrace.core.types import Finish
from spectrace.errors import Conflict, StoreError
from spectrace.store import tables
from spectrace.store.event_store import Pending
from spectrace.store.sql import open_store
from tests.faults.children import in_child
from tests.faults.record import now, started

CASES = Path(__file__).parents[1] / "cases"
TWO = json.loads((CASES / "079-two-writers-one-episode" / "scenario.json").read_text())
EACH = TWO["writers"][0]["events"]


def step(seq: int, name: str) -> Pending:
    """One event that says who wrote it."""
    body = StepDrafted(
        effect="finish",
        tool=None,
        segment=1,
        index=seq,
        position=f"s1.{seq}",
        action=Finish(name),
        request=0,
        objection=None,
    )
    return Pending(seq, "", now(), body)


def names(store) -> list[str]:
    return [event.body.action.text for event in store.read("ep-1", 1)]


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(writer, name: str, count: int = EACH) -> str:
    """Append one event after the other, from the number that the writer takes for the next; return what stopped it."""
    try:
        for seq in range(1, 1 + count):
            writer.append([step(seq, name)], durable=False)
    except StoreError as error:
        return f"{type(error).__name__}: {error}"
    return "all"


@pytest.fixture
def store(database_url):
    opened = open_store(database_url)
    yield opened
    opened.close()


def test_case_079_a_second_writer_is_refused_at_open(store, database_url):
    store.create("ep-1", started(), now())
    other = open_store(database_url)
    with pytest.raises(Conflict, match="is being written by process"):
        other.reopen("ep-1")
    with pytest.raises(Conflict, match="exists already"):
        other.create("ep-1", started(), now())
    other.close()


def two(store, database_url):
    """Return another store and two writers that both believe the episode theirs: a lease ran out unseen."""
    first = store.create("ep-1", started(), now())
    other = open_store(database_url)
    with store.database.writing(durable=True) as connection:
        connection.execute(tables.episodes.update().values(lease_until=0))
    return other, first, other.reopen("ep-1")


@pytest.mark.parametrize("variant", TWO["variants"])
def test_case_079_of_two_writers_one_gets_a_conflict_and_nothing_is_overwritten(store, database_url, variant):
    other, *writers = two(store, database_url)
    said: dict[str, str] = {}

    def work(name: str) -> None:
        said[name] = write(writers[name == "user-sim"], name)

    match variant:
        case "threads":
            threads = [threading.Thread(target=work, args=(name,)) for name in ("agent", "user-sim")]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        case "asyncio tasks":

            async def both() -> None:
                await asyncio.gather(*(asyncio.to_thread(work, name) for name in ("agent", "user-sim")))

            asyncio.run(both())
        case _:
            said["user-sim"] = in_child(lambda: _in_its_own_process(database_url))
            work("agent")
    other.close()
    found = names(store)

    refused = [one for one in said.values() if one != "all"]
    assert len(refused) >= 1
    assert all(one.startswith("Conflict: ") and "an episode has one writer" in one for one in refused)
    assert verify_episode(store, "ep-1").result == "consistent"
    assert store.row("ep-1").events == 1 + len(found)
    assert len(found) >= 1


def _in_its_own_process(url: str) -> str:
    mine = open_store(url)
    with mine.database.writing(durable=True) as connection:
        connection.execute(tables.episodes.update().values(lease_until=0))
    said = write(mine.reopen("ep-1"), "user-sim", 5)
    mine.close()
    return said


def test_case_079_two_tasks_of_one_writer_take_turns_and_neither_overwrites(store):
    """The user simulator and the agent log through one recorder: numbers are given once, in order."""
    writer = store.create("ep-1", started(), now())
    numbers, turn = iter(range(1, 2 * EACH + 1)), threading.Lock()

    def work(name: str) -> None:
        for _ in range(EACH):
            with turn:  # as the recorder's critical section: number and append together
                writer.append([step(next(numbers), name)], durable=False)

    threads = [threading.Thread(target=work, args=(one["name"],)) for one in TWO["writers"]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = json.loads((CASES / "079-two-writers-one-episode" / "expected.json").read_text())

    assert sorted(names(store)) == ["agent"] * EACH + ["user-sim"] * EACH
    assert store.row("ep-1").events - 1 == expected["events"]


def test_a_number_that_was_given_twice_is_refused_by_the_writer(store):
    writer = store.create("ep-1", started(), now())
    writer.append([step(1, "agent")], durable=False)
    with pytest.raises(StoreError, match="event 2 of ep-1 was expected, event 1 was offered"):
        writer.append([step(1, "user-sim")], durable=False)

    assert names(store) == ["agent"]


def test_a_duplicate_number_is_impossible_in_the_schema(store):
    writer = store.create("ep-1", started(), now())
    writer.append([step(1, "agent")], durable=False)
    columns = ", ".join(f'"{column.name}"' for column in tables.events.columns)
    with store.database.reading() as connection, pytest.raises((sa.exc.IntegrityError, sqlite3.IntegrityError)):
        connection.exec_driver_sql(f"INSERT INTO events ({columns}) SELECT {columns} FROM events")  # noqa: S608 - own names


def test_case_078_numbers_go_on_after_a_restart(store, database_url):
    before = lines(CASES / "078-sequence-restarts" / "before_restart.jsonl")
    after = lines(CASES / "078-sequence-restarts" / "after_restart.jsonl")
    expected = json.loads((CASES / "078-sequence-restarts" / "expected.json").read_text())

    def run(events: list[dict]) -> str:
        mine = open_store(database_url)
        writer = mine.reopen("ep-1")
        first = mine.row("ep-1").events
        writer.append([step(first + n, str(event["n"])) for n, event in enumerate(events)], durable=True)
        writer.close()
        mine.close()
        return "written"

    store.create("ep-1", started(), now()).close()
    said = [in_child(lambda: run(before)), in_child(lambda: run(after))]
    found = list(store.read("ep-1", 1))

    assert said == ["written", "written"]
    assert [event.seq - 1 for event in found] == expected["seq"]
    assert names(store) == [str(number) for number in expected["seq"]]
    assert verify_episode(store, "ep-1").result == "consistent"


def test_of_two_processes_that_take_an_episode_up_at_once_one_is_refused(store, database_url):
    """Whoever reads that it is free, and takes it after somebody else did, must not think it his."""
    store.create("ep-1", started(), now()).close()
    stale, taken = open_store(database_url), []
    state = stale.state

    def overtaken(row) -> str:
        """Say what the row said; meanwhile somebody else takes the episode."""
        said = state(row)
        taken.append(store.reopen("ep-1"))
        stale.state = state
        return said

    stale.state = overtaken
    with pytest.raises(Conflict):
        stale.reopen("ep-1")
    taken[0].append([step(1, "first")], durable=False)
    stale.close()

    assert names(store) == ["first"]
