"""A SQLite file that somebody made to be read: every reading command answers in words, soon, and does nothing else.

SQLite lets a view, a virtual table or a computed column stand where a table or a column is asked for, and keeps any
value in any column: all of these are made by generation, over the schema itself.
"""

import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager, suppress

import pytest
import sqlalchemy as sa

from spectrace.store import tables
from spectrace.store.sql import open_store
from tests.command_line import in_a_directory
from tests.command_tree import READING
from tests.episodes import STRONG
from tests.shop_log import recorded, reverified

TABLES = sorted(tables.metadata.tables)
COLUMNS = [(table.name, column.name) for table in tables.metadata.sorted_tables for column in table.columns]
ODD = ("1e999", "X'00FF'", "'\x1b[31mtext'", "-9223372036854775808", "9223372036854775807", "-1.5", "''")
"""What a column is given, row by row: the first row's is of another kind than any column but one of bytes."""
ENDLESS = "WITH RECURSIVE more(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM more) SELECT max(x) AS {} FROM more"
ANSWERS = {0, 1, 2, 3, 125}
SOON_S = 20


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A log with an episode of the shop and a run that judged it again; the file, and the names in it."""
    path = tmp_path_factory.mktemp("sound") / "log.db"
    with closing(open_store(str(path))) as store:
        episode = recorded(store)
        reverified(store, episode, "again", STRONG)
    return path, episode


@contextmanager
def altered(path):
    """Lend a connection to a file without its triggers and checks."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("PRAGMA foreign_keys = OFF")
        triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        yield connection
        for _, text in triggers:
            with suppress(sqlite3.Error):  # what is a table no longer takes none
                connection.execute(text)


def spoiling(table: str, column: str) -> str:
    """Return the statement that puts odd values into a column."""
    bytes_ = isinstance(tables.metadata.tables[table].columns[column].type, sa.LargeBinary)
    values = [ODD[2], ODD[2], *ODD[3:]] if bytes_ else ODD
    choice = " ".join(f"WHEN {n} THEN {value}" for n, value in enumerate(values))
    return f'UPDATE {table} SET "{column}" = CASE abs(rowid) % {len(values)} {choice} END'  # noqa: S608 - our own names


def every_line(episode: str, out) -> list[list[str]]:
    """Return the reading commands, the events of an episode but one left out."""
    given = {"EP": episode, "RUN": "again", "AGAIN": "again", "SEQ": 3, "CALL": 3, "OUT": str(out)}
    return [text.format(**given).split() for texts in READING.values() for text in texts if text != "doctor"]


@contextmanager
def soon():
    """Raise TimeoutError where something in Python takes too long."""

    def late(*_: object) -> None:
        raise TimeoutError(f"no answer within {SOON_S} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SOON_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def wrong_answers(line, database, lines) -> list[tuple[object, ...]]:
    """Return what was answered otherwise than in words."""
    wrong: list[tuple[object, ...]] = []
    for one in lines:
        with soon():
            done = line(*one, "--db", str(database))
        if done.exit_code not in ANSWERS or "is a bug" in done.output or "Traceback" in done.output:
            wrong.append((one, done.exit_code, done.output[-400:]))
    return wrong


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """The command line in a directory of its own, with the other side's account that `reconcile` asks for."""
    folder = tmp_path_factory.mktemp("here")
    (folder / "theirs.csv").write_text("at,tool,arguments\n2026-11-30T12:00:00Z,cancel_order,{}\n")
    with pytest.MonkeyPatch.context() as patch:
        yield in_a_directory(patch, folder), folder


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES)
def test_odd_values_in_any_column_are_answered_in_words(sound, here, tmp_path, table):
    path, episode = sound
    line, folder = here
    wrong, unnamed = [], []
    for number, column in enumerate(name for owner, name in COLUMNS if owner == table):
        database = shutil.copy(path, tmp_path / f"{column}.db")
        with altered(database) as connection:
            try:
                changed = connection.execute(spoiling(table, column)).rowcount
            except sqlite3.Error:  # a row id, or one of a kind: SQLite itself refuses it
                changed = 0
        if not changed:
            continue
        wrong += [(column, *one) for one in wrong_answers(line, database, every_line(episode, folder)[number % 2 :: 2])]
        if line("db", "check", "--db", str(database)).exit_code != 1:
            unnamed.append(column)

    assert wrong == []
    assert unnamed == []


