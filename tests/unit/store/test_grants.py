"""What granted roles can do, tried by them on a real server."""

from contextlib import closing

import pytest
import sqlalchemy as sa

from spectrace.audit.integrity import verify_episode as verify
from spectrace.core.events import OutcomeSettled
from spectrace.errors import StoreError, UsageError
from spectrace.runs.live import Labels
from spectrace.store import rights, runs, soundness, tables, upkeep
from spectrace.store.erasing import Order, erase
from spectrace.store.erasing_plan import Named
from spectrace.store.event_store import Pending
from spectrace.store.grants import Grant, apply, statements
from spectrace.store.sql import open_store
from tests.playbook import accept
from tests.roles import connected, grant, refusal, roles_of
from tests.shop_log import recorded, reverified

WRITES = ("UPDATE", "DELETE", "INSERT", "TRUNCATE")
EVIDENCE = ("events", "blobs", "leaves", "erasures", "checkpoints", "dictionaries", "types", "epochs")

FORGED = (
    "INSERT INTO events SELECT key + 500, type, tool, lane, version, at, effect, authority, outcome, codec, payload, "
    "salt, link FROM events WHERE key >= 1 << 20 LIMIT 1"
)
RUN = (
    "INSERT INTO runs (name, kind, created_at, selection_digest, selection, settings) "
    "VALUES ('a', 'run', 0, '', '[]', '{}')"
)

AROUND = [
    "ALTER TABLE events DISABLE TRIGGER ALL",
    "ALTER TABLE events DISABLE ROW LEVEL SECURITY",
    "DROP TRIGGER events_append_only ON events",
    "SET session_replication_role = replica",
    "CREATE OR REPLACE FUNCTION spectrace_append_only() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN END'",
    "ALTER FUNCTION spectrace_session_user() SECURITY DEFINER",
    "CREATE TABLE mine (x int)",
    "CREATE TRIGGER mine BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION spectrace_append_only()",
    "CREATE RULE mine AS ON INSERT TO events DO INSTEAD NOTHING",
    "CREATE POLICY mine ON events USING (true)",
    "CREATE TABLE pg_temp.heir () INHERITS (events)",
    "DROP TABLE events CASCADE",
    "SELECT setval('episodes_number_seq', 1)",
    "COPY events TO PROGRAM 'cat'",
]


@pytest.fixture
def roles(postgres_url):
    with roles_of(postgres_url) as made:
        yield made


@pytest.fixture
def told(roles) -> str:
    """An episode that the owner recorded, under the project `ours`."""
    return record(roles.url, "ours")


def record(url, project="") -> str:
    with closing(open_store(url)) as store:
        return recorded(store, labels=Labels(project=project))


def columns(table) -> list[str]:
    return (
        [one.name for one in tables.metadata.tables[table].columns] if table != "alembic_version" else ["version_num"]
    )


def attempts(table, operation):
    """Return statements that would do it to a table: an update of each column for itself."""
    match operation:
        case "UPDATE":
            return [f'UPDATE {table} SET "{column}" = "{column}"' for column in columns(table)]  # noqa: S608 - our own names
        case "DELETE":
            return [f"DELETE FROM {table}"]  # noqa: S608 - our own names
        case "INSERT":
            return [f"INSERT INTO {table} SELECT * FROM {table}"]  # noqa: S608 - our own names
        case _:
            return [f"TRUNCATE {table} CASCADE"]


def test_every_table_is_known_to_the_grants_and_every_change_names_columns_that_are_there():
    assert set(rights.TABLES) == {*tables.metadata.tables, "alembic_version"}
    for job in (rights.RECORDER, rights.ERASER):
        for table, allowed in job.items():
            assert set(allowed.update) <= set(columns(table))


def test_a_reader_changes_no_row_of_any_table(roles, told):
    with connected(roles.granted("reader")) as connection:
        done = {
            text: refusal(connection, text)
            for table in rights.TABLES
            for operation in WRITES
            for text in attempts(table, operation)
        }

    assert {text for text, said in done.items() if said is None or "permission denied" not in said} == set()


