"""Episodes of which something is erased, on the pages."""

import asyncio

import pytest

from spectrace.store.erasing import Order, erase
from spectrace.store.erasing_plan import Named
from spectrace.store.sql import open_store
from tests.episodes import record_shop
from tests.viewer.conftest import Draw
from tests.viewer.test_episodes import texts


@pytest.fixture
def log(tmp_path):
    """A log with an episode of which one event (and what repeats it), and one of which everything is erased."""
    store = open_store(str(tmp_path / "log.db"))
    part, whole = (asyncio.run(record_shop(store)).episode for _ in range(2))
    seq = [event.seq for event in store.read(part) if event.type == "act.completed"][1]
    erase(store, Named(((part, seq), (whole, None))), Order("Ann", None))
    store.close()
    return tmp_path / "log.db", part, seq, whole


def test_the_list_names_it(draw: Draw, log):
    page = draw(log[0])

    assert not page.exception
    assert "(erased)" in str([table.value.to_dict() for table in page.dataframe])


def test_an_event_says_by_which_record(draw: Draw, log):
    path, part, seq, _ = log
    page = draw(path, episode=part, event=str(seq))
    shown = texts(page)

    assert not page.exception
    assert "The body was erased; header and link still prove that the event was there." in shown
    assert "ordered by Ann" in shown


def test_an_episode_of_which_everything_is_erased_is_told_as_far_as_headers_do(draw: Draw, log):
    path, _, _, whole = log
    page = draw(path, episode=whole)

    assert not page.exception
    assert "are erased, as is on record in admin-" in texts(page)


def test_what_is_erased_while_the_page_is_open_is_gone_from_it(draw: Draw, tmp_path):
    store = open_store(str(tmp_path / "open.db"))
    episode = asyncio.run(record_shop(store)).episode
    before = texts(draw(tmp_path / "open.db", episode=episode))
    seq = [event.seq for event in store.read(episode) if event.type == "act.completed"][1]
    erase(store, Named(((episode, seq),)), Order())
    store.close()
    after = texts(draw(tmp_path / "open.db", episode=episode))

    assert "W200 of C11, open" in before
    assert "W200 of C11, open" not in after
