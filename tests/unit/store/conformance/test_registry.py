import sqlite3

import pytest
from broken_stores import BROKEN, Crashes

from spectrace.store.conformance import CHECKS, ELSEWHERE, FAILED, NOT_APPLICABLE, OK, run_checks
from spectrace.store.memory import MemoryEventStore
from spectrace.store.sql import open_store

ASKED_OF_DATABASES = {
    "a search finds text with a nul and its escape",
    "events cannot be changed deleted or replaced",
}


def test_a_good_store_passes_and_what_it_has_not_is_said():
    store = MemoryEventStore()
    found = {result.claim: result for result in run_checks(lambda: store)}

    assert {claim for claim, result in found.items() if result.result == NOT_APPLICABLE} == ASKED_OF_DATABASES
    assert {result.result for result in found.values()} == {OK, NOT_APPLICABLE}
    assert found["half a surrogate pair is kept wherever it stands"].detail == "6 texts"


def test_every_check_finds_out_some_broken_store():
    assert {check.claim for check in CHECKS} == {claim for _, claim in BROKEN} | ASKED_OF_DATABASES


def test_every_hard_input_is_asked_here_or_named_with_the_reason():
    ids = {check.id for check in CHECKS if check.id[0] == "H"} | {result.id for result in ELSEWHERE}

    assert ids == {f"H{number}" for number in range(1, 26)}
    assert all(result.detail for result in ELSEWHERE)
    assert len({check.claim for check in CHECKS}) == len(CHECKS)


def test_a_search_that_misses_an_episode_is_found_out(tmp_path):
    path = str(tmp_path / "log.db")
    open_store(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TRIGGER forgets AFTER INSERT ON search WHEN instr(NEW.text, char(65533)) "
            "BEGIN DELETE FROM search WHERE number = NEW.number; END"
        )
    connection.close()
    (check,) = [check for check in CHECKS if check.claim.startswith("a search finds")]
    (result,) = run_checks(lambda: open_store(path), [check])

    assert (result.result, "found by the text: expected 1, found 0" in result.detail) == (FAILED, True)


def test_a_store_that_crashes_fails_and_what_it_was_given_is_not_repeated():
    (result,) = run_checks(Crashes, CHECKS[:1])

    assert result.result == FAILED
    assert result.detail == "UnicodeEncodeError was raised, which is no StoreError"


@pytest.mark.parametrize("store", [MemoryEventStore, Crashes])
def test_what_a_check_opened_is_closed(store):
    closed = []

    class Closing(store):
        def close(self):
            closed.append(self)

    list(run_checks(Closing, CHECKS[4:5]))

    assert len(closed) == 1