def test_a_recorder_records_a_whole_episode_in_runs_and_judges_it_again(roles):
    url = roles.granted("recorder")
    with closing(open_store(url)) as store:
        runs.begin(store, "first", "run", [("x", "00")])
        episode = recorded(store, labels=Labels(run="first"))
        runs.begin(store, "second", "reverify", [(episode, "00")])
        reverified(store, episode, "second", [accept(), accept(), accept()])
        writer = store.reopen(episode)
        row = store.row(episode)
        told = OutcomeSettled(authority="person:Ann", outcome="ok", request=30, evidence="seen")
        writer.append([Pending(row.events, "", row.started_at, told)], durable=True)
        runs.cancel(store, "first")

        assert [verify(store, one).result for one in (episode, *store.administrative())] == ["consistent"] * 2
        assert store.row(episode).events == row.events + 1
    assert [one.check for one in soundness.check(url) if one.problem] == []


def test_a_recorder_changes_and_takes_away_nothing_recorded(roles, told):
    with connected(roles.granted("recorder")) as connection:
        tried = [
            text
            for table in EVIDENCE
            for operation in ("UPDATE", "DELETE", "TRUNCATE")
            for text in attempts(table, operation)
        ]

        assert [text for text in tried if "permission denied" not in str(refusal(connection, text))] == []


def test_of_an_episode_a_recorder_moves_what_a_writer_moves(roles, told):
    with connected(roles.granted("recorder")) as connection:
        moved = {
            column
            for column in columns("episodes")
            if refusal(connection, f'UPDATE episodes SET "{column}" = "{column}"') is None  # noqa: S608 - our own names
        }

    assert moved == {"events", "head", "ended_at", "writer_host", "writer_pid", "writer_started", "lease_until"}


@pytest.mark.parametrize("job", ["recorder", "reader", "eraser"])
def test_no_granted_role_gets_round_what_guards_the_log(roles, told, job):
    with connected(roles.granted(job)) as connection:
        said = {text: str(refusal(connection, text)) for text in AROUND}

    assert [text for text, one in said.items() if "permission denied" not in one and "must be owner" not in one] == []


def test_who_began_an_episode_is_the_session_s_user_whatever_the_client_says(roles):
    url = roles.granted("recorder")
    with connected(url) as connection:
        values = "'forged', 'ours', 0, 0, '\\x00', 'h', 1, 's', 0, 'postgres'"
        names = (
            "episode, project, started_at, events, head, writer_host, writer_pid, writer_started, lease_until, db_user"
        )
        connection.exec_driver_sql(f"INSERT INTO episodes ({names}) VALUES ({values})")  # noqa: S608 - ours
        said = refusal(connection, "UPDATE episodes SET db_user = 'postgres'")
        found = connection.exec_driver_sql("SELECT db_user FROM episodes WHERE episode = 'forged'").scalar_one()

    assert (found, "permission denied" in str(said)) == (sa.make_url(url).username, True)


def test_an_eraser_erases_and_the_log_still_verifies(roles, told):
    with closing(open_store(roles.granted("eraser"))) as store:
        done = erase(store, Named(((told, 3),)), Order("Ann", "asked to"))

        assert [one.episode for one in done.parts] == [told]
        assert done.problems == ()
        assert [verify(store, one).result for one in (told, *store.administrative())] == ["consistent"] * 2


def test_an_eraser_records_nothing_and_forges_nothing(roles, told):
    url = roles.granted("eraser")
    with connected(url) as connection:
        said = {
            text: refusal(connection, text)
            for text in (
                FORGED,
                RUN,
                "UPDATE events SET link = link",
                "UPDATE events SET payload = '\\x00', salt = '\\x00' WHERE payload IS NOT NULL",
                "DELETE FROM events",
                "DELETE FROM episodes",
                "UPDATE blobs SET bytes = bytes",
                "DELETE FROM erasures",
                "INSERT INTO leaves VALUES (0, 'x', '')",
            )
        }
    with closing(open_store(url)) as store, pytest.raises(StoreError, match="permission denied"):
        recorded(store)

    assert [text for text, one in said.items() if one is None] == []


