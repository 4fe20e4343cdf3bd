"""Which events may lack their body."""

import pytest

from spectrace.audit.integrity import CONSISTENT, INVALID, Verifier, verify_episode
from spectrace.store.erasing import Order, erase
from spectrace.store.erasing_plan import Named
from spectrace.store.sql import open_store
from tests.damage import damage
from tests.shop_log import recorded

LOG = "(SELECT number FROM episodes WHERE episode LIKE 'admin-%')"


@pytest.fixture
def erased(tmp_path):
    """A log of two episodes, the first of which is erased: its path, both ids."""
    store = open_store(str(tmp_path / "log.db"))
    first, second = recorded(store), recorded(store)
    erase(store, Named(((first, None),)), Order())
    store.close()
    return tmp_path / "log.db", first, second


def verified(path, episode):
    store = open_store(str(path), read_only=True)
    found = verify_episode(store, episode)
    store.close()
    return found


def test_an_erasure_on_record_keeps_the_chain_whole(erased):
    path, first, _ = erased
    found = verified(path, first)

    assert (found.result, found.first_bad_seq) == (CONSISTENT, None)
    assert f"{found.events} of its events erased, as is on record" in found.detail


@pytest.mark.parametrize(
    ("statement", "seq", "words"),
    [
        ("DELETE FROM erasures WHERE key = 1 << 20 | 7", 7, "the proof of what it was is not there"),
        ("UPDATE erasures SET proof = zeroblob(32) WHERE key = 1 << 20 | 7", 7, "is not the one that was recorded"),
        ("UPDATE erasures SET proof = 'text' WHERE key = 1 << 20 | 7", 7, "the proof of what it was is not there"),
        ("DELETE FROM events WHERE key = LOG * (1 << 20) + 1", 0, "no erasure of it is on record"),
        (
            "UPDATE events SET at = at + 1 WHERE key = LOG * (1 << 20) + 1",
            0,
            "no erasure of it is on record",
        ),
        (
            "UPDATE events SET link = zeroblob(32) WHERE key = LOG * (1 << 20)",
            0,
            "no erasure of it is on record",
        ),
        ("UPDATE events SET at = at + 1 WHERE key = 1 << 20 | 7", 7, "is not the one that was recorded"),
        ("UPDATE events SET link = 'text' WHERE key = 1 << 20 | 7", 7, "holds no bytes where its link belongs"),
        ("DELETE FROM events WHERE key = 1 << 20 | 7", 7, "event 7 is missing"),
    ],
)
def test_an_erased_event_that_was_tampered_with_is_found_with_its_place(erased, statement, seq, words):
    path, first, second = erased
    damage(path, statement.replace("LOG", LOG))
    found = verified(path, first)

    assert (found.result, found.first_bad_seq) == (INVALID, seq)
    assert words in found.detail
    assert verified(path, second).result == CONSISTENT


def test_a_body_that_was_only_taken_away_is_not_erased(erased):
    path, _, second = erased
    damage(path, "UPDATE events SET payload = NULL, salt = NULL WHERE key = 2 << 20 | 4")
    found = verified(path, second)

    assert (found.result, found.first_bad_seq) == (INVALID, 4)
    assert "no erasure of it is on record" in found.detail


def test_a_record_alone_excuses_nothing_that_another_episode_lacks(erased):
    path, _, second = erased
    damage(path, "INSERT INTO erasures SELECT 2 << 20 | 4, proof FROM erasures LIMIT 1")
    damage(path, "UPDATE events SET payload = NULL, salt = NULL WHERE key = 2 << 20 | 4")

    assert verified(path, second).result == INVALID


def test_what_is_erased_while_a_log_is_verified_is_on_record(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    first, second = recorded(store), recorded(store)
    erase(store, Named(((first, None),)), Order())
    verifier = Verifier(store)
    before = verifier.verify(first)
    erase(store, Named(((second, None),)), Order())

    assert (before.result, verifier.verify(second).result) == (CONSISTENT, CONSISTENT)
    store.close()
