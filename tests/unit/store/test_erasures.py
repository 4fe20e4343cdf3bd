"""What the records of erasures say."""

import pytest

from spectrace.core.admin_events import ErasedRange
from spectrace.store.erasing import Order, erase
from spectrace.store.erasing_plan import Named
from spectrace.store.erasures import covered, logs_of, proofs, ranges, ranges_in, record_of, records
from spectrace.store.sql import open_store
from tests.shop_log import recorded


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "log.db"))
    yield opened
    opened.close()


def test_a_record_is_found_by_what_it_covers(store):
    episode, other = recorded(store), recorded(store)
    done = erase(store, Named(((episode, None),)), Order("Ann", "why"))
    (one,) = records(store)
    known = covered([one])

    assert one.record == done.records[0]
    assert one.by.endswith(", ordered by Ann")
    assert record_of(known, episode, 0) == one
    assert record_of(known, other, 0) is None
    assert record_of(known, episode, 10**6) is None


def test_proofs_are_those_of_one_episode(store):
    recorded(store)
    episode = recorded(store)
    erase(store, Named(((episode, None),)), Order())
    with store.database.reading() as connection:
        found = [proofs(connection, number) for number in (1, 2)]

    assert found[0] == {}
    assert sorted(found[1]) == list(range(store.row(episode).events))
    assert {len(one) for one in found[1].values()} == {32}


def test_the_logs_that_speak_of_an_episode_are_named(store):
    episode, other = recorded(store), recorded(store)
    erase(store, Named(((episode, None),)), Order())

    assert logs_of(store, [episode, other]) == list(store.administrative())
    assert logs_of(store, [other]) == []


def test_events_are_ranges_in_their_order():
    assert ranges("e", [5, 1, 2, 2, 3]) == [ErasedRange("e", 1, 3), ErasedRange("e", 5, 5)]
    assert ranges("e", []) == []


@pytest.mark.parametrize("body", [b"no JSON", b"[]", b"{}", b'{"events":3}', b'{"events":[{"episode":1}]}'])
def test_of_a_record_that_is_none_nothing_is_believed(body):
    assert ranges_in(body) == []


def test_a_records_bytes_say_what_it_covers():
    assert ranges_in(b'{"events":[{"episode":"e","first":1,"last":2}]}') == [("e", 1, 2)]