def test_a_role_of_one_project_sees_that_project_only(roles, told):
    other = record(roles.url, "theirs")
    url = roles.granted("reader", project="ours")
    with closing(open_store(url, read_only=True)) as store, connected(url) as connection:
        seen = {
            table: connection.exec_driver_sql(text).scalar_one()
            for table, text in {
                "episodes": "SELECT count(*) FROM episodes WHERE project = 'theirs'",
                "events": f"SELECT count(*) FROM events WHERE key >= 2 << {tables.SEQ_BITS}",  # noqa: S608 - our own names
                "actions": "SELECT count(*) FROM actions WHERE number = 2",
                "search": "SELECT count(*) FROM search WHERE number = 2",
                "summaries": "SELECT count(*) FROM summaries WHERE number = 2",
            }.items()
        }

        assert set(seen.values()) == {0}
        assert verify(store, told).result == "consistent"
        assert len(list(store.glance(told))) > 40
        assert "find the customer first" in str(list(store.read(told)))
        with pytest.raises(StoreError, match="no episode"):
            store.row(other)


def test_such_a_role_gets_texts_by_their_digests_only(roles, told):
    with connected(roles.granted("reader", project="ours")) as connection:
        listed = refusal(connection, "SELECT digest FROM blobs")
        digest = "SELECT count(*) FROM spectrace_blobs(ARRAY['\\x00'::bytea])"

        assert "permission denied" in str(listed)
        assert connection.exec_driver_sql(digest).scalar_one() == 0


def test_a_recorder_of_one_project_records_there_and_nowhere_else(roles, told):
    theirs = record(roles.url, "theirs")
    url = roles.granted("recorder", project="ours")
    episode = record(url, "ours")
    with closing(open_store(url)) as store:
        assert verify(store, episode).result == "consistent"
    with connected(url) as connection:
        moved = connection.exec_driver_sql(f"UPDATE episodes SET events = 1 WHERE episode = '{theirs}'").rowcount  # noqa: S608 - our own names
    with pytest.raises(StoreError, match="row-level security"):
        record(url, "theirs")

    assert moved == 0


@pytest.mark.parametrize("change", ["events = 0", "head = decode(repeat('00', 32), 'hex')", "events = events + 1"])
def test_no_recorder_takes_the_administrative_log_back_which_is_everybody_s(roles, told, change):
    with connected(roles.granted("recorder", project="ours")) as connection:
        said = refusal(connection, f"UPDATE episodes SET {change} WHERE number <= 0")  # noqa: S608 - ours
    with closing(open_store(roles.url)) as store:
        done = erase(store, Named(((told, None),)), Order("Ann", None))

    assert "an episode goes on only" in str(said)
    assert len(done.records) == 1


def test_checks_say_what_such_a_role_is_not_shown(roles, told):
    record(roles.url, "theirs")
    url = roles.granted("reader", project="ours")
    found = {one.check: one for one in soundness.check(url)}
    sizes = {one.table: one.rows for one in upkeep.stats(url)}

    assert [one.check for one in found.values() if one.problem] == []
    assert "the project 'ours'" in found["access"].note
    assert "single texts only" in found["blobs"].note
    assert (sizes["blobs"], sizes["summaries"]) == (None, 1)


@pytest.mark.parametrize("project", ["it's", "a\\b", "x'; DROP TABLE events; --", "{}%s%", "\u202e\n", "E'", "$do$"])
def test_a_project_is_taken_as_it_is(roles, project):
    mine = record(roles.url, project)
    record(roles.url, "other")
    with connected(roles.granted("reader", project=project)) as connection:
        found = connection.exec_driver_sql("SELECT episode FROM episodes WHERE number > 0").scalars().all()

    assert found == [mine]


