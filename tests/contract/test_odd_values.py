"""Values that no writer puts there, in every column that SQLite holds them in: read around, named, not tripped over.

Whoever can write the file can put anything anywhere. One altered event must not keep anybody from the other episodes.
"""

import shutil
import sqlite3

import pytest
from click.testing import CliRunner

from spectrace.audit.integrity import CONSISTENT, INVALID
from spectrace.audit.queries import Filters, open_reader
from spectrace.audit.verifying import verify_all
from spectrace.cli import main
from spectrace.store import tables
from spectrace.store.sql import open_store
from tests.damage import damage
from tests.shop_log import recorded

ODD = {
    "huge": "9223372036854775807",
    "negative": "-9223372036854775808",
    "real": "1.5",
    "text": "'soon'",
    "empty": "''",
    "bytes": "x'fffe'",
    "no text": "CAST(x'fffe' AS TEXT)",
    "null": "NULL",
}
SEQ = 5
EVENT_COLUMNS = [column.name for column in tables.events.columns if column.name != "key"]
ROW_COLUMNS = [column.name for column in tables.episodes.columns if column.name != "number"]
UNCOVERED = {"codec", "writer_host", "writer_pid", "writer_started", "lease_until", "db_user", "project", "started_at"}
"""Columns that no chain covers: what is in them may be told otherwise than by `invalid`, or be nobody's business."""

UNSEEN = {"writer_host", "writer_pid", "writer_started", "lease_until", "db_user"}
"""Columns of a row that no event tells."""


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    path = tmp_path_factory.mktemp("odd") / "log.db"
    store = open_store(str(path))
    ids = [recorded(store), recorded(store)]
    store.close()
    return path, ids


def held(path, query):
    connection = sqlite3.connect(path)
    connection.text_factory = bytes
    found = connection.execute(query).fetchall()
    connection.close()
    return found


@pytest.fixture
def put(original, tmp_path):
    """A function that puts a value into a column of the first episode, in a copy; None where the table refuses it.

    Nor where it is there already.
    """

    def into(table, column, value):
        path = tmp_path / "log.db"
        shutil.copy(original[0], path)
        where = f"key = {(1 << tables.SEQ_BITS) + SEQ}" if table == "events" else "number = 1"
        there = f"SELECT {column} FROM {table} WHERE {where}"  # noqa: S608 - our own names
        before = held(path, there)
        try:
            damage(path, f"UPDATE {table} SET {column} = {value} WHERE {where}")  # noqa: S608 - as above
        except sqlite3.IntegrityError:
            return None
        return path if held(path, there) != before else None

    return into


def answers(path, episode):
    """Ask what people ask, which meets with no fault of ours; return the exit codes."""
    found = {}
    asked = (
        "ls",
        "verify --all",
        f"show {episode}",
        f"why {episode}",
        "audit actions --tool cancel_order",
        "audit actions",
        "audit violations",
        "db check",
    )
    for question in asked:
        name, *rest = question.split()
        result = CliRunner().invoke(main, [name, *rest, "--db", str(path)], prog_name="spectrace")
        assert "inside spectrace" not in result.stderr, (question, result.stderr)
        found[question if name == "audit" else name] = result.exit_code
    return found


def verdicts(path):
    with open_reader(str(path)) as reader:
        names = [one.episode for one in reader.episodes(Filters(), lost=[])]
        return {one.episode: (one.result, one.first_bad_seq) for one in verify_all(reader.store, names, jobs=1)}


@pytest.mark.slow
@pytest.mark.parametrize("column", EVENT_COLUMNS)
def test_an_odd_value_in_an_event_is_that_events_damage_and_no_other_episodes(put, original, column):
    _, (first, second) = original
    for value in ODD.values():
        path = put("events", column, value)
        if path is None:
            continue
        found = verdicts(path)

        assert found[second] == (CONSISTENT, None), value
        if column not in UNCOVERED:
            assert found[first] == (INVALID, SEQ), value
        codes = answers(path, first)
        assert codes["ls"] == 0, value
        assert {codes[name] for name in ("show", "why", "audit actions")} <= {0, 3}, value
        assert codes["audit violations"] in {0, 1, 3}, value  # what cannot have happened may break a rule


@pytest.mark.slow
@pytest.mark.parametrize("column", ROW_COLUMNS)
def test_an_odd_value_in_an_episodes_row_hides_neither_it_nor_another(put, original, column):
    second = original[1][1]
    for value in ODD.values():
        path = put("episodes", column, value)
        if path is None:
            continue
        found = verdicts(path)

        assert len(found) == 2, value
        assert found[second] == (CONSISTENT, None), value
        assert answers(path, second)["db"] == 1 or column in UNSEEN, value


def test_an_episode_with_an_impossible_number_is_listed_and_invalid(put, original):
    _, (first, second) = original
    path = put("episodes", "number", "9223372036854775807")

    assert verdicts(path) == {first: (INVALID, 0), second: (CONSISTENT, None)}


@pytest.mark.parametrize("value", ["9223372036854775807", "-5000000000000000000", "'soon'"])
def test_an_episode_is_listed_and_verified_whatever_its_row_says_of_its_start(put, original, value):
    _, ids = original
    path = put("episodes", "started_at", value)

    assert set(verdicts(path)) == set(ids)
    with open_reader(str(path)) as reader:
        assert {deed.episode for deed in reader.actions()} == set(ids)
