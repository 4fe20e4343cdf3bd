"""Erasing: what is gone, what stays, who may not be in the middle of it."""

import sqlite3
import threading
from dataclasses import replace

import pytest
import sqlalchemy as sa

from spectrace.audit.integrity import CONSISTENT, verify_episode
from spectrace.core.admin_events import AdminErased, ErasedRange
from spectrace.core.events import EpisodeStarted, Unknown
from spectrace.errors import Conflict, UsageError
from spectrace.store import tables
from spectrace.store.erasing import Order, erase
from spectrace.store.erasing_plan import Matching, Named
from spectrace.store.event_store import Pending
from spectrace.store.matching import Needle
from spectrace.store.soundness import check
from spectrace.store.sql import open_store
from tests.erasures import ADDRESS, beside, child_of, planted, residue, table_files, traces
from tests.shop_log import recorded

ANN = Order("Ann", "she asked for it")


@pytest.fixture
def store(database_url):
    opened = open_store(database_url)
    yield opened
    opened.close()


def results(store):
    names = [*store.administrative(), *_episodes(store)]
    return {verify_episode(store, name).result for name in names}


def _episodes(store):
    with store.database.reading() as connection:
        return list(connection.scalars(sa.select(tables.episodes.c.episode).where(tables.episodes.c.number > 0)))


def rows(store, table):
    with store.database.reading() as connection:
        return connection.execute(table.select()).all()


def matching(store, text=ADDRESS):
    return erase(store, Matching(Needle(text)), ANN)


def test_an_address_in_30_events_and_3_texts_is_nowhere_in_the_files_afterwards(store):
    planted(store)
    before = traces(store, ADDRESS)
    assert before.bodies >= 30
    assert before.blobs >= 3
    store.database.checkpoint()
    files = beside(store) if store.database.sqlite else table_files(store)
    assert residue(files, before.needles) != {}

    done = matching(store)

    assert done.problems == ()
    assert sum(part.count for part in done.parts) >= before.bodies
    assert done.blobs >= before.blobs
    assert residue(beside(store) if store.database.sqlite else table_files(store), before.needles) == {}
    assert results(store) == {CONSISTENT}


def test_what_only_lost_its_row_is_still_found_in_the_file(tmp_path):
    """The search that the test above relies on: an update without all the rest leaves the bytes where they were."""
    with_rows = open_store(f"sqlite:///{tmp_path / 'log.db'}")
    planted(with_rows)
    before = traces(with_rows, ADDRESS)
    with_rows.close()
    connection = sqlite3.connect(tmp_path / "log.db")
    connection.execute("PRAGMA secure_delete = OFF")
    connection.execute("UPDATE events SET payload = NULL, salt = NULL")
    connection.execute("DELETE FROM blobs")
    connection.commit()
    connection.close()

    assert len(residue([tmp_path / "log.db"], before.needles)["log.db"]) > 10


def test_everything_that_does_not_say_it_reads_as_before(store):
    planted(store)
    other = recorded(store)
    before = {name: list(store.stored(name)) for name in _episodes(store)}

    done = matching(store)

    taken = {
        (part.episode, seq) for part in done.parts for one in part.events for seq in range(one.first, one.last + 1)
    }
    after = {name: list(store.stored(name)) for name in _episodes(store)}
    assert other not in {part.episode for part in done.parts}
    for name, events in before.items():
        expected = [replace(one, body=None, salt=None) if (name, one.seq) in taken else one for one in events]
        assert after[name] == expected


def test_the_record_says_who_ordered_it_why_and_what(store):
    first, *_ = planted(store, episodes=1)
    done = erase(store, Named(((first, None),)), ANN)
    log, _, seq = done.records[0].partition(":")
    body = list(store.read(log))[int(seq)].body
    last = store.row(first).events - 1

    assert isinstance(body, AdminErased)
    assert (body.person, body.reason, body.how) == ("Ann", "she asked for it", "named")
    assert body.events == (ErasedRange(first, 0, last),)
    assert body.blobs == done.blobs


def test_very_many_ranges_are_told_in_several_records(store, monkeypatch):
    monkeypatch.setattr("spectrace.store.erasing.RANGES", 4)
    planted(store)
    done = matching(store)

    assert len(done.records) > 3
    assert results(store) == {CONSISTENT}


def test_an_episode_goes_with_its_children(store):
    parent, *_ = planted(store, episodes=1)
    child = child_of(store, parent)
    grandchild = child_of(store, child)
    done = erase(store, Named(((parent, None),)), ANN)

    assert {part.episode: part.why for part in done.parts} == {
        parent: "named",
        child: f"child of {parent}",
        grandchild: f"child of {parent}",
    }
    assert all(isinstance(event.body, Unknown) for name in (parent, child, grandchild) for event in store.read(name))


def test_an_event_goes_with_what_repeats_it(store):
    episode, *_ = planted(store, episodes=1)
    events = list(store.read(episode))
    answer = next(event for event in events if event.type == "act.completed" and event.body.tool == "get_order")
    said = answer.body.observation.content
    erase(store, Named(((episode, answer.seq),)), ANN)

    left = [event for event in store.read(episode, prompts=True) if not isinstance(event.body, Unknown)]
    assert len(said) > 8
    assert not any(said in repr(event.body) for event in left)
    assert any(event.type == "verdict.given" for event in left)
    assert results(store) == {CONSISTENT}


