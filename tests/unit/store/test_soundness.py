import pytest
import sqlalchemy as sa

from spectrace.errors import StoreError
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.soundness import check
from spectrace.store.sql import open_store

BODIES = sample_episode(1)


@pytest.fixture
def url(database_url):
    store = open_store(database_url)
    writer = store.create("ep1", BODIES[0], EPOCH_US)
    writer.append(pending(BODIES)[1:], durable=True)
    writer.close()
    store.close()
    return database_url


def problems(url):
    return {finding.check: finding.problem for finding in check(url) if finding.problem}


def change(url, statement):
    store = open_store(url)
    with store.database.writing(durable=True) as connection:
        connection.execute(sa.text(statement))
    store.close()


def test_a_sound_database_has_no_problems(url):
    assert problems(url) == {}


def test_a_dropped_trigger_is_found(url):
    on = "" if url.startswith("sqlite") else " ON events"
    name = "events_no_delete" if url.startswith("sqlite") else "events_no_truncate"
    change(url, f"DROP TRIGGER {name}{on}")

    assert problems(url) == {
        "triggers": f"missing, altered or switched off: {name}, so events could be changed. Find out who did that; "
        "`spectrace verify --all` tells whether any was, `spectrace db upgrade` puts them back"
    }


def test_a_renumbered_type_is_found(url):
    change(url, "UPDATE types SET number = 90 WHERE name = 'verdict.given'")

    assert problems(url) == {"types": "the numbers of these types are not what this spectrace knows: verdict.given"}


def test_another_dictionary_is_found(url):
    change(url, "UPDATE dictionaries SET bytes = digest")

    assert problems(url) == {"dictionary": "dictionary 2 is not the one that was shipped"}


def test_old_and_missing_summaries_are_found(url):
    change(url, "UPDATE summaries SET projection = 0")

    assert problems(url) == {"projections": "1 episodes have old or no summaries: `spectrace db rebuild`"}


def test_a_damaged_sqlite_file_is_found(tmp_path):
    path = tmp_path / "log.db"
    store = open_store(str(path))
    writer = store.create("ep1", BODIES[0], EPOCH_US)
    writer.append(pending(BODIES)[1:], durable=True)
    writer.close()
    store.close()
    with path.open("r+b") as file:  # a page in the middle of the events
        file.seek(-6 * 4096, 2)
        file.write(b"\xff" * 4096)

    assert "integrity" in problems(str(path))


def test_there_is_nothing_to_check_where_there_is_no_database(tmp_path):
    with pytest.raises(StoreError, match="there is no database"):
        check(str(tmp_path / "none.db"))
