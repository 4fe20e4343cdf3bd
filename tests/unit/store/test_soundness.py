import sqlite3

import pytest
import sqlalchemy as sa

from spectrace.errors import StoreError
from spectrace.store import admin, tables
from spectrace.store.migrate import upgrade
from spectrace.store.runs import begin
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.soundness import check
from spectrace.store.sql import open_store
from tests.copies import made_once
from tests.migrations.populated import sqlite_file

BODIES = sample_episode(1)


def one_episode(url):
    store = open_store(url)
    writer = store.create("ep1", BODIES[0], EPOCH_US)
    writer.append(pending(BODIES)[1:], durable=True)
    writer.close()
    store.close()


@pytest.fixture
def url(database_url):
    made_once(database_url, one_episode)
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

    assert problems(url) == {
        "projections": "episodes with old or no summaries: 1. `spectrace db rebuild` makes them anew"
    }


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


def test_what_is_worth_knowing_is_noted(url):
    notes = {finding.check: finding.note for finding in check(url)}

    assert "is the current one of 1, records: 1" in notes["epochs"]
    assert notes["blobs"] is None


def test_a_blob_that_no_event_names_is_counted_and_no_problem(url):
    change(
        url,
        "INSERT INTO blobs (digest, length, codec, bytes) SELECT link, 16, 0, salt FROM events "
        "WHERE key = (SELECT max(key) FROM events)",
    )

    assert problems(url) == {}
    assert {finding.check: finding.note for finding in check(url)}["blobs"] == "1 are named by no event"


def test_events_without_an_episode_are_found(tmp_path):
    url = str(tmp_path / "log.db")
    recorded(url)
    around_the_guards(url, "DELETE FROM summaries", *CHILDREN, "DELETE FROM episodes WHERE episode = 'ep1'")

    assert problems(url)["events"] == (
        f"{len(BODIES)} events have no episode, the first is number 1, event 0: somebody deleted its row"
    )


def test_rows_whose_parent_is_gone_are_found(tmp_path):
    url = str(tmp_path / "log.db")
    recorded(url)
    around_the_guards(url, "DELETE FROM episodes WHERE episode = 'ep1'")

    assert "summaries without episodes" in problems(url)["keys"]


def test_an_episode_hidden_as_an_epoch_is_found(tmp_path):
    url = str(tmp_path / "log.db")
    recorded(url)
    around_the_guards(url, "UPDATE episodes SET number = -1 WHERE episode = 'ep1'")

    assert "somebody hid an episode" in problems(url)["epochs"]


def test_a_run_in_an_epochs_place_is_found(tmp_path):
    url = str(tmp_path / "log.db")
    recorded(url)
    around_the_guards(
        url,
        "UPDATE episodes SET number = -1 WHERE episode = 'ep1'",
        "INSERT INTO epochs (number) VALUES (-1)",
        "DROP TRIGGER events_no_update",
        "UPDATE events SET key = key - 2097152 WHERE key >= 1048576",
    )

    assert problems(url)["epochs"] == "the epochs numbered -1 do not begin with admin.opened"


def test_a_missing_epoch_is_found_and_an_upgrade_begins_one(url):
    change(url, "DELETE FROM epochs")
    found = problems(url)["epochs"]
    upgrade(url)

    assert "no epoch was begun" in found
    assert "no epoch" not in problems(url)["epochs"]


def test_a_missing_dictionary_is_found(tmp_path):
    url = str(tmp_path / "log.db")
    recorded(url)
    around_the_guards(url, "DELETE FROM dictionaries")

    assert "is missing, and rows are packed with it" in problems(url)["dictionary"]


def test_an_older_log_is_checked_in_a_copy_and_its_lost_triggers_are_found(tmp_path):
    path = sqlite_file("0001", tmp_path / "log.db")
    around_the_guards(str(path), "DROP TRIGGER events_no_update")
    found = {finding.check: finding for finding in check(str(path))}

    assert "at revision 0001: a temporary copy is read" in found["revision"].note
    assert "events_no_update" in found["triggers"].problem
    assert [name for name, one in found.items() if one.problem] == ["triggers"]


