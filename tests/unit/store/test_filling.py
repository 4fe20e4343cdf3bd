import sqlite3

import pytest

from spectrace.core.admin_events import AdminBegun
from spectrace.store import admin, runs
from spectrace.store.filling import filling
from spectrace.store.process import operator
from spectrace.store.samples import EPOCH_US, sample_episode
from spectrace.store.sql import open_store

BEGUN = AdminBegun(
    by=operator(), spectrace=admin.VERSION, what="copied", source="log.db", source_digest=None, episodes=2
)


def broken_off(path, work):
    with filling(str(path)) as store:
        work(store)
        raise KeyboardInterrupt


def fill(store):
    store.create("ep1", sample_episode(1)[0], EPOCH_US).close()


def test_a_file_that_nothing_came_into_goes_again_with_what_lay_beside_it(tmp_path):
    with filling(str(tmp_path / "log.db")) as store:
        assert store.database.path.exists()

    assert list(tmp_path.iterdir()) == []


def test_it_goes_when_the_work_fails(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        broken_off(tmp_path / "log.db", lambda _: None)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "work",
    [
        fill,
        lambda store: admin.record(store, BEGUN),
        lambda store: runs.begin(store, "named", "reverify", [("ep1", "00")]),
    ],
)
def test_what_holds_anything_stays_when_the_work_fails(tmp_path, work):
    with pytest.raises(KeyboardInterrupt):
        broken_off(tmp_path / "log.db", work)

    assert (tmp_path / "log.db").exists()
    open_store(str(tmp_path / "log.db"), read_only=True).close()


def test_an_empty_log_that_was_there_stays(tmp_path):
    open_store(str(tmp_path / "log.db")).close()
    with filling(str(tmp_path / "log.db")):
        pass

    assert (tmp_path / "log.db").exists()


def test_a_log_that_somebody_has_opened_meanwhile_stays(tmp_path):
    with filling(str(tmp_path / "log.db")):
        other = open_store(str(tmp_path / "log.db"))
        with other.database.reading() as connection:
            connection.exec_driver_sql("SELECT count(*) FROM events")
    fill(other)
    other.close()
    rows = sqlite3.connect(tmp_path / "log.db").execute("SELECT episode FROM episodes WHERE number > 0").fetchall()

    assert rows == [("ep1",)]


def test_a_file_that_was_moved_away_is_left_alone(tmp_path):
    with filling(str(tmp_path / "log.db")) as store:
        store.database.path.rename(tmp_path / "moved.db")

    assert (tmp_path / "moved.db").exists()


def test_on_postgres_the_log_stays(postgres_url):
    with filling(postgres_url):
        pass

    open_store(postgres_url, read_only=True).close()
