import pytest

from spectrace.errors import StoreError
from spectrace.store.event_store import EpisodeRow
from spectrace.store.memory import MemoryEventStore
from spectrace.store.outgoing import outgoing, stored_lines, unfinished, whole_text
from spectrace.store.sql import open_store
from tests.damage import damage
from tests.transfers import lines_of, write_episode


def test_an_intact_episode_goes_out_with_the_texts_that_it_needs():
    store = MemoryEventStore()
    write_episode(store, "ep1")
    found = list(outgoing(store, store.row("ep1")))
    needed = {name for _, names in found for name in names}

    assert [line for line, _ in found] == lines_of(store, "ep1")
    assert needed
    assert all(store.blob(name) is not None for name in needed)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE events SET at = at + 1 WHERE (key & 1048575) = 9", "event 9 (.*) of ep1 is not the one"),
        ("DELETE FROM events WHERE (key & 1048575) = 9", "event 9 of ep1 was expected, event 10 was found"),
        ("DELETE FROM events WHERE (key & 1048575) > 9", "its events end at 9, and the head that its row names"),
        ("UPDATE events SET payload = NULL, salt = NULL WHERE (key & 1048575) = 9", "the body of event 9 is missing"),
    ],
)
def test_an_episode_that_is_not_intact_stays(tmp_path, statement, said):
    store = open_store(str(tmp_path / "log.db"))
    write_episode(store, "ep1")
    store.close()
    damage(tmp_path / "log.db", statement)
    store = open_store(str(tmp_path / "log.db"), read_only=True)

    with pytest.raises(StoreError, match=f"ep1 is not intact, so it stays here: {said}"):
        list(outgoing(store, store.row("ep1")))
    store.close()


def test_what_was_committed_when_the_row_was_read_is_what_goes_out():
    store = MemoryEventStore()
    write_episode(store, "ep1")

    assert list(stored_lines(store, "ep1", 5)) == lines_of(store, "ep1")[:5]


def test_a_text_is_whole_or_refused():
    name = "sha256:" + "0" * 64
    with pytest.raises(StoreError, match=f"the text {name} is missing"):
        whole_text(name, None)
    with pytest.raises(StoreError, match="holds other bytes than its name says"):
        whole_text(name, b"other")


def test_an_episode_still_being_written_is_said_to_be():
    def row(state):
        return EpisodeRow("ep1", state, 0, None, 7, b"", "", 0)

    assert [bool(unfinished(row(state))) for state in ("running", "interrupted", "ended")] == [True, False, False]
    assert "the 7 events committed so far" in unfinished(row("running"))[0]
