"""One episode of a log: what its record holds gives a result, and only the user's own words are opened."""

import asyncio
import sqlite3

import pytest

from spectrace.audit.queries import Reader
from spectrace.cli.replay_episodes import checked, protocol_in, replayed
from spectrace.core.specagent import SpecAgent
from spectrace.errors import EpisodeNotFound
from spectrace.store.sql import open_store


@pytest.fixture
def reader(episode):
    with Reader(open_store("spectrace.db", read_only=True)) as found:
        yield found


def test_the_protocol_of_an_episode_is_read_with_the_options_given(reader, episode):
    assert protocol_in(reader, episode, ["k=2"]) == SpecAgent(k=2)


def test_a_protocol_that_cannot_be_followed_is_none(reader, episode):
    assert protocol_in(reader, episode, ["guesses=2"]) is None


def test_an_episode_that_is_not_there_is_no_result(reader):
    with pytest.raises(EpisodeNotFound):
        asyncio.run(replayed(reader, "nobody"))


def test_a_record_that_cannot_be_read_is_untestable_in_every_manner(episode):
    connection = sqlite3.connect("spectrace.db")
    connection.execute("DELETE FROM blobs")
    connection.commit()
    connection.close()
    with Reader(open_store("spectrace.db", read_only=True)) as reader:
        result = asyncio.run(replayed(reader, episode, live=True))
        looked = asyncio.run(checked(reader, episode, prompts=None, options=(), env=None))

    assert [result.result, looked.checked.result] == ["untestable", "untestable"]