def test_an_altered_row_and_a_lost_index_are_found(url):
    change(url, "UPDATE episodes SET started_at = 9223372036854775807 WHERE episode = 'ep1'")
    change(url, "DROP INDEX ix_summaries_run")
    found = problems(url)

    assert set(found) == {"schema", "rows"}
    assert found["schema"].startswith("missing: index ix_summaries_run. ")
    assert "ep1 (started_at 9223372036854775807, by its events " in found["rows"]


CHILDREN = ("DELETE FROM segments", "DELETE FROM actions", "DELETE FROM search")


def recorded(path):
    store = open_store(path)
    writer = store.create("ep1", BODIES[0], EPOCH_US)
    writer.append(pending(BODIES)[1:], durable=True)
    writer.close()
    store.close()


def around_the_guards(path, *statements):
    """Change the file as whoever has it can: foreign keys are off unless asked for."""
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_old_summaries_are_as_they_should_be_in_an_older_log(tmp_path):
    found = {one.check: one for one in check(str(sqlite_file("0001", tmp_path / "log.db")))}

    assert {name for name, one in found.items() if one.problem is not None} == set()
    assert "episodes with old or no summaries: " in found["projections"].note
    assert "db upgrade" in found["projections"].note


def test_a_run_whose_selection_was_altered_is_found(url):
    store = open_store(url)
    begin(store, "nightly", "run", [("ep1", store.row("ep1").head.hex())])
    store.close()
    assert problems(url) == {}
    change(url, "UPDATE runs SET selection = '[]'")

    assert problems(url) == {
        "runs": "the selection of the runs nightly is not what its digest says: somebody altered it"
    }


def test_a_blob_of_another_length_than_is_said_is_found(url):
    change(url, "UPDATE blobs SET length = length + 1")

    assert "blobs of another length than is said" in problems(url)["blobs"]


@pytest.mark.parametrize(
    "statement",
    ["UPDATE epochs SET place = 3 WHERE place = 2", "UPDATE epochs SET place = NULL WHERE place = 1"],
)
def test_epochs_out_of_their_order_are_found(url, statement):
    store = open_store(url)
    with store.database.writing(durable=True) as connection:
        admin.open_epoch(connection, "restored")
    store.close()
    assert problems(url) == {}
    change(url, statement)

    assert "do not stand in the order" in problems(url)["epochs"]


def test_two_epochs_in_each_others_place_are_found(url):
    store = open_store(url)
    with store.database.writing(durable=True) as connection:
        admin.open_epoch(connection, "restored")
        for old, new in ((1, 9), (2, 1), (9, 2)):
            moved = tables.epochs.update().where(tables.epochs.c.place == old)
            connection.execute(moved.values(place=new))
    store.close()

    assert "do not stand in the order" in problems(url)["epochs"]


def test_rows_that_only_runs_have_are_found_with_an_administrative_log(url):
    change(url, "INSERT INTO search (number, text) VALUES (0, 'shown')")

    assert problems(url) == {
        "projections": "an administrative log has rows in search, where only runs have any: somebody put them there"
    }


def test_a_database_that_says_two_revisions_is_refused_in_words(tmp_path):
    url = f"sqlite:///{tmp_path / 'log.db'}"
    one_episode(url)
    with sqlite3.connect(tmp_path / "log.db") as connection:
        connection.execute("INSERT INTO alembic_version VALUES ('0001')")
    connection.close()

    with pytest.raises(StoreError, match="says that it is at several revisions"):
        check(url)


@pytest.mark.parametrize(
    ("check_", "statement"),
    [
        ("types", "UPDATE types SET number = 'odd' WHERE number = 9"),
        ("dictionary", "UPDATE dictionaries SET id = 'odd' WHERE id = 2"),
        ("runs", "UPDATE runs SET selection = x'ff'"),
    ],
)
def test_a_value_of_another_kind_is_a_problem_and_no_crash(tmp_path, check_, statement):
    url = f"sqlite:///{tmp_path / 'log.db'}"
    one_episode(url)
    store = open_store(url)
    begin(store, "nightly", "run", [("ep1", store.row("ep1").head.hex())])
    store.close()
    with sqlite3.connect(tmp_path / "log.db") as connection:
        connection.execute(statement)
    connection.close()

    assert problems(url)[check_]
