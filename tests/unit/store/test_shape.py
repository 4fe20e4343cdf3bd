import pytest

from spectrace.store.shape import problems
from spectrace.store.sql import open_store

ANEW = "`spectrace db copy` into a new database makes it anew"
BACKUP = "`spectrace db restore` puts a backup back"


def found(url, *statements):
    store = open_store(url)
    with store.database.writing(durable=True) as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    with store.database.reading() as connection:
        said = problems(connection)
    store.close()
    return said


def test_a_new_database_lacks_nothing(database_url):
    assert found(database_url) is None


@pytest.mark.parametrize(
    ("statement", "missing", "advice"),
    [
        ("ALTER TABLE search RENAME TO searched", "table search", ANEW),
        ("ALTER TABLE actions RENAME TO acted", "table actions", ANEW),
        ("ALTER TABLE tools RENAME TO toolbox", "table tools", BACKUP),
        ("DROP INDEX ix_events_writes", "index ix_events_writes", ANEW),
        ("ALTER TABLE episodes DROP COLUMN db_user", "column episodes.db_user", BACKUP),
    ],
)
def test_what_was_dropped_or_renamed_is_named_with_what_helps(tmp_path, statement, missing, advice):
    said = found(str(tmp_path / "log.db"), statement)

    assert said.startswith(f"missing: {missing}. ")
    assert said.endswith(advice)


def test_it_is_found_on_postgres_too(postgres_url):
    said = found(postgres_url, "DROP INDEX ix_events_writes", "ALTER TABLE search RENAME TO searched")

    assert said.startswith("missing: index ix_events_writes, table search. ")
