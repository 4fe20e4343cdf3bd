import pytest

from spectrace.store import tables
from spectrace.store.migrate import upgrade
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.sql import open_store
from spectrace.store.upkeep import Rebuilt, rebuild, stats
from tests.damage import damage

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


PROJECTIONS = (tables.summaries, tables.segments, tables.actions, tables.search)


def projected(url):
    store = open_store(url, read_only=True)
    with store.database.reading() as connection:
        rows = {table.name: [tuple(row) for row in connection.execute(table.select())] for table in PROJECTIONS}
    store.close()
    return rows


def wipe(url):
    store = open_store(url)
    with store.database.writing(durable=True) as connection:
        for table in reversed(PROJECTIONS):
            connection.execute(table.delete())
    store.close()


def test_projections_are_made_anew_as_they_were(url):
    before = projected(url)
    wipe(url)

    assert rebuild(url) == Rebuilt(1, ())
    assert projected(url) == before


def test_a_rebuild_tells_how_far_it_is(url):
    said = []
    rebuild(url, lambda done, total: said.append((done, total)))

    assert said == [(0, 1)]


def test_a_rebuild_that_was_broken_off_goes_on_where_it_stopped(url):
    store = open_store(url)
    store.create("ep2", BODIES[0], EPOCH_US).close()
    store.close()

    def broken_off(done, _):
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rebuild(url, broken_off)

    assert rebuild(url) == Rebuilt(1, ())
    assert rebuild(url) == Rebuilt(2, ())


def test_an_episode_that_is_being_written_can_end_after_a_rebuild(url):
    store = open_store(url)
    writer = store.create("ep2", BODIES[0], EPOCH_US)
    writer.append(pending(BODIES)[1:20], durable=True)
    rebuild(url)
    writer.append(pending(BODIES)[20:], durable=True)
    writer.close()
    store.close()
    first, second = ([row[1:] for row in projected(url)["segments"] if row[0] == number] for number in (1, 2))

    assert first == second != []


def test_an_episode_that_ends_while_it_is_read_is_read_again(url):
    store = open_store(url)
    writer = store.create("ep2", BODIES[0], EPOCH_US)

    def end(done, _):
        if done == 1:
            writer.append(pending(BODIES)[1:], durable=True)

    done = rebuild(url, end)
    store.close()

    assert done == Rebuilt(2, ())
    assert len(projected(url)["segments"]) == 2 * len({row[1] for row in projected(url)["segments"]})


def test_an_episode_that_cannot_be_read_is_named_and_the_others_are_made(tmp_path):
    path = str(tmp_path / "log.db")
    store = open_store(path)
    for name in ("ep1", "ep2"):
        writer = store.create(name, BODIES[0], EPOCH_US)
        writer.append(pending(BODIES)[1:], durable=True)
        writer.close()
    store.close()
    damage(path, "DELETE FROM events WHERE key = (1 << 20) + 30")
    upgrade(path)
    done = rebuild(path)

    assert (done.episodes, [episode for episode, _ in done.lost]) == (1, ["ep1"])
    assert f"ep1 has {len(BODIES)} events by its own row, {len(BODIES) - 1} are there" in done.lost[0][1]
