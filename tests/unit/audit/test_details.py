"""One event in full."""

from spectrace.audit.details import detail
from spectrace.audit.queries import Reader
from spectrace.store.erasing import Order, erase
from spectrace.store.erasing_plan import Named
from spectrace.store.sql import open_store
from tests.shop_log import recorded


def test_an_event_is_told_as_people_read_it_and_as_it_lies(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    episode = recorded(store)
    event, stored = next(iter(store.read(episode, 1, 2))), next(iter(store.stored(episode, 1, 2)))
    found = detail(event, stored)
    store.close()

    assert (found.seq, found.type, found.erased, found.erasure) == (1, "reset.requested", False, None)
    assert found.stored_body == stored.body.decode()


def test_an_erased_event_names_its_record(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    episode = recorded(store)
    done = erase(store, Named(((episode, None),)), Order("Ann", "why"))
    with Reader(store) as reader:
        one, every = reader.event(episode, 3), list(reader.details(episode))

    assert (one.erased, one.body, one.erasure.record) == (True, "null", done.records[0])
    assert every[3] == one
    assert all(each.erasure is not None for each in every)
