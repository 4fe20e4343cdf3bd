"""`assert_replays` over databases and bundles; what a replay finds is in tests/unit/runs/test_replay.py."""

import hashlib

import pytest
from damage import damage
from shop_log import recorded, reverified

from spectrace.core.prompts import Prompts
from spectrace.errors import EpisodeNotFound, StoreError
from spectrace.store.bundle import pack
from spectrace.store.sql import open_store
from spectrace.testing import accept, assert_replays


@pytest.fixture
def log(tmp_path):
    """A database with two episodes and a re-verification of the first."""
    store = open_store(str(tmp_path / "log.db"))
    episodes = [recorded(store) for _ in range(2)]
    reverified(store, episodes[0], "again", [accept()] * 3)
    store.close()
    return tmp_path / "log.db", episodes


def test_every_episode_of_a_database_is_replayed_children_too(log):
    path, episodes = log
    results = assert_replays(path)

    assert {one.result for one in results} == {"same"}
    assert len(results) == 3
    assert set(episodes) < {one.episode for one in results}


def test_a_bundle_is_replayed_and_left_as_it_is(log, tmp_path):
    path, episodes = log
    store = open_store(str(path), read_only=True)
    pack(store, episodes, tmp_path / "two.zip")
    store.close()
    before = hashlib.sha256((tmp_path / "two.zip").read_bytes()).digest()

    assert len(assert_replays(str(tmp_path / "two.zip"))) == 2
    assert hashlib.sha256((tmp_path / "two.zip").read_bytes()).digest() == before


def test_episodes_are_named_by_their_beginnings(log):
    path, episodes = log

    assert [one.episode for one in assert_replays(path, episodes[1][:8])] == [episodes[1]]
    with pytest.raises(EpisodeNotFound):
        assert_replays(path, "no-such")


def test_what_left_its_record_is_raised_with_the_report(log):
    path, episodes = log
    with pytest.raises(AssertionError) as by_option:
        assert_replays(path, *episodes, options={"fused": False})
    with pytest.raises(AssertionError) as by_prompts:
        assert_replays(path, episodes[0], prompts=Prompts(held="(waits)"))

    assert "2 of 2 episodes did not replay the same." in str(by_option.value)
    assert "/options/fused (recorded True, now False)" in str(by_option.value)
    assert f"{episodes[0]}:" in str(by_prompts.value)
    assert "/prompts/held" in str(by_prompts.value)


def test_what_cannot_be_replayed_fails_unless_it_may(log):
    path, episodes = log
    with pytest.raises(AssertionError, match="untestable"):
        assert_replays(path, episodes[0], options={"k": 0})

    assert assert_replays(path, episodes[0], options={"k": 0}, untestable=True)[0].result == "untestable"


def test_a_damaged_episode_is_told_beside_the_others(log):
    path, episodes = log
    third = f"SELECT (number << 20) + 3 FROM episodes WHERE episode = '{episodes[0]}'"  # noqa: S608 - an id of ours
    damage(path, f"UPDATE events SET payload = x'00' WHERE key = ({third})")  # noqa: S608 - the same

    with pytest.raises(AssertionError, match=f"(?s)2 of 3 episodes.*{episodes[0]}  untestable: "):
        assert_replays(path)


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe no log", b"PK\x03\x04 broken off"])
def test_a_recording_that_cannot_be_read_is_never_one_without_episodes(tmp_path, content):
    path = tmp_path / "recording.zip"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(StoreError):
        assert_replays(path)
    assert (path.read_bytes() if path.exists() else None) == content


def test_a_log_without_episodes_asserts_nothing_and_fails(tmp_path):
    open_store(str(tmp_path / "log.db")).close()

    with pytest.raises(AssertionError, match="holds no episode"):
        assert_replays(tmp_path / "log.db")
