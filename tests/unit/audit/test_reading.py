import pytest

from spectrace.audit.queries import open_reader
from spectrace.audit.reading import Unread, read_events, require_start, unread
from spectrace.errors import StoreError, UsageError
from spectrace.store.sql import open_store
from tests.copies import made_once
from tests.damage import damage
from tests.shop_log import recorded


def one_episode(url):
    store = open_store(url)
    episode = recorded(store)
    store.close()
    return episode


@pytest.fixture
def log(tmp_path):
    """A database that may be damaged, and its one episode."""
    path = tmp_path / "log.db"
    return path, made_once(f"sqlite:///{path}", one_episode)


def test_an_episode_that_can_be_read_lacks_nothing(log):
    with open_reader(str(log[0])) as reader:
        assert reader.unread(log[1]) == []


def test_a_body_that_is_gone_is_named_with_its_event(log):
    path, episode = log
    damage(path, "UPDATE events SET payload = NULL, salt = NULL WHERE (key & 1048575) = 10")
    with open_reader(str(path)) as reader:
        (found,) = reader.unread(episode)

    assert (found.episode, found.seq) == (episode, 10)
    assert found.detail.startswith(f"event 10 (verdict.given) of {episode} cannot be read: its body is missing. ")


def test_events_that_are_gone_are_named(log):
    path, episode = log
    damage(path, "DELETE FROM events WHERE (key & 1048575) BETWEEN 10 AND 12")
    with open_reader(str(path)) as reader:
        assert reader.unread(episode) == [
            Unread(
                episode,
                None,
                f"events 10, 11, 12 of {episode} are missing. `spectrace verify {episode}` says more.",
            )
        ]


def test_events_at_the_end_are_missed_by_the_episodes_own_count(log):
    path, episode = log
    damage(path, "DELETE FROM events WHERE (key & 1048575) = 45")
    with open_reader(str(path)) as reader:
        assert [one.seq for one in reader.unread(episode)] == [45]


def test_prompts_are_no_part_of_an_account(log):
    path, episode = log
    damage(path, "UPDATE events SET payload = NULL, salt = NULL WHERE (key & 1048575) = 3")
    with open_reader(str(path)) as reader:
        events = reader.events(episode)

        assert unread(episode, events, len(events)) == []
        assert unread(episode, events, len(events), told_from=False)[0].seq == 3


def test_an_event_that_cannot_be_unpacked_is_named(log):
    path, episode = log
    damage(path, "UPDATE events SET payload = x'00112233' WHERE (key & 1048575) = 10")
    with open_reader(str(path)) as reader, pytest.raises(StoreError, match=rf"^event 10 of {episode} cannot be read: "):
        list(read_events(reader.store, episode))


def test_an_episode_without_its_beginning_cannot_be_told(log):
    path, episode = log
    with pytest.raises(StoreError, match="no event is there"):
        require_start(episode, [])
    damage(path, "UPDATE events SET payload = NULL, salt = NULL WHERE (key & 1048575) = 0")
    with open_reader(str(path)) as reader, pytest.raises(StoreError, match=r"body of event 0 \(episode.started\) is"):
        reader.events(episode)


def test_an_administrative_log_is_no_run_and_that_is_said(log):
    with open_reader(str(log[0])) as reader:
        (name,) = reader.administrative()

        with pytest.raises(UsageError, match=rf"{name} is an administrative log, not a run: `spectrace show {name}`"):
            reader.why(name)
