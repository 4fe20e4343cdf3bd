"""The frame: routing, and what is said when the log cannot be read."""

import sqlite3

import pytest

from spectrace.store.sql import open_store
from tests.viewer.conftest import Draw
from tests.viewer.test_episodes import texts

pytestmark = pytest.mark.slow


def test_a_log_that_is_not_there_yet_is_explained(draw: Draw, tmp_path):
    page = draw(tmp_path / "none.db")

    assert "There is no log here yet" in texts(page)
    assert "There is no database" in texts(page)
    assert not (tmp_path / "none.db").exists()


def test_a_file_that_is_no_log_is_explained(draw: Draw, tmp_path):
    (tmp_path / "notes.db").write_text("dear diary, " * 200)

    shown = texts(draw(tmp_path / "notes.db"))

    assert "The log cannot be read" in shown
    assert "file is not a database" in shown


def test_a_log_of_a_newer_schema_says_what_to_install(draw: Draw, tmp_path):
    path = tmp_path / "newer.db"
    open_store(str(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()

    page = draw(path)

    assert "This log was written by a newer spectrace" in texts(page)
    assert [one.value for one in page.code] == ["pip install --upgrade spectrace"]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ({"episode": "nope"}, "No episode has the id or prefix 'nope'"),
        ({"episode": ""}, "must name one episode, it names 0"),
        ({"episode": ["a", "b"]}, "must name one episode, it names 2"),
        ({"episode": "ID", "event": "999"}, "names event 999; this episode has the events 0 to"),
        ({"episode": "ID", "event": "-1"}, "names event -1;"),
        ({"episode": "ID", "event": "abc"}, "names event abc;"),
        ({"episode": "ID", "event": "٣"}, "names event ٣;"),
        ({"episode": "ID", "event": "9" * 5_000}, "names event 999"),
        ({"episode": "ID", "event": ["1", "2"]}, "must name one event, it names 2"),
    ],
)
def test_a_link_that_leads_nowhere_says_why_and_shows_no_episode(draw: Draw, shop, address, said):
    address = {name: shop[1]["rejected"] if value == "ID" else value for name, value in address.items()}

    page = draw(shop[0], **address)

    assert said in texts(page)
    assert (len(page.dataframe), len(page.exception)) == (0, 0)


def test_the_beginning_of_an_id_opens_no_episode(draw: Draw, shop):
    page = draw(shop[0], episode=shop[1]["rejected"][:8])

    assert f"one that begins so is {shop[1]['rejected']}" in texts(page)
    assert len(page.dataframe) == 0


def test_a_link_to_an_event_of_an_episode_opens_that_event(draw: Draw, shop):
    page = draw(shop[0], episode=shop[1]["rejected"], event=10)

    assert "#10  verdict.given" in texts(page)


def test_the_way_home_leads_to_the_list(draw: Draw, shop):
    page = draw(shop[0], episode=shop[1]["rejected"], event=10)

    page.button(key="home").click().run()

    assert page.query_params == {}
    assert "3 episodes" in texts(page)


def test_looking_at_a_log_never_alters_it(draw: Draw, shop):
    log, ids = shop
    before = log.read_bytes()

    draw(log)
    draw(log, episode=ids["rejected"], event=10)

    assert log.read_bytes() == before
