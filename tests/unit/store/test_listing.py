import sqlite3

import pytest
import sqlalchemy as sa

from spectrace.core.events import EpisodeEnded, EpisodeStarted, Totals
from spectrace.core.money import spent
from spectrace.store import listing, projections, tables
from spectrace.store.event_store import Pending
from spectrace.store.listing import listed
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.sql import open_store
from tests import collaborations

pytestmark = pytest.mark.slow


def fill(store, *ids, ended=True):
    """Write sample episodes, a second apart, the first at second 1; return the ids, newest first."""
    for number, episode in enumerate(ids, 1):
        first, *rest = sample_episode(number, segments=1)
        writer = store.create(episode, first, number * 1_000_000)
        chosen = rest if ended else rest[:3]
        writer.append([Pending(seq, "", number * 1_000_000, body) for seq, body in enumerate(chosen, 1)], durable=False)
        writer.close()
    return list(reversed(ids))


def test_episodes_come_newest_first_with_their_start_and_end(open_event_store):
    store = open_event_store()
    ids = fill(store, "a", "b", "c")
    found = list(listed(store))

    assert [one.row for one in found] == [store.row(episode) for episode in ids]
    assert {type(one.first.body) for one in found} == {EpisodeStarted}
    assert {type(one.ended.body) for one in found} == {EpisodeEnded}


def test_start_and_end_are_read_whole(open_event_store):
    store = open_event_store()
    fill(store, "a")
    (one,) = listed(store)
    events = list(store.read("a"))

    assert (one.first, one.ended) == (events[0], events[-1])


def test_an_episode_without_an_end_has_none(open_event_store):
    store = open_event_store()
    fill(store, "a", ended=False)
    (one,) = listed(store)

    assert (one.ended, one.row.state) == (None, "interrupted")


@pytest.mark.parametrize(
    ("since", "until", "ids"),
    [
        (None, None, ["c", "b", "a"]),
        (2_000_000, None, ["c", "b"]),
        (None, 2_000_000, ["a"]),
        (2_000_000, 3_000_000, ["b"]),
    ],
)
def test_a_span_of_time_holds_its_beginning_and_not_its_end(open_event_store, since, until, ids):
    store = open_event_store()
    fill(store, "a", "b", "c")

    assert [one.row.episode for one in listed(store, since=since, until=until)] == ids


def test_pages_join_without_a_gap_also_within_one_microsecond(open_event_store, monkeypatch):
    monkeypatch.setattr(listing, "_PAGE", 2)
    store = open_event_store()
    ids = fill(store, "a", "b", "c")
    for episode in ("d", "e", "f"):
        first, *_ = sample_episode(9, segments=1)
        store.create(episode, first, 3_000_000).close()
    found = [one.row.episode for one in listed(store)]

    assert (sorted(found), found[-2:]) == (["a", "b", "c", "d", "e", "f"], ids[1:])


def test_an_episode_that_cannot_be_read_is_listed_all_the_same(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    fill(store, "a", "b")
    store.close()
    connection = sqlite3.connect(tmp_path / "log.db")
    for trigger in ("events_no_update", "events_no_delete"):
        connection.execute(f"DROP TRIGGER {trigger}")
    connection.execute("DELETE FROM events WHERE key = 1 << 20")
    connection.execute("UPDATE events SET payload = x'00' WHERE key = 2 << 20")
    connection.commit()
    connection.close()
    store = open_store(str(tmp_path / "log.db"), read_only=True)
    found = [(one.row.episode, one.first, one.ended is None) for one in listed(store)]
    store.close()

    assert found == [("b", None, False), ("a", None, False)]


@pytest.mark.parametrize("value", [(1 << 63) - 1, -(5 * 10**18)])
def test_a_time_that_is_none_hides_no_episode_and_its_first_event_tells_another(database_url, monkeypatch, value):
    monkeypatch.setattr(listing, "_PAGE", 2)
    store = open_store(database_url)
    fill(store, "a", "b", "c", "d", "e")
    with store.database.writing(durable=True) as connection:
        connection.execute(sa.update(tables.episodes).where(tables.episodes.c.number <= 3).values(started_at=value))
    found = [(one.row.episode, one.row.started_at) for one in listed(store)]
    since = [one.row.episode for one in listed(store, since=2_000_000, until=5_000_000)]
    store.close()

    assert found == [
        (name, number * 1_000_000)
        for name, number in (*zip("cba", (3, 2, 1), strict=True), *zip("ed", (5, 4), strict=True))
    ]
    assert since == ["c", "b", "d"]


def test_an_ended_episode_comes_with_its_cost_and_another_without(open_event_store):
    store = open_event_store()
    fill(store, "a")
    fill(store, "b", ended=False)
    costs = {one.row.episode: one.cost for one in listed(store)}

    assert costs == {"a": projections.cost_text(spent(store.read("a"))), "b": None}
    assert costs["a"].startswith("at least 0.")


@pytest.mark.parametrize("put", ["cheap", b"0", "1e9", "7"])
def test_a_cost_that_is_none_is_not_told(tmp_path, put):
    store = open_store(str(tmp_path / "log.db"))
    fill(store, "a")
    connection = sqlite3.connect(tmp_path / "log.db")
    connection.execute("UPDATE summaries SET cost_usd = ?", (put,))
    connection.commit()
    connection.close()
    costs = [one.cost for one in listed(store)]
    store.close()

    assert costs == ["7" if put == "7" else None]


def test_a_cost_by_an_older_spectrace_is_not_told(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    fill(store, "a")
    with store.database.writing(durable=False) as connection:
        connection.execute(tables.summaries.update().values(projection=projections.VERSION - 1))
    costs = [one.cost for one in listed(store)]
    store.close()

    assert costs == [None]


def test_segments_that_no_event_closes_are_counted(open_event_store):
    bodies = collaborations.bodies()
    ended = EpisodeEnded(outcome="completed", reason="finished", answer=None, reward=None, totals=Totals(steps=2))
    store = open_event_store()
    writer = store.create("ep", bodies[0], EPOCH_US)
    writer.append(pending([*bodies, ended])[1:], durable=True)
    writer.close()

    assert [one.segments for one in listed(store)] == [2]
