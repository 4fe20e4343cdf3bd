import pytest
import sqlalchemy as sa

from spectrace.store.erasing import Order, erase
from spectrace.store.erasing_plan import Named
from spectrace.store.projected import differences
from spectrace.store.projections import VERSION
from spectrace.store.sql import open_store
from spectrace.store.upkeep import rebuild
from tests.copies import made_once
from tests.damage import past_the_triggers
from tests.shop_log import recorded


def one_episode(url):
    store = open_store(url)
    episode = recorded(store)
    store.close()
    return episode


@pytest.fixture
def log(database_url):
    episode = made_once(database_url, one_episode)
    store = open_store(database_url)
    yield store, episode
    store.close()


def change(url, statement):
    store = open_store(url)
    with store.database.writing(durable=False) as connection:
        connection.execute(sa.text(statement))
    store.close()


def test_rows_as_they_were_made_agree_with_the_events(log):
    assert differences(*log) is None


def test_an_episode_that_was_not_ended_has_a_summary_only(database_url):
    store = open_store(database_url)
    episode = recorded(store)
    started = next(store.read(episode))
    store.create("open", started.body, started.at).close()

    assert differences(store, "open") is None
    store.close()


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            "UPDATE actions SET outcome = 'never' WHERE position = 's3.1'",
            "actions s3.1 has outcome 'never', by its events 'ok'",
        ),
        ("UPDATE summaries SET writes = writes + 1", "summaries has writes"),
        ("UPDATE segments SET decision = 'none' WHERE segment = 1", "segments 1 has decision 'none'"),
        ("DELETE FROM segments WHERE segment = 1", "segments 1 is missing"),
        ("DELETE FROM summaries", "summaries is missing"),
        ("UPDATE search SET text = 'nothing'", "search has text 'nothing', by its events"),
        ("UPDATE actions SET position = 's9.9' WHERE position = 's3.1'", "actions s9.9 is one too many"),
    ],
)
def test_what_a_row_says_otherwise_than_the_events_is_named(log, database_url, statement, said):
    change(database_url, statement)

    assert said in differences(*log)


def test_rebuilding_puts_it_right(log, database_url):
    change(database_url, "UPDATE actions SET outcome = 'never'")
    assert differences(*log)
    rebuild(database_url)

    assert differences(*log) is None


def test_rows_of_another_version_and_events_that_cannot_be_read_are_left_to_others(log, database_url):
    change(database_url, "UPDATE summaries SET projection = 1, writes = 99")
    older = differences(*log)
    change(database_url, "UPDATE summaries SET projection = 4")
    assert (VERSION, "summaries has writes 99" in differences(*log)) == (4, True)
    with past_the_triggers(database_url) as connection:
        connection.execute(sa.text("UPDATE events SET payload = :payload"), {"payload": b"\0"})
        connection.commit()

    assert (older, differences(*log)) == (None, None)


@pytest.mark.parametrize("seq", [0, 5, None])
def test_of_an_erased_episode_the_rows_say_what_is_left_of_it(log, database_url, seq):
    store, episode = log
    erase(store, Named(((episode, seq),)), Order())
    before = differences(store, episode)
    change(database_url, "UPDATE summaries SET status = 'forged'")

    assert before is None
    assert "summaries has status 'forged'" in differences(store, episode)
