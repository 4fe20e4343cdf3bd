"""What an erasure would take."""

import time
from dataclasses import replace

import pytest
import sqlalchemy as sa

from spectrace.core.admin_events import ErasedRange
from spectrace.errors import EpisodeNotFound, UsageError
from spectrace.store import tables
from spectrace.store.erasing import Order, erase
from spectrace.store.erasing_plan import Before, Matching, Named, Part, plan
from spectrace.store.matching import Needle
from spectrace.store.sql import open_store
from tests.erasures import ADDRESS, LONG, child_of, planted
from tests.shop_log import recorded


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "log.db"))
    yield opened
    opened.close()


def aged(store, episode, days):
    """Let an episode have ended so many days ago, by its row."""
    at = time.time_ns() // 1000 - days * 86_400_000_000
    with store.database.writing(durable=False) as connection:
        column = tables.episodes.c
        connection.execute(tables.episodes.update().where(column.episode == episode).values(started_at=at, ended_at=at))


def taken(store, wanted):
    return {part.episode for part in plan(store, wanted).parts}


def test_nothing_is_changed(store):
    names = planted(store)
    before = {name: list(store.stored(name)) for name in names}

    assert taken(store, Matching(Needle(ADDRESS))) == set(names)
    assert {name: list(store.stored(name)) for name in names} == before
    assert len(list(store.read(store.administrative()[0]))) == 1


def test_a_part_knows_which_events_it_takes():
    part = Part("e", 1, (ErasedRange("e", 2, 4), ErasedRange("e", 8, 8)), "named")

    assert part.count == 4
    assert [seq for seq in range(12) if part.takes(seq)] == [2, 3, 4, 8]


def test_texts_that_others_refer_to_are_not_planned(store):
    one, other = planted(store, episodes=2)
    both = plan(store, Named(((one, None), (other, None))))
    alone = plan(store, Named(((one, None),)))

    assert 0 < len(alone.blobs) < len(both.blobs)
    assert store.blob("sha256:" + next(iter(alone.blobs)).hex()) is not None


def test_an_event_that_is_not_there_is_refused(store):
    episode = recorded(store)

    with pytest.raises(UsageError, match="has no event 999"):
        plan(store, Named(((episode, 999),)))
    with pytest.raises(EpisodeNotFound):
        plan(store, Named((("nobody", None),)))


def test_an_event_that_is_erased_already_is_no_error(store):
    episode = recorded(store)
    erase(store, Named(((episode, 3),)), Order())

    assert 3 not in {one.first for part in plan(store, Named(((episode, 3),))).parts for one in part.events}


def test_what_repeats_an_event_in_a_child_is_planned_too(store):
    episode, *_ = planted(store, episodes=1)
    child = child_of(store, episode)
    found = {part.episode: part for part in plan(store, Named(((episode, 0),))).parts}

    assert found[child].why == f"repeats {episode}:0"
    assert found[child].takes(0)


def test_episodes_that_ended_before_a_time_are_planned(store):
    old, young = recorded(store), recorded(store)
    aged(store, old, 40)

    assert taken(store, Before(time.time_ns() // 1000 - 30 * 86_400_000_000)) == {old}
    assert young not in taken(store, Before(None))


def test_projects_have_times_of_their_own(store):
    old, kept = recorded(store), recorded(store)
    aged(store, old, 40)
    aged(store, kept, 40)
    with store.database.writing(durable=False) as connection:
        connection.execute(sa.text("UPDATE episodes SET project = 'kept' WHERE episode = :one"), {"one": kept})
    now = time.time_ns() // 1000

    assert taken(store, Before(now, {"kept": None}, "retention")) == {old}
    assert taken(store, Before(None, {"kept": now}, "retention")) == {kept}


def test_an_interrupted_episode_ended_with_its_last_event(store):
    first = next(iter(store.read(recorded(store), 0, 1))).body
    store.create("stopped", replace(first, instructions=LONG), 5).close()
    with store.database.writing(durable=False) as connection:
        connection.exec_driver_sql("UPDATE episodes SET started_at = 5 WHERE episode = 'stopped'")

    assert taken(store, Before(6)) == {"stopped"}
    assert taken(store, Before(5)) == set()


def test_copies_that_ended_later_are_named(store):
    old = recorded(store)
    child = child_of(store, old)
    aged(store, old, 40)
    found = plan(store, Before(time.time_ns() // 1000 - 30 * 86_400_000_000))

    assert [one for one in found.beyond if child in one]


def test_where_the_text_stands_and_stays_is_said(store):
    first = next(iter(store.read(recorded(store), 0, 1))).body
    store.create("filed", replace(first, project=ADDRESS), 1).close()
    found = plan(store, Matching(Needle(ADDRESS)))

    assert any("projects that episodes are filed under" in one for one in found.stays)
