"""A log that nobody tampered with is valid given its checkpoint, on both databases, whatever is done to it as allowed.

And never without one: then the answer is `consistent`, and the exit code says as much.
"""

import pytest

from spectrace.store.copying import copy_log
from spectrace.store.erasing import Order, erase
from spectrace.store.erasing_plan import Named
from spectrace.store.migrate import upgrade
from spectrace.store.sql import open_store
from spectrace.store.upkeep import rebuild
from tests.migrations.populated import REVISIONS, fill_postgres, sqlite_file
from tests.tampering.recorded_log import EPISODES, Kept, kept, more, signed
from tests.tampering.trust import verified

pytestmark = pytest.mark.slow

FEW = 24


@pytest.fixture
def log(tmp_path_factory, tmp_path, database_url) -> Kept:
    """The log of a few episodes, on SQLite and on Postgres."""
    small = kept(tmp_path_factory, FEW)
    if database_url.startswith("sqlite"):
        return small.copy(tmp_path / "log.db")
    return small.copied_to(database_url, tmp_path / "note")


def test_it_is_valid_with_the_checkpoint_and_consistent_without(log):
    answer = verified(log.url, log.trusted)
    without = verified(log.url, None)

    assert (answer.code, answer.results) == (0, {"valid"})
    assert (without.code, without.results) == (0, {"consistent"})


def test_so_are_a_thousand_episodes(tmp_path_factory):
    big = kept(tmp_path_factory, EPISODES)
    answer = verified(big.url, big.trusted)

    assert (answer.code, answer.results) == (0, {"valid"})
    assert len(answer.items) >= EPISODES


def test_it_stays_valid_when_more_is_recorded_and_an_old_episode_goes_on_being_what_was_signed(log, tmp_path):
    before = {item["episode"] for item in verified(log.url, log.trusted).items}
    added, trusted = more(log, tmp_path / "later")
    old = {item["episode"]: item["result"] for item in verified(log.url, log.trusted).items}
    new = verified(log.url, trusted)

    assert {old[episode] for episode in before} == {"valid"}
    assert {old[episode] for episode in added} == {"consistent"}
    assert new.results == {"valid"}


def test_it_stays_valid_after_events_are_erased_under_a_record(log):
    store = open_store(log.url)
    episodes = [item["episode"] for item in verified(log.url, log.trusted).items]
    chosen = [episode for episode in episodes if not episode.startswith("admin-")][-3:]
    erase(store, Named(tuple((episode, None) for episode in chosen)), Order("ana", "asked for"))
    store.close()

    assert verified(log.url, log.trusted).results == {"valid"}


def test_a_copy_of_it_is_valid_by_the_checkpoint_of_what_it_was_copied_from(log, tmp_path):
    source, target = open_store(log.url, read_only=True), open_store(str(tmp_path / "copy.db"))
    copy_log(source, target)
    names = [item["episode"] for item in verified(log.url, log.trusted).items]
    source.close()
    target.close()
    found = {
        item["episode"]: item["result"] for item in verified(f"sqlite:///{tmp_path / 'copy.db'}", log.trusted).items
    }

    assert [(found[name], name) for name in names if found[name] != "valid"] == []


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_log_of_every_past_revision_is_valid_once_it_is_upgraded_and_signed(revision, database_url, tmp_path):
    if database_url.startswith("sqlite"):
        sqlite_file(revision, tmp_path / "log.db")
    else:
        fill_postgres(revision, database_url)
    upgrade(database_url, backup=False)
    rebuild(database_url, old=True)  # as `db upgrade` does
    store = open_store(database_url)
    trusted = signed(store, tmp_path / "note")
    store.close()
    before = verified(database_url, trusted)
    upgrade(database_url, backup=False)

    assert before.named == verified(database_url, trusted).named == {}
    assert before.results == {"valid"}
