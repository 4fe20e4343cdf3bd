"""Plain SQL against both databases: what a person with a client could try."""

# ruff: noqa: S608 - constant statements, nothing of a user's in them

import pytest
import sqlalchemy as sa

from spectrace.errors import StoreError
from spectrace.store import admin, revisions
from spectrace.store.database import parse_url
from spectrace.store.migrate import upgrade
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.sql import open_store
from spectrace.store.triggers import assert_triggers, missing_triggers
from tests.copies import made_once


def one_episode(url):
    store, bodies = open_store(url), sample_episode(1, segments=1)
    writer = store.create("ep1", bodies[0], EPOCH_US)
    writer.append(pending(bodies[1:], 1), durable=True)
    writer.close()
    store.close()


@pytest.fixture
def written(database_url):
    made_once(database_url, one_episode)
    return database_url


@pytest.fixture
def client(written):
    engine = sa.create_engine(parse_url(written))
    with engine.connect() as connection:
        yield connection
    engine.dispose()


COLUMNS = "key, type, tool, lane, version, at, effect, authority, outcome, codec, payload, salt, link"
COPY = f"INSERT INTO events ({COLUMNS}) SELECT {COLUMNS} FROM events WHERE true"
REFUSED = [
    "DELETE FROM events",
    "DELETE FROM events WHERE key = (SELECT max(key) FROM events)",
    "UPDATE events SET at = at + 1",
    "UPDATE events SET key = key + 1000",
    "UPDATE events SET payload = NULL",
    "UPDATE events SET payload = NULL, salt = NULL, effect = 'read'",
    "UPDATE events SET payload = NULL, salt = NULL, link = payload",
    "UPDATE events SET authority = 'person:eve'",
    COPY,
    f"{COPY} ON CONFLICT (key) DO UPDATE SET at = excluded.at + 1",
]
SQLITE_ONLY = [
    COPY.replace("INSERT", "INSERT OR REPLACE").replace("SELECT key, type", "SELECT key, type + 1"),
    COPY.replace("INSERT", "REPLACE"),
    "UPDATE OR REPLACE events SET key = key + 1",
]
POSTGRES_ONLY = ["TRUNCATE events", "TRUNCATE events, episodes CASCADE"]


def everything(connection):
    return connection.execute(sa.text(f"SELECT {COLUMNS} FROM events ORDER BY key")).all()


@pytest.mark.parametrize("statement", REFUSED)
def test_events_are_append_only(client, statement):
    assert_refused(client, statement)


@pytest.mark.parametrize("statement", SQLITE_ONLY)
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_sqlites_replacements_are_refused(client, statement):
    assert_refused(client, statement)


@pytest.mark.parametrize("statement", POSTGRES_ONLY)
@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_postgres_truncate_is_refused(client, statement):
    assert_refused(client, statement)


def assert_refused(client, statement):
    before = everything(client)
    client.rollback()
    with pytest.raises(sa.exc.DBAPIError, match=r"append-only|pk_events"):
        client.execute(sa.text(statement))
    client.rollback()

    assert everything(client) == before


def test_a_body_may_become_erased_and_nothing_else_changes(client):
    before = everything(client)
    client.execute(sa.text("UPDATE events SET payload = NULL, salt = NULL WHERE key = (SELECT max(key) FROM events)"))
    client.commit()
    after = everything(client)

    assert after[:-1] == before[:-1]
    assert after[-1] == (*before[-1][:10], None, None, before[-1][12])


def test_an_erased_body_stays_erased(client):
    client.execute(sa.text("UPDATE events SET payload = NULL, salt = NULL"))
    client.commit()

    with pytest.raises(sa.exc.DBAPIError):
        client.execute(sa.text("UPDATE events SET payload = link, salt = link"))


def test_an_event_is_erased_whole_or_not_at_all(client):
    with pytest.raises(sa.exc.DBAPIError):
        client.execute(
            sa.text(
                f"INSERT INTO events ({COLUMNS}) SELECT key + 5000, type, tool, lane, version, at, effect, authority, "
                "outcome, codec, NULL, salt, link FROM events"
            )
        )


def test_postgres_says_who_was_connected_whatever_the_client_says(postgres_url):
    open_store(postgres_url).close()
    engine = sa.create_engine(parse_url(postgres_url))
    columns = "number, episode, project, started_at, events, head, writer_host, writer_pid, writer_started, lease_until"
    with engine.begin() as connection:
        connection.execute(
            sa.text(
                f"INSERT INTO episodes ({columns}, db_user) "
                "VALUES (1, 'a', 'p', 1, 0, decode('00', 'hex'), 'h', 1, '', 1, 'somebody_else')"
            )
        )
        connection.execute(sa.text("UPDATE episodes SET db_user = 'again_somebody_else'"))
        found = connection.execute(sa.text("SELECT db_user, session_user::text FROM episodes WHERE number = 1")).one()
    engine.dispose()

    assert found[0] == found[1]


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
@pytest.mark.parametrize(
    "change",
    [
        "events = events - 1 WHERE number = 1",
        "events = 0, head = decode(repeat('00', 32), 'hex') WHERE number <= 0",
        "head = decode(repeat('00', 32), 'hex') WHERE number = 1",
        "head = decode(repeat('00', 32), 'hex') WHERE number <= 0",
        "events = events + 1, head = decode(repeat('00', 32), 'hex') WHERE number <= 0",
        "events = events + 1 WHERE number <= 0",
        "ended_at = NULL WHERE number = 1",
    ],
)
def test_an_episode_s_row_does_not_go_back_and_an_administrative_one_says_what_its_events_say(client, change):
    client.execute(sa.text("UPDATE episodes SET ended_at = started_at + 1 WHERE ended_at IS NULL AND number = 1"))
    client.commit()

    with pytest.raises(sa.exc.DBAPIError, match="an episode goes on only"):
        client.execute(sa.text(f"UPDATE episodes SET {change}"))


