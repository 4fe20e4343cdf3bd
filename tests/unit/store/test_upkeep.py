import pytest

from spectrace.store import tables
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.sql import open_store
from spectrace.store.upkeep import stats

BODIES = sample_episode(1)


@pytest.fixture
def url(database_url):
    store = open_store(database_url)
    writer = store.create("ep1", BODIES[0], EPOCH_US)
    writer.append(pending(BODIES)[1:], durable=True)
    writer.close()
    store.close()
    return database_url


def test_every_table_is_counted(url):
    found = {size.table: size for size in stats(url)}

    assert set(found) == set(tables.metadata.tables)
    assert (found["events"].rows, found["episodes"].rows) == (
        len(BODIES) + 1,
        2,
    )  # and the administrative log with its first record
    assert all(size.bytes for size in found.values())
