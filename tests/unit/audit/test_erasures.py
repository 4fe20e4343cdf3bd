"""Erased events in words."""

import pytest

from spectrace.audit.erasures import erased_seqs, erased_words, numbers, on_record, record_words
from spectrace.store.erasing import Order, erase
from spectrace.store.erasing_plan import Named
from spectrace.store.sql import open_store
from tests.shop_log import recorded


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "log.db"))
    yield opened
    opened.close()


def test_which_events_by_which_record_and_by_whose_order(store):
    episode = recorded(store)
    erase(store, Named(((episode, 30),)), Order("Ann", None))
    seqs = erased_seqs(store.read(episode))
    words, told = erased_words(store, episode, seqs)
    record = on_record(store, episode, seqs)[seqs[0]]

    assert told == set(seqs)
    assert words.startswith(f"events {numbers(episode, seqs)} of {episode} are erased, as is on record in admin-")
    assert record_words(record) in words
    assert words.endswith(", ordered by Ann)")


def test_without_a_record_nothing_is_said(store):
    episode = recorded(store)

    assert erased_words(store, episode, [3]) == (None, set())
    assert erased_words(store, episode, []) == (None, set())


def test_numbers_are_ranges_and_many_are_counted():
    assert numbers("e", [1, 2, 3, 7]) == "1-3, 7"
    assert numbers("e", range(0, 40, 2)) == "0, 2, 4, 6, 8, 10, 12, 14 and 12 more"