def test_a_missing_trigger_is_named(client):
    name = missing_name(client)
    client.execute(sa.text(f"DROP TRIGGER {name}" + ("" if client.dialect.name == "sqlite" else " ON events")))

    assert missing_triggers(client) == [name]
    with pytest.raises(StoreError, match=f"{name} are missing or altered"):
        assert_triggers(client)


def test_a_trigger_made_harmless_is_named(client):
    name = missing_name(client)
    if client.dialect.name == "sqlite":
        client.execute(sa.text(f"DROP TRIGGER {name}"))
        client.execute(sa.text(f"CREATE TRIGGER {name} BEFORE UPDATE ON events BEGIN SELECT 1; END"))
    else:
        client.execute(sa.text(f"ALTER TABLE events DISABLE TRIGGER {name}"))

    assert missing_triggers(client) == [name]


def missing_name(connection):
    return "events_no_update" if connection.dialect.name == "sqlite" else "events_append_only"


BROKEN = {
    "sqlite": [
        "DROP TRIGGER events_no_update",
        "DROP TRIGGER events_no_delete",
        "CREATE TRIGGER events_no_delete BEFORE DELETE ON events BEGIN SELECT 1; END",
    ],
    "postgresql": [
        "DROP FUNCTION spectrace_append_only CASCADE",
        "ALTER TABLE episodes DISABLE TRIGGER episodes_session_user",
    ],
}

HARMLESS_ON_POSTGRES = {
    "events_append_only": "CREATE OR REPLACE FUNCTION spectrace_append_only() RETURNS trigger LANGUAGE plpgsql "
    "AS 'BEGIN RETURN NEW; END'",
    "events_no_truncate": "CREATE OR REPLACE TRIGGER events_no_truncate AFTER TRUNCATE ON events "
    "FOR EACH STATEMENT EXECUTE FUNCTION spectrace_append_only()",
    "episodes_session_user": "CREATE OR REPLACE TRIGGER episodes_session_user BEFORE INSERT ON episodes "
    "FOR EACH ROW WHEN (false) EXECUTE FUNCTION spectrace_session_user()",
    "episodes_goes_on": "CREATE OR REPLACE FUNCTION spectrace_goes_on() RETURNS trigger LANGUAGE plpgsql "
    "AS 'BEGIN RETURN NEW; END'",
}


def test_triggers_that_are_not_as_they_should_be_are_put_back_and_named(written, client):
    for statement in BROKEN[client.dialect.name]:
        client.execute(sa.text(statement))
    client.commit()
    broken = missing_triggers(client)
    client.commit()

    assert len(broken) > 1
    assert upgrade(written).triggers == tuple(broken)
    assert upgrade(written).triggers == ()
    assert missing_triggers(client) == []
    with pytest.raises(sa.exc.DBAPIError, match="append-only"):
        client.execute(sa.text("DELETE FROM events"))


@pytest.mark.parametrize("name", list(HARMLESS_ON_POSTGRES))
@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_a_trigger_that_only_looks_right_is_named_and_put_right(written, client, name):
    client.execute(sa.text(HARMLESS_ON_POSTGRES[name]))
    client.commit()

    assert name in missing_triggers(client)
    client.commit()
    upgrade(written)
    assert missing_triggers(client) == []


def test_nothing_is_written_to_a_log_that_is_not_append_only_and_reading_goes_on(written, client):
    name = missing_name(client)
    client.execute(sa.text(f"DROP TRIGGER {name}" + ("" if client.dialect.name == "sqlite" else " ON events")))
    client.commit()
    with pytest.raises(StoreError, match=f"not append-only any more: the triggers {name} .* `spectrace db upgrade"):
        open_store(written)
    reader = open_store(written, read_only=True)
    found = len(list(reader.stored("ep1")))
    reader.close()

    assert found > 0


def test_triggers_put_back_are_on_record(written, client):
    name = missing_name(client)
    client.execute(sa.text(f"DROP TRIGGER {name}" + ("" if client.dialect.name == "sqlite" else " ON events")))
    client.commit()
    upgrade(written)
    store = open_store(written)
    *_, last = store.read(admin.episodes(store.database)[0])
    store.close()

    assert (last.body.from_revision, last.body.to_revision) == (revisions.head(), revisions.head())
    assert last.body.triggers == (name,)
