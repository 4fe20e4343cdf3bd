"""Faults are made in the database, below the store: what a person with write access to the file could do."""

import shutil
import sqlite3

import pytest

from spectrace.audit.integrity import (
    CONSISTENT,
    INVALID,
    KNOWN_BLOBS,
    Verifier,
    VerifyResult,
    verify_episode,
    whole_blobs,
)
from spectrace.core.digest import header_bytes, next_link
from spectrace.core.events import ResetRequested
from spectrace.errors import EpisodeNotFound
from spectrace.store.event_store import Pending
from spectrace.store.memory import MemoryEventStore
from spectrace.store.samples import sample_episode
from spectrace.store.sql import open_store
from tests.shop_log import recorded


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    path = tmp_path_factory.mktemp("original") / "log.db"
    store = open_store(str(path))
    episode = recorded(store)
    store.close()
    return path, episode


@pytest.fixture
def path(original, tmp_path):
    return shutil.copy(original[0], tmp_path / "log.db")


@pytest.fixture
def written(original):
    return original[1]


SEQ = "(key & 1048575)"


def tamper(path, *statements, **given):
    """Change the file as somebody would who has it: triggers dropped first."""
    connection = sqlite3.connect(path)
    for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        words = statement.replace("AT ", f"{SEQ} = ").replace("AFTER ", f"{SEQ} > ")
        assert connection.execute(words, given).rowcount >= 1, words
    connection.commit()
    connection.close()


def verified(path, episode) -> VerifyResult:
    store = open_store(str(path), read_only=True)
    try:
        return verify_episode(store, episode)
    finally:
        store.close()


def test_an_untouched_episode_is_consistent_to_its_last_event(path, written):
    assert verified(path, written) == VerifyResult(
        written, CONSISTENT, 46, None, 45, "whole, from its start to its end"
    )


def test_memory_is_checked_alike():
    store = MemoryEventStore()
    episode = recorded(store)

    assert verify_episode(store, episode).result == CONSISTENT


@pytest.mark.parametrize(
    ("change", "seq", "words"),
    [
        ("UPDATE events SET at = at + 1 WHERE AT 20", 20, "is not the one that was recorded"),
        ("UPDATE events SET outcome = 'error' WHERE AT 20", 20, "is not the one that was recorded"),
        ("UPDATE events SET authority = 'person:me' WHERE AT 20", 20, "is not the one that was recorded"),
        ("UPDATE events SET tool = NULL WHERE AT 20", 20, "is not the one that was recorded"),
        ("UPDATE events SET lane = '0' WHERE AT 20", 20, "is not the one that was recorded"),
        ("UPDATE events SET type = 10, effect = 'write' WHERE AT 20", 20, "is not the one that was recorded"),
        ("UPDATE events SET salt = zeroblob(16) WHERE AT 20", 20, "is not the one that was recorded"),
        ("UPDATE events SET link = zeroblob(32) WHERE AT 20", 20, "the chain has 0000"),
        ("UPDATE events SET codec = 0, payload = x'7b7d' WHERE AT 20", 20, "is not the one that was recorded"),
        ("UPDATE events SET payload = zeroblob(40) WHERE AT 20", 20, "altered or damaged"),
        ("UPDATE events SET payload = NULL, salt = NULL WHERE AT 20", 20, "no erasure of it is on record"),
        ("DELETE FROM events WHERE AT 20", 20, "event 20 is missing: event 21 follows event 19"),
        ("DELETE FROM events WHERE AT 0", 0, "event 0 is missing"),
        ("DELETE FROM events WHERE AT 45", 45, "46 events by its own row, 45 are there"),
        ("UPDATE episodes SET head = zeroblob(32)", 45, "the episode's head is 0000"),
        ("UPDATE episodes SET ended_at = NULL", 45, "row says open"),
        ("UPDATE episodes SET events = 40", 46, "40 events by its own row, 46 are there"),
    ],
)
def test_a_change_is_found_at_its_event(path, written, change, seq, words):
    tamper(path, change)

    found = verified(path, written)

    assert (found.result, found.first_bad_seq, words in found.detail) == (INVALID, seq, True), found.detail


def test_what_stands_before_the_change_is_covered(path, written):
    tamper(path, "UPDATE events SET at = at + 1 WHERE AT 20")

    assert verified(path, written).covered_to == 19


def test_an_altered_text_is_found_where_it_is_first_used(path, written):
    tamper(path, "UPDATE blobs SET codec = 0, bytes = x'00'")

    found = verified(path, written)

    assert (found.result, found.first_bad_seq, "other bytes than its name" in found.detail) == (INVALID, 0, True)


