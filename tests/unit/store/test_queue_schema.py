import shutil

import pytest
import sqlalchemy as sa
from procrastinate.schema import SchemaManager

from spectrace.errors import NewerSchema, StoreError, UsageError
from spectrace.runs.shards import enqueue
from spectrace.store import migrate, queue_schema, soundness, upkeep
from spectrace.store.address import parse_url
from spectrace.store.copying import copy_log
from spectrace.store.database import Database
from spectrace.store.jobs import Standing, queue_key
from spectrace.store.queue import open_queue
from spectrace.store.sql import open_store
from tests.aio import in_loop


@pytest.fixture
def log(postgres_url):
    """The URL of a Postgres log; the queue beside it is dropped at the end."""
    open_store(postgres_url).close()
    yield postgres_url
    with connected(postgres_url) as connection:
        connection.exec_driver_sql(f'DROP SCHEMA IF EXISTS "{queue_schema.schema_of(connection)}" CASCADE')


def connected(url):
    return sa.create_engine(parse_url(url), isolation_level="AUTOCOMMIT", poolclass=sa.pool.NullPool).connect()


def tables(url, schema=None):
    with connected(url) as connection:
        return set(sa.inspect(connection).get_table_names(schema))


def test_the_queue_lies_in_a_schema_of_its_own(log):
    before = tables(log)
    name = queue_schema.prepare(log)

    assert tables(log) == before
    assert {"procrastinate_jobs", "spectrace_migrations"} <= tables(log, name)


def test_preparing_again_changes_nothing(log):
    assert queue_schema.prepare(log) == queue_schema.prepare(log)


def test_two_logs_of_one_database_have_two_queues(log):
    with connected(log) as connection:
        mine = queue_schema.schema_of(connection)
        connection.exec_driver_sql("SET search_path TO public")
        public = queue_schema.schema_of(connection)

    assert (public, mine.startswith("spectrace_queue_")) == ("spectrace_queue", True)


def test_a_schema_with_a_long_name_has_a_queue_with_one_that_postgres_keeps(log):
    with connected(log) as connection:
        for name in ("x" * 62, "x" * 61 + "y", 'a"b'):
            connection.exec_driver_sql(f"CREATE SCHEMA {queue_schema.quoted(name)}")
            connection.exec_driver_sql(f"SET search_path TO {queue_schema.quoted(name)}")
            queue = queue_schema.schema_of(connection)
            connection.exec_driver_sql(f"DROP SCHEMA {queue_schema.quoted(name)}")

            assert len(queue.encode()) <= 63


def test_what_looks_after_the_log_does_not_see_the_queue(log, tmp_path):
    queue_schema.prepare(log)
    checked = soundness.check(log)

    # embedded servers of tests do not flush, and `db check` says so
    assert [one for one in checked if one.problem is not None and one.check != "flush"] == []
    assert migrate.upgrade(log).triggers == ()
    assert not any("procrastinate" in one.table for one in upkeep.stats(log))
    source, target = open_store(log), open_store(f"sqlite:///{tmp_path / 'copy.db'}")
    copy_log(source, target)
    source.close()
    target.close()
    assert not any("procrastinate" in name for name in tables(f"sqlite:///{tmp_path / 'copy.db'}"))


def test_a_queue_of_an_older_procrastinate_is_migrated(log, monkeypatch, tmp_path):
    name = queue_schema.prepare(log)
    added = tmp_path / "migrations"
    shutil.copytree(SchemaManager.get_migrations_path(), added, ignore=shutil.ignore_patterns("__pycache__"))
    (added / "99.00.00_01_pre_new.sql").write_text("CREATE TABLE procrastinate_new (percent text DEFAULT '5 %');")
    (added / "99.00.00_50_post_new.sql").write_text("CREATE VIEW procrastinate_newer AS TABLE procrastinate_new;")
    monkeypatch.setattr(SchemaManager, "get_migrations_path", lambda: str(added))
    queue_schema.prepare(log)

    assert "procrastinate_new" in tables(log, name)
    assert "procrastinate_new" not in tables(log)


def test_a_queue_of_a_newer_procrastinate_is_refused(log):
    name = queue_schema.prepare(log)
    with connected(log) as connection:
        connection.exec_driver_sql(f"INSERT INTO {name}.spectrace_migrations VALUES ('99.00.00_01_pre_new.sql')")  # noqa: S608 - ours

    with pytest.raises(NewerSchema, match=r"99\.00\.00_01_pre_new\.sql.*pip install --upgrade procrastinate"):
        queue_schema.prepare(log)


def test_a_schema_of_that_name_that_is_not_ours_is_left_alone(log):
    with connected(log) as connection:
        name = queue_schema.schema_of(connection)
        connection.exec_driver_sql(f"CREATE SCHEMA {name} CREATE TABLE theirs (x int)")

    with pytest.raises(StoreError, match=r"spectrace did not make \(theirs\)"):
        queue_schema.prepare(log)
    assert tables(log, name) == {"theirs"}


def test_a_user_who_may_make_no_schema_is_told_what_to_ask_for(log, postgres):
    user = f"{log.rsplit('search_path', 1)[1].strip('=%3D')}_user"
    with connected(log) as connection:
        schema, queue = connection.exec_driver_sql("SELECT current_schema()").scalar_one(), None
        queue = queue_schema.schema_of(connection)
        connection.exec_driver_sql(f"CREATE ROLE {user} LOGIN")
        connection.exec_driver_sql(f"GRANT USAGE ON SCHEMA {schema} TO {user}")
    theirs = parse_url(log).set(username=user).render_as_string(hide_password=False)
    try:
        with pytest.raises(StoreError, match=f"CREATE SCHEMA {queue} AUTHORIZATION {user}"):
            queue_schema.prepare(theirs)
        with connected(log) as connection:
            connection.exec_driver_sql(f"CREATE SCHEMA {queue} AUTHORIZATION {user}")
        assert queue_schema.prepare(theirs) == queue
    finally:
        with connected(log) as connection:
            connection.exec_driver_sql(f"DROP OWNED BY {user}")
            connection.exec_driver_sql(f"DROP ROLE {user}")


@in_loop
async def test_whoever_reads_the_log_sees_how_the_queue_stands(log):
    async with open_queue(log) as jobs:
        await enqueue(jobs, "again", ["a", "b", "c"], 1)
        await jobs.fetch(["again"])
        await jobs.finish(await jobs.fetch(["again"]), failed=True)
        database = Database(parse_url(log), read_only=True)
        with database.reading() as connection:
            found = queue_schema.standings(connection)
        database.close()

    assert found == {queue_key("again"): Standing(queued=1, doing=1, failed=1)}


def test_where_no_queue_was_made_nothing_stands(log, tmp_path):
    for url in (log, f"sqlite:///{tmp_path / 'log.db'}"):
        database = Database(parse_url(url), read_only=False)
        with database.reading() as connection:
            assert queue_schema.standings(connection) == {}
        database.close()


def test_sqlite_is_refused_with_what_to_do_instead(tmp_path):
    with pytest.raises(UsageError, match=r"needs a log in Postgres.*--concurrency N.*spectrace db copy"):
        queue_schema.prepare(str(tmp_path / "log.db"))
