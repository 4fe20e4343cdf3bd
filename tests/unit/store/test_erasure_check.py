"""Whether erased events, their proofs and their records fit together."""

import pytest

from spectrace.store.copying import copy_log
from spectrace.store.erasing import Order, erase
from spectrace.store.erasing_plan import Named
from spectrace.store.erasure_check import problems
from spectrace.store.sql import open_store
from tests.damage import damage
from tests.shop_log import recorded


@pytest.fixture
def path(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    first, _ = recorded(store), recorded(store)
    erase(store, Named(((first, None),)), Order())
    store.close()
    return tmp_path / "log.db"


def found(path):
    store = open_store(str(path), read_only=True)
    with store.database.reading() as connection:
        said = problems(connection)
    store.close()
    return said


def test_an_erasure_on_record_is_sound(path):
    assert found(path) == (None, None)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE events SET payload = NULL, salt = NULL WHERE key = 2 << 20 | 3", "are erased without a record of it"),
        ("UPDATE events SET payload = NULL, salt = NULL WHERE key = 2 << 20 | 3", ":3 are erased without a proof"),
        ("DELETE FROM erasures WHERE key = 1 << 20 | 2", ":2 are erased without a proof of what they were"),
        ("INSERT INTO erasures VALUES (2 << 20 | 4, zeroblob(32))", ":4 have a proof of their erasure and are not"),
        ("INSERT INTO erasures VALUES (9 << 20, zeroblob(32))", "?:0 have a proof of their erasure"),
        (
            "UPDATE events SET payload = x'00', salt = zeroblob(16) WHERE key = 1 << 20 | 5",
            ":5 were erased by this database's own records and are here",
        ),
        ("PRAGMA user_version = 1", "free pages may still hold them"),
    ],
)
def test_what_does_not_fit_is_named(path, statement, words):
    damage(path, statement)

    assert words in found(path)[0]


def test_what_was_copied_before_it_was_erased_is_worth_knowing_and_no_damage(tmp_path, path):
    source, target = open_store(str(path)), open_store(str(tmp_path / "copy.db"))
    second = source.resolve(next(row.episode for row in source.log.episodes("number = ?", (2,))))
    copy_log(source, target)
    erase(source, Named(((second, None),)), Order())
    copy_log(source, target)
    source.close()
    target.close()
    problem, note = found(tmp_path / "copy.db")

    assert problem is None
    assert "were erased where they came from, after they were copied" in note
