"""Every stored body, as it lies."""

from spectrace.store.bodies import Stored, all_bodies, names_in, rows, still_named, unpacked
from spectrace.store.sql import open_store
from spectrace.store.statements import key
from tests.shop_log import recorded


def test_the_bodies_of_a_log_come_in_the_order_of_their_keys(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    episode = recorded(store)
    stored = list(store.stored(episode))
    found = [one for one in all_bodies(store.database) if one.number > 0]
    part = list(all_bodies(store.database, key(1, 3), key(1, 5)))
    store.close()

    assert found == [Stored(1, one.seq, one.body) for one in stored]
    assert part == found[3:5]


def test_the_rows_of_a_range_have_their_salts(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    episode = recorded(store)
    with store.database.reading() as connection:
        found = rows(connection, key(1, 0), key(1, 2))
    stored = list(store.stored(episode, 0, 2))
    store.close()

    assert [(row[3], unpacked(row[1], row[2])) for row in found] == [(one.salt, one.body) for one in stored]


def test_what_cannot_be_unpacked_comes_as_it_lies():
    assert unpacked(102, b"no frame") == b"no frame"
    assert unpacked("none", "text") == b"text"


def test_references_are_found_however_they_are_written():
    name = "ab" * 32

    assert names_in(b'{"a":{"$blob":"sha256:%b"}}' % name.encode()) == {bytes.fromhex(name)}
    assert names_in(b'{"a": {"codec": "utf-8", "$blob": "sha256:%b"}}' % name.encode()) == {bytes.fromhex(name)}
    assert names_in(b'{"a": "\\"$blob\\""}') == set()
    assert names_in(b'"$blob" and no JSON') == set()


def test_of_some_texts_those_are_told_that_are_still_named():
    one, other = bytes(32), bytes([1]) * 32
    body = b'{"a":{"$blob":"sha256:%b"}}' % one.hex().encode()

    assert still_named([Stored(1, 0, body), Stored(1, 1, b"{}")], {one, other}) == {one}
