"""The migrations against what the package believes the tables are, on both databases."""

import re
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from spectrace.core.events import TYPE_NUMBERS, ActRequested
from spectrace.store import revisions, tables
from spectrace.store.sql import open_store

VERSIONS = sorted((Path(revisions.__file__).parents[2] / "migrations" / "versions").glob("*.py"))


def test_the_migrations_make_the_tables_of_the_package(database_url):
    store = open_store(database_url)
    with store.database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})

        assert compare_metadata(context, tables.metadata) == []
    store.close()


def test_every_type_has_its_number_in_a_new_database(database_url):
    store = open_store(database_url)
    with store.database.reading() as connection:
        found = connection.execute(tables.types.select()).all()
    store.close()

    assert {name: number for number, name in found} == {cls.TYPE: number for cls, number in TYPE_NUMBERS.items()}


def test_the_index_of_writes_knows_the_number_of_act_requested():
    assert TYPE_NUMBERS[ActRequested] == tables.ACT_REQUESTED


@pytest.mark.parametrize("version", VERSIONS, ids=lambda path: path.stem)
def test_every_migration_ends_by_asserting_the_triggers(version):
    upgrade = re.search(r"def upgrade\(\).*?(?=\n\n\n|\Z)", version.read_text(), re.DOTALL).group()

    assert upgrade.rstrip().endswith("assert_triggers(op.get_bind())")


@pytest.mark.parametrize("version", VERSIONS, ids=lambda path: path.stem)
def test_no_migration_goes_down_or_batches_events(version):
    text = version.read_text()

    assert "def downgrade" not in text
    assert "batch_alter_table" not in text


def test_a_question_for_writes_of_a_tool_uses_the_partial_index(database_url):
    store = open_store(database_url)
    query = "SELECT key FROM events WHERE type = 9 AND effect = 'write' AND tool = 3 AND at > 5"
    with store.database.reading() as connection:
        if store.database.sqlite:
            plan = str(connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}").all())
        else:
            connection.exec_driver_sql("SET enable_seqscan = off")
            plan = str(connection.exec_driver_sql(f"EXPLAIN {query}").all())
    store.close()

    assert "ix_events_writes" in plan