def test_a_text_that_another_episode_says_too_stays(store):
    first, second = recorded(store), recorded(store)
    before = list(store.read(second))
    erase(store, Named(((first, None),)), ANN)

    assert list(store.read(second)) == before


def test_a_text_that_is_gone_comes_back_with_the_next_episode_that_says_it(store):
    episode = recorded(store)
    erase(store, Named(((episode, None),)), ANN)
    again = recorded(store)  # by the same process, which has the texts in mind

    assert verify_episode(store, again).result == CONSISTENT
    assert isinstance(next(iter(store.read(again))).body, EpisodeStarted)


def test_the_projections_say_nothing_of_it_any_more(store):
    planted(store)
    matching(store)
    texts = [
        repr(row)
        for table in (tables.summaries, tables.segments, tables.actions, tables.search)
        for row in rows(store, table)
    ]

    assert len(texts) > 3
    assert not any(ADDRESS in text or ADDRESS.casefold() in text for text in texts)


def test_an_episode_that_is_being_written_is_refused_and_the_others_are_not_held_up(store):
    episode, *_ = planted(store, episodes=1)
    first = next(iter(store.read(episode, 0, 1))).body
    writer = store.create("busy", replace(first, instructions=f"{first.instructions} {ADDRESS}"), 1)
    done = matching(store)

    assert [name for name, _ in done.refused] == ["busy"]
    assert {part.episode for part in done.parts} == {episode}
    writer.append([Pending(1, "", 2, first)], durable=True)
    writer.close()


def test_an_episode_that_was_let_go_is_erased_and_its_writer_is_too_late(store):
    episode, *_ = planted(store, episodes=1)
    first = next(iter(store.read(episode, 0, 1))).body
    writer = store.create("slept", replace(first, instructions=f"{first.instructions} {ADDRESS}"), 1)
    with store.database.writing(durable=True) as connection:
        connection.exec_driver_sql("UPDATE episodes SET lease_until = 1 WHERE episode = 'slept'")
    done = matching(store)

    assert "slept" in {part.episode for part in done.parts}
    with pytest.raises(Conflict, match="one writer"):
        writer.append([Pending(1, "", 2, first)], durable=True)
    store.reopen("slept").close()


def test_the_same_erasure_again_erases_nothing_and_records_nothing(store):
    planted(store)
    matching(store)
    done = matching(store)

    assert (done.parts, done.records, done.blobs, done.problems) == ((), (), 0, ())


def test_of_two_erasers_each_event_is_erased_by_one(store, database_url):
    planted(store)
    other, found = open_store(database_url), []
    threads = [threading.Thread(target=lambda one=one: found.append(matching(one))) for one in (store, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    other.close()
    taken = [
        (part.episode, seq)
        for done in found
        for part in done.parts
        for one in part.events
        for seq in range(one.first, one.last + 1)
    ]

    assert len(found) == 2
    assert len(taken) == len(set(taken)) > 30
    assert results(store) == {CONSISTENT}


def test_another_episode_is_written_beside_it(store, database_url):
    planted(store)
    other, names = open_store(database_url), []
    thread = threading.Thread(target=lambda: names.extend(recorded(other) for _ in range(3)))
    thread.start()
    matching(store)
    thread.join()
    other.close()

    assert len(names) == 3
    assert results(store) == {CONSISTENT}
    assert all(isinstance(event.body, EpisodeStarted) for name in names for event in list(store.read(name))[:1])


def test_a_reader_that_sees_the_old_state_is_named_and_the_next_one_finishes(tmp_path):
    store = open_store(f"sqlite:///{tmp_path / 'log.db'}")
    planted(store)
    before = traces(store, ADDRESS)
    reader = sqlite3.connect(tmp_path / "log.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM events").fetchone()
    held = erase(store, Matching(Needle(ADDRESS)), ANN, wait_s=0.2)
    problem = next(one for one in check(str(tmp_path / "log.db")) if one.check == "erasures").problem
    reader.close()
    done = matching(store)

    assert "could not be cut" in held.problems[0]
    assert "may still hold" in problem
    assert (done.parts, done.problems) == ((), ())
    assert residue(beside(store), before.needles) == {}
    store.close()


def test_a_reason_that_says_the_text_is_refused(store):
    planted(store, episodes=1)

    with pytest.raises(UsageError, match="would say the very text"):
        erase(store, Matching(Needle(ADDRESS)), Order("Ann", f"{ADDRESS} asked"))


def test_an_administrative_log_is_not_erased(store):
    recorded(store)

    with pytest.raises(UsageError, match="administrative log"):
        erase(store, Named(((store.administrative()[0], None),)), ANN)


def test_the_database_is_sound_afterwards(store, database_url):
    planted(store)
    matching(store)

    assert {one.check: one.problem for one in check(database_url) if one.problem and one.check != "flush"} == {}
