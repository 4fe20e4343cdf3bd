import json
from hashlib import sha256

import orjson
import pytest
import sqlalchemy as sa

from spectrace.audit.lines import plain
from spectrace.core.events import GenerateRequested
from spectrace.errors import EpisodeNotFound, StoreError
from spectrace.store import log, tables
from spectrace.store.compression import pack_blob
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.sql import open_store
from tests.damage import damage

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


def test_a_stop_ends_what_is_read(store):
    rows = [row for batch in store.log.batches(1, 3, stop=17) for row in batch]

    assert [row.seq for row in rows] == list(range(3, 17))


def test_calls_before_an_event_come_newest_first(store):
    expected = [seq for seq, body in enumerate(BODIES[:30]) if isinstance(body, GenerateRequested)]

    assert [row.seq for row in store.log.calls_before(1, 30)] == expected[::-1]


def test_parsed_bodies_are_the_stored_ones(store):
    stored = [orjson.loads(one.body) for one in store.stored("ep1")]
    found = list(store.log.parsed("ep1"))

    assert [one.body for one in found] == stored
    assert [(one.seq, one.type) for one in found] == [(seq, body.TYPE) for seq, body in enumerate(BODIES)]


def test_parsed_and_whole_may_be_of_a_part(store):
    everything = [(row, str(body)) for row, body in store.log.whole("ep2")]
    part = [(row, str(body)) for row, body in store.log.whole("ep2", 20, 30)]

    assert part == everything[20:30]
    assert list(store.log.parsed("ep2", 20, 30)) == list(store.log.parsed("ep2"))[20:30]


def test_whole_bodies_have_every_text_and_message_in_its_place(store):
    for (row, body), typed in zip(store.log.whole("ep1"), BODIES, strict=True):
        plain_body = json.loads(json.dumps(plain(typed)))

        assert {name: plain_body[name] for name in body} == json.loads(json.dumps(body)), row.type


def test_parsing_names_the_event_that_is_damaged(store):
    if store.database.sqlite:
        damage(store.database.path, "UPDATE events SET codec = 0, payload = x'7b' WHERE key & 1048575 = 9")

        with pytest.raises(StoreError, match=r"event 9 of ep1 cannot be read: .* not JSON"):
            list(store.log.parsed("ep1"))


@pytest.mark.parametrize("payload", ["x'312c32'", "'text'", "3"], ids=["two values", "a text", "a number"])
def test_a_body_that_is_no_body_is_damaged(store, payload):
    if store.database.sqlite:
        damage(store.database.path, f"UPDATE events SET codec = 0, payload = {payload} WHERE key & 1048575 = 9")  # noqa: S608

        with pytest.raises(StoreError, match="event 9 of ep1 cannot be read"):
            list(store.log.parsed("ep1"))


def test_an_erased_body_is_none(store):
    if store.database.sqlite:
        damage(store.database.path, "UPDATE events SET payload = NULL, salt = NULL WHERE key & 1048575 = 9")

        assert [one.seq for one in store.log.parsed("ep1") if one.body is None] == [9]
        assert [row.seq for row, body in store.log.whole("ep1") if body is None] == [9]


def test_more_blobs_than_a_batch_are_found(store):
    with store.database.reading() as connection:
        held = [f"sha256:{digest.hex()}" for (digest,) in connection.exec_driver_sql("SELECT digest FROM blobs")]

    assert len(held) > 7
    assert set(store.log.blobs({*held, "sha256:" + "0" * 64})) == set(held)


def test_an_unknown_episode_is_named(store):
    for read in (store.log.number, store.log.episode, lambda name: list(store.log.parsed(name))):
        with pytest.raises(EpisodeNotFound, match="no episode 'nope'"):
            read("nope")


def test_ranges_of_blobs_leave_none_out(store, monkeypatch):
    monkeypatch.setattr(log, "_BATCH", 2)
    with store.database.reading() as connection:
        every = {row.digest for row in connection.execute(sa.select(tables.blobs))}
    ranges = store.log.blob_ranges(1_000)
    found = [blob for within in ranges for blob in store.log.small_blobs(within)]

    assert len(ranges) > 1
    assert sorted(digest for digest, _ in found) == sorted(every)
    assert all(sha256(data).digest() == digest for digest, data in found)
    assert len(store.log.blob_ranges(2)) == 1


def test_a_database_without_blobs_has_no_ranges(database_url):
    empty = open_store(database_url)

    assert empty.log.blob_ranges(1_000) == []
    empty.close()


def test_blobs_that_cannot_be_unpacked_or_are_long_are_left_to_whoever_asks_for_them(store, monkeypatch):
    monkeypatch.setattr(log, "_BATCH", 500)
    (within,) = store.log.blob_ranges(1_000)
    assert store.log.small_blobs(within)

    monkeypatch.setattr(log, "_SMALL_BLOB", 1)

    assert store.log.small_blobs(within) == []
    if store.database.sqlite:
        monkeypatch.setattr(log, "_SMALL_BLOB", 1 << 16)
        damage(store.database.path, "UPDATE blobs SET bytes = zeroblob(40) WHERE rowid = 2")
        assert store.log.small_blobs(within) == []


def test_a_blob_that_unpacks_to_far_more_than_its_row_says_is_damage(store):
    huge = b"".join(sha256(bytes([one])).digest() for one in range(256)) * 100
    codec, packed = pack_blob(huge)
    digest = sha256(huge).digest()
    with store.database.writing(durable=False) as connection:
        values = {"digest": digest, "length": 7, "codec": codec, "bytes": packed}
        connection.execute(tables.blobs.insert().values(values))

    with pytest.raises(StoreError, match="would take 819,200 bytes, where at most 7 can be"):
        store.log.blobs({f"sha256:{digest.hex()}"})
