import pytest

from spectrace.errors import EpisodeNotFound
from spectrace.store import log
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.sql import open_store
from tests.damage import damage

BODIES = sample_episode(1)


@pytest.fixture
def store(database_url):
    opened = open_store(database_url)
    writer = opened.create("ep1", BODIES[0], EPOCH_US)
    writer.append(pending(BODIES)[1:], durable=False)
    writer.close()
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(log, "_LINKS", 7)


def test_a_link_is_what_the_chain_covers_of_a_stored_event(store):
    stored = [(one.seq, one.header, one.body, one.salt, one.link) for one in store.stored("ep1")]
    found = [link for links in store.links("ep1") for link in links]

    assert [(seq, *rest) for seq, _, *rest in found] == stored
    assert [type_ for _, type_, *_ in found] == [body.TYPE for body in BODIES]


def test_links_are_given_up_to_one_that_cannot_be_read(store):
    if store.database.sqlite:
        damage(store.database.path, "UPDATE events SET payload = zeroblob(40) WHERE key & 1048575 = 10")
        found = []

        with pytest.raises(log.StoreError, match=r"event 10 of ep1 cannot be read: .* altered or damaged"):
            found.extend(link for links in store.links("ep1") for link in links)
        assert [link[0] for link in found] == list(range(10))


def test_a_header_that_holds_bytes_is_damage(store):
    if store.database.sqlite:
        damage(store.database.path, "UPDATE events SET lane = x'00' WHERE key & 1048575 = 10")
        found = []

        with pytest.raises(log.StoreError, match=r"event 10 of ep1 cannot be read: a column of its header"):
            found.extend(link for links in store.links("ep1") for link in links)
        assert [link[0] for link in found] == list(range(10))


def test_links_of_an_unknown_episode_name_it(store):
    with pytest.raises(EpisodeNotFound, match="no episode 'ep2'"):
        list(store.links("ep2"))
