"""Texts that events refer to and that are not there, on both kinds of store."""

import sqlalchemy as sa

from spectrace.store import tables
from spectrace.store.blob_presence import Presence
from spectrace.store.blobs import digest_bytes
from spectrace.store.memory import MemoryEventStore
from spectrace.store.sql import open_store
from tests.copies import made_once
from tests.shop_log import recorded


def test_of_a_whole_log_none_is_missing(database_url):
    made_once(database_url, _recorded)
    store = open_store(database_url)
    (episode,) = _ids(store)

    assert list(Presence(store).missing(episode)) == []
    store.close()


def test_a_text_that_is_gone_is_named_with_the_first_event_that_refers_to_it(database_url):
    made_once(database_url, _recorded)
    store = open_store(database_url)
    (episode,) = _ids(store)
    types = [event.type for event in store.read(episode)]
    with store.database.reading() as connection:
        gone = bytes(connection.scalar(sa.select(tables.blobs.c.digest).order_by(tables.blobs.c.length.desc())))
    with store.database.writing(durable=False) as connection:
        connection.execute(tables.blobs.delete().where(tables.blobs.c.digest == gone))
    (found,) = Presence(store).missing(episode)

    assert digest_bytes(found[2]) == gone
    assert found[:2] == next(
        (event.seq, kind)
        for event, kind in zip(store.stored(episode), types, strict=True)
        if gone.hex().encode() in event.body
    )
    store.close()


def test_in_memory_likewise():
    store = MemoryEventStore()
    episode = recorded(store)
    digest, _ = store._blobs.popitem()
    (found,) = Presence(store).missing(episode)

    assert digest_bytes(found[2]) == digest


def _recorded(url):
    store = open_store(url)
    recorded(store)
    store.close()


def _ids(store):
    with store.database.reading() as connection:
        return list(connection.scalars(sa.select(tables.episodes.c.episode).where(tables.episodes.c.number > 0)))
