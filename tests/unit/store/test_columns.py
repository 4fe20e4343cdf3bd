import sqlite3

import pytest

from spectrace.store import tables
from spectrace.store.columns import COLUMNS, MOST, refuse_odd, whole_number
from spectrace.store.rows import Damage
from spectrace.store.sql import open_store
from tests.damage import damage
from tests.shop_log import recorded

SOUND = (1 << 20, 1, None, "", 1, 0, None, None, None, 102, b"x", b"s", b"l")


def with_(name, value):
    row = list(SOUND)
    row[COLUMNS.index(name)] = value
    return tuple(row)


def test_the_columns_are_those_of_the_table():
    assert tuple(tables.events.columns.keys()) == COLUMNS


def test_what_a_writer_writes_passes():
    refuse_odd([SOUND, with_("tool", 3), with_("outcome", "ok"), with_("at", -1)])


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("at", "soon", "its column 'at' holds str ('soon') where int belongs"),
        ("lane", b"\xff", "its column 'lane' holds bytes (b'\\xff') where str belongs"),
        ("salt", 1.5, "its column 'salt' holds float (1.5) where bytes or NULL belongs"),
        ("at", MOST, f"its time {MOST} is out of range"),
        ("version", -1, "its version -1 or"),
    ],
)
def test_what_no_writer_writes_is_named(name, value, said):
    with pytest.raises(Damage) as error:
        refuse_odd([SOUND, with_(name, value)])

    assert said in str(error.value)


@pytest.mark.parametrize(
    ("value", "number"), [(7, 7), (-7, -7), (1 << 62, MOST), (-(1 << 62), 0), ("7", 0), (None, 0), (1.5, 0)]
)
def test_a_number_that_nothing_guards_is_made_one(value, number):
    assert whole_number(value) == number


def test_a_text_that_is_no_utf8_is_named_and_leaves_the_rows_before_it_readable(tmp_path):
    path = tmp_path / "log.db"
    store = open_store(str(path))
    episode = recorded(store)
    store.close()
    damage(path, "UPDATE events SET lane = CAST(x'fffe' AS TEXT) WHERE key & 1048575 = 5")
    store = open_store(str(path), read_only=True)

    assert [event.seq for event in store.read(episode, 0, 5)] == [0, 1, 2, 3, 4]
    with pytest.raises(Damage, match=r"event 5 of .* its column 'lane' holds bytes"):
        list(store.log.batches(store.log.number(episode), 0))
    store.close()


def test_another_error_of_the_driver_is_raised_as_it_is(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    with store.database._read_engine.connect() as connection, pytest.raises(sqlite3.OperationalError, match="syntax"):
        store.log._ask(connection, "SELEC", ())
    store.close()