def stand_ins(name: str) -> dict[str, list[str]]:
    """Return statements by which something takes the place of a table."""
    columns = [one.name for one in tables.metadata.tables[name].columns]
    aside = f"ALTER TABLE {name} RENAME TO aside"
    empty = ", ".join(f'NULL AS "{one}"' for one in columns)
    computed = ", ".join(f'"{one}"' for one in columns[:-1])
    return {
        "view": [aside, f"CREATE VIEW {name} AS SELECT * FROM aside"],  # noqa: S608 - our own names
        "endless view": [aside, f"CREATE VIEW {name} AS SELECT {empty} FROM ({ENDLESS.format('x')})"],  # noqa: S608
        "virtual table": [aside, f"CREATE VIRTUAL TABLE {name} USING fts5({', '.join('c_' + one for one in columns)})"],
        "computed column": [
            aside,
            f'CREATE TABLE {name} ({computed}{"," if computed else ""} "{columns[-1]}" AS (zeroblob(900000000)))',
        ],
    }


KINDS = list(stand_ins("events"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("table", TABLES)
def test_what_stands_in_place_of_a_table_is_refused_and_named(sound, here, tmp_path, table, kind):
    database = shutil.copy(sound[0], tmp_path / "log.db")
    with altered(database) as connection:
        for statement in stand_ins(table)[kind]:
            connection.execute(statement)
    before = database.read_bytes()
    with soon():
        told = here[0]("ls", "--db", str(database))
        (found,) = here[0].items("db", "check", "--db", str(database), code=1)

    assert told.exit_code == 2
    assert table in told.stderr
    assert table in found["problem"]
    assert database.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["log.db"]


@pytest.mark.slow
def test_an_endless_view_holds_nobody_up(sound, here, tmp_path):
    """Each command in a process of its own: SQLite itself, once it is asked, hears no signal."""
    path, episode = sound
    database = shutil.copy(path, tmp_path / "log.db")
    with altered(database) as connection:
        connection.execute("DROP TABLE alembic_version")
        connection.execute(f"CREATE VIEW alembic_version AS {ENDLESS.format('version_num')}")
    wrong = []
    for one in [*every_line(episode, here[1])[::5], ["db", "upgrade"], ["recover", "--all"], ["db", "copy", "copy.db"]]:
        done = subprocess.run(
            [sys.executable, "-m", "spectrace", *one, "--db", str(database)],
            check=False,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=SOON_S,
        )
        said = done.stdout + done.stderr
        if done.returncode not in {1, 2} or "alembic_version" not in said or "is a bug" in said:
            wrong.append((one, done.returncode, said[-300:]))

    assert wrong == []


@pytest.mark.slow
def test_triggers_of_somebody_else_are_named_and_never_fire_on_reading(sound, here, tmp_path):
    path, episode = sound
    line, folder = here
    database = shutil.copy(path, tmp_path / "log.db")
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE fired (what TEXT)")
        for table in TABLES:
            for when in ("INSERT", "UPDATE", "DELETE"):
                connection.execute(
                    f"CREATE TRIGGER theirs_{table}_{when} AFTER {when} ON {table} "  # noqa: S608 - our own names
                    f"BEGIN INSERT INTO fired VALUES ('{table}'); END"
                )
    wrong = wrong_answers(line, database, every_line(episode, folder))
    told = line("db", "check", "--db", str(database), env={"COLUMNS": "4000"})
    with closing(sqlite3.connect(database)) as connection:
        fired = connection.execute("SELECT * FROM fired").fetchall()

    assert wrong == []
    assert fired == []
    assert told.exit_code == 1
    assert "theirs_events_INSERT" in told.output