@pytest.mark.parametrize("name", ['odd "role', "it's", "a%b", "$do$", "ROLE"])
def test_a_role_is_taken_as_it_is(roles, told, name):
    quoted = '"' + name.replace('"', '""') + '"'
    roles.run(f"CREATE ROLE {quoted.replace('%', '%%')} LOGIN")
    try:
        grant(roles.url, name, "reader", project="ours")
        with connected(roles.of(name)) as connection:
            assert connection.exec_driver_sql("SELECT count(*) FROM episodes WHERE number > 0").scalar_one() == 1
    finally:
        roles.run(f"DROP OWNED BY {quoted.replace('%', '%%')}")
        roles.run(f"DROP ROLE {quoted.replace('%', '%%')}")


def test_granting_again_changes_nothing_and_another_job_takes_the_place_of_the_first(roles, told):
    name = roles.make()
    for job in ("recorder", "recorder", "eraser", "reader"):
        grant(roles.url, name, job, project="ours" if job == "reader" else None)
    with connected(roles.of(name)) as connection:
        assert refusal(connection, "SELECT count(*) FROM episodes") is None
        assert refusal(connection, "DELETE FROM blobs") is not None
        assert refusal(connection, "SELECT nextval('episodes_number_seq')") is not None

    grant(roles.url, name, "reader", revoke=True)

    with connected(roles.of(name)) as connection:
        assert "does not exist" in str(refusal(connection, "SELECT count(*) FROM episodes"))


def test_a_role_that_could_read_before_still_sees_everything(roles, told):
    name = roles.make()
    roles.run(f"GRANT USAGE ON SCHEMA {sa.make_url(roles.url).query['options'].partition('=')[2]} TO {name}")
    roles.run(f"GRANT SELECT ON episodes TO {name}")
    roles.granted("reader", project="theirs")
    with connected(roles.of(name)) as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM episodes WHERE number > 0").scalar_one() == 1


def test_what_would_be_granted_is_only_said_until_it_is_applied(roles, told):
    name = roles.make()
    with closing(open_store(roles.url, read_only=True)) as store:
        said = statements(store.database, [Grant(name, "reader")])
        with pytest.raises(StoreError, match="read-only"):
            apply(store.database, said)
    with connected(roles.of(name)) as connection:
        assert refusal(connection, "SELECT 1 FROM episodes") is not None


@pytest.mark.parametrize(
    ("options", "job", "words"),
    [
        ("SUPERUSER", "reader", "is a superuser"),
        ("IN ROLE pg_write_all_data", "reader", "pg_write_all_data"),
        ("BYPASSRLS", "recorder", "BYPASSRLS"),
        ("IN ROLE pg_read_all_data", "reader", "pg_read_all_data"),
    ],
)
def test_a_role_that_may_do_more_anyway_is_refused(roles, options, job, words):
    name = roles.make(options)
    with pytest.raises(UsageError, match=words):
        grant(roles.url, name, job)


def test_a_role_that_is_not_there_is_not_made(roles):
    with pytest.raises(UsageError, match="there is no role 'nobody_here'"):
        grant(roles.url, "nobody_here", "reader")


def test_an_eraser_of_one_project_is_refused_for_it_would_take_the_others_texts(roles):
    with pytest.raises(UsageError, match="must see both"):
        grant(roles.url, roles.make(), "eraser", project="ours")


def test_one_role_has_one_job(roles):
    name = roles.make()
    with closing(open_store(roles.url)) as store, pytest.raises(UsageError, match="one job"):
        statements(store.database, [Grant(name, "reader"), Grant(name, "eraser")])


def test_a_file_has_no_roles(tmp_path):
    with closing(open_store(str(tmp_path / "log.db"))) as store, pytest.raises(UsageError, match="no roles"):
        statements(store.database, [Grant("x", "reader")])


def test_a_connection_for_reading_takes_no_write_even_from_the_owner(roles, told):
    with (
        closing(open_store(roles.url, read_only=True)) as store,
        pytest.raises(StoreError, match="read-only transaction"),
        store.database.reading() as connection,
    ):
        connection.exec_driver_sql("UPDATE episodes SET lease_until = 0")
