import pytest

from spectrace.errors import StoreError
from spectrace.store import revisions
from spectrace.store.database import Database, parse_url
from spectrace.store.migrate import revision, upgrade
from spectrace.store.plan import plan
from spectrace.store.sql import open_store
from tests.migrations.populated import fill_postgres, sqlite_file


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def old(request, tmp_path):
    """The URL of a database of revision 0001."""
    if request.param == "sqlite":
        return f"sqlite:///{sqlite_file('0001', tmp_path / 'log.db')}"
    return fill_postgres("0001", request.getfixturevalue("postgres_url"))


def revision_of(url):
    database = Database(parse_url(url), read_only=True)
    try:
        return revision(database)
    finally:
        database.close()


def test_a_plan_says_what_would_run_and_runs_nothing(old):
    found = plan(old)

    assert (found.before, found.after) == ("0001", revisions.head())
    assert [name for name, _ in found.revisions] == sorted(revisions.carried())[1:]
    assert any("CREATE TABLE epochs" in statement for statement in found.statements)
    assert found.backup == old.startswith("sqlite")
    assert revision_of(old) == "0001"


def test_a_plan_leaves_a_file_as_it_is(tmp_path):
    path = sqlite_file("0001", tmp_path / "log.db")
    before = path.read_bytes(), path.stat().st_mtime_ns
    plan(str(path))

    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert list(tmp_path.iterdir()) == [path]


def test_there_is_nothing_to_do_for_a_database_of_this_version(database_url):
    upgrade(database_url)
    found = plan(database_url)

    assert (found.revisions, found.statements, found.triggers, found.backup) == ((), (), (), False)


def test_the_plan_for_no_database_makes_none(tmp_path):
    found = plan(str(tmp_path / "new.db"))

    assert (found.before, found.backup) == (None, False)
    assert any("CREATE TABLE episodes" in statement for statement in found.statements)
    assert list(tmp_path.iterdir()) == []


def test_lost_triggers_are_in_the_plan(database_url):
    store = open_store(database_url)
    on = "" if store.database.sqlite else " ON events"
    name = "events_no_delete" if store.database.sqlite else "events_no_truncate"
    with store.database.writing(durable=True) as connection:
        connection.exec_driver_sql(f"DROP TRIGGER {name}{on}")
    store.close()

    assert plan(database_url).triggers == (name,)


def test_somebody_elses_database_has_no_plan(tmp_path):
    (tmp_path / "notes.db").write_text("these are notes, " * 100)

    with pytest.raises(StoreError, match="file is not a database"):
        plan(str(tmp_path / "notes.db"))
