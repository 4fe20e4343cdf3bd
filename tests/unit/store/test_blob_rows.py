import hashlib

import pytest
import sqlalchemy as sa

from spectrace.store.blob_rows import named, wrong_lengths
from spectrace.store.compression import pack_blob
from spectrace.store.sql import open_store
from tests.shop_log import recorded


@pytest.fixture
def connection(database_url):
    store = open_store(database_url)
    recorded(store)
    with store.database.writing(durable=False) as lent:
        yield lent
    store.close()


def test_blobs_as_they_were_written_are_as_long_as_they_say_and_used(connection):
    assert (wrong_lengths(connection), named(connection)) == (None, (None, None))


def test_each_blob_of_another_length_is_named_with_both(connection):
    longest = connection.execute(sa.text("SELECT digest, length FROM blobs ORDER BY length DESC LIMIT 1")).one()
    connection.execute(sa.text("UPDATE blobs SET length = 7 WHERE digest = :digest"), {"digest": longest.digest})

    assert f"{bytes(longest.digest).hex()[:16]} has {longest.length:,} bytes, not 7" in wrong_lengths(connection)


def test_one_that_cannot_be_unpacked_is_left_to_verify(connection):
    connection.execute(sa.text("UPDATE blobs SET bytes = :bytes, codec = 1"), {"bytes": b"\0"})

    assert wrong_lengths(connection) is None


def test_one_that_no_event_names_is_counted(connection):
    codec, data = pack_blob(b"nobody's")
    values = {"digest": hashlib.sha256(b"nobody's").digest(), "codec": codec, "bytes": data}
    connection.execute(
        sa.text("INSERT INTO blobs (digest, length, codec, bytes) VALUES (:digest, 8, :codec, :bytes)"), values
    )

    assert named(connection) == (None, "1 are named by no event")


def test_events_that_cannot_be_unpacked_are_counted(connection):
    if connection.dialect.name == "sqlite":
        connection.execute(sa.text("DROP TRIGGER events_no_update"))
    else:
        connection.execute(sa.text("ALTER TABLE events DISABLE TRIGGER USER"))
    connection.execute(sa.text("UPDATE events SET payload = :bytes, codec = 1 WHERE key = 1048578"), {"bytes": b"\0"})

    assert "1 events cannot be unpacked" in named(connection)[1]


def test_those_that_events_name_and_that_are_gone_are_counted_and_the_first_are_placed(connection):
    gone = connection.execute(sa.text("SELECT digest FROM blobs ORDER BY digest")).scalars().all()
    episode = connection.execute(sa.text("SELECT episode FROM episodes WHERE number = 1")).scalar_one()
    connection.execute(sa.text("DELETE FROM blobs"))
    problem, note = named(connection)

    assert note is None
    assert f"texts that events name and that are not there: {len(gone)} (" in problem
    assert f"first named by {episode}:" in problem
    assert f"and {len(gone) - 3} more" in problem
