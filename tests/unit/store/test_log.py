import pytest

from spectrace.core.events import GenerateRequested
from spectrace.errors import EpisodeNotFound
from spectrace.store import log
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.sql import open_store

BODIES = sample_episode(1)


@pytest.fixture
def store(database_url):
    opened = open_store(database_url)
    for episode in ("ep1", "ep2"):
        writer = opened.create(episode, BODIES[0], EPOCH_US)
        writer.append(pending(BODIES)[1:], durable=False)
        writer.close()
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(log, "_BATCH", 7)


def test_batches_cover_one_episode_without_gaps(store):
    rows = [row for batch in store.log.batches(store.log.number("ep1"), 3) for row in batch]

    assert [row.seq for row in rows] == list(range(3, len(BODIES)))


def test_a_stop_and_a_type_narrow_what_is_read(store):
    rows = [row for batch in store.log.batches(1, 0, stop=30, only=GenerateRequested) for row in batch]
    expected = [seq for seq, body in enumerate(BODIES[:30]) if isinstance(body, GenerateRequested)]

    assert [row.seq for row in rows] == expected


def test_more_blobs_than_a_batch_are_found(store):
    with store.database.reading() as connection:
        held = [f"sha256:{digest.hex()}" for (digest,) in connection.exec_driver_sql("SELECT digest FROM blobs")]

    assert len(held) > 7
    assert set(store.log.blobs({*held, "sha256:" + "0" * 64})) == set(held)


def test_an_unknown_episode_is_named(store):
    with pytest.raises(EpisodeNotFound, match="no episode 'nope'"):
        store.log.number("nope")