def test_a_missing_text_is_found(path, written):
    tamper(path, "DELETE FROM blobs")

    found = verified(path, written)

    assert (found.result, "missing from the database" in found.detail) == (INVALID, True)


def test_a_cut_end_does_not_pass_for_an_interrupted_episode(path, written):
    tamper(path, "DELETE FROM events WHERE AFTER 40", "UPDATE episodes SET events = 41, ended_at = NULL")

    found = verified(path, written)

    assert (found.result, "head" in found.detail) == (INVALID, True)


def rewritten(path, episode):
    """Alter the last event and the head with it, as somebody who knows the chain could."""
    store = open_store(str(path), read_only=True)
    *_, before, last = store.stored(episode)
    (*_, event) = store.read(episode)
    store.close()
    header = header_bytes(
        episode, event.seq, "", event.type, event.version, event.at + 1, None, None, event.body.outcome, None
    )
    link = next_link(before.link, header, last.salt, last.body)
    tamper(
        path,
        "UPDATE events SET at = at + 1, link = :link WHERE AT 45",
        "UPDATE episodes SET head = :link",
        link=link,
    )


def test_a_log_rewritten_with_its_chain_is_consistent_which_is_why_that_is_no_proof(path, written):
    rewritten(path, written)

    assert verified(path, written).result == CONSISTENT


def test_a_prefix_left_by_a_dead_writer_is_consistent_and_names_what_was_never_answered():
    store = MemoryEventStore()
    events = list(store.read(recorded(store)))
    writer = store.create("cut", events[0].body, events[0].at)
    writer.append([Pending(one.seq, one.lane, one.at, one.body) for one in events[1:31]], durable=True)
    writer.close()

    found = verify_episode(store, "cut")

    assert (found.result, found.covered_to) == (CONSISTENT, 30)
    assert found.detail == "its writer is gone: a prefix without an end; never answered: event 30 (act.requested)"


def test_an_answer_to_nothing_is_found():
    store = MemoryEventStore()
    events = list(store.read(recorded(store)))
    writer = store.create("odd", events[0].body, events[0].at)
    writer.append([Pending(1, "", 0, events[2].body)], durable=True)

    found = verify_episode(store, "odd")

    assert (found.result, found.first_bad_seq, "no open reset.requested" in found.detail) == (INVALID, 1, True)


def test_what_follows_the_end_is_found():
    store = MemoryEventStore()
    events = list(store.read(recorded(store)))
    writer = store.create("odd", events[0].body, events[0].at)
    writer.append([Pending(1, "", 0, events[-1].body), Pending(2, "", 0, events[1].body)], durable=True)

    found = verify_episode(store, "odd")

    assert (found.result, found.first_bad_seq, "follows the end" in found.detail) == (INVALID, 2, True)


def test_an_episode_that_is_not_there_is_an_error_not_a_result(path, written):
    with pytest.raises(EpisodeNotFound):
        verified(path, "nothing")


def test_texts_known_beforehand_change_no_result(path, written):
    def result(*, beforehand):
        store = open_store(str(path), read_only=True)
        verifier = Verifier(store)
        if beforehand:
            for within in store.log.blob_ranges(KNOWN_BLOBS):
                verifier.know(whole_blobs(store.log.small_blobs(within)))
        try:
            return verifier.verify(written)
        finally:
            store.close()

    assert result(beforehand=True) == result(beforehand=False) == verified(path, written)
    tamper(path, "UPDATE blobs SET codec = 0, bytes = x'41' WHERE rowid = 2")
    assert result(beforehand=True) == result(beforehand=False)
    assert result(beforehand=True).result == INVALID


class Growing(MemoryEventStore):
    """A log whose episode gains an event between the reading of its row and of its events, again and again."""

    def __init__(self):
        super().__init__()
        self.writer = None

    def links(self, episode):
        if self.writer is not None:
            seq = super().row(episode).events
            self.writer.append([Pending(seq, "", 1, ResetRequested(seed=seq))], durable=False)
        return super().links(episode)


def test_an_episode_that_grows_while_it_is_read_is_whole_up_to_where_it_was():
    store = Growing()
    store.writer = store.create("ep1", sample_episode(1)[0], 1)
    found = [verify_episode(store, "ep1") for _ in range(3)]

    assert [(one.result, one.events) for one in found] == [(CONSISTENT, count) for count in (1, 2, 3)]
