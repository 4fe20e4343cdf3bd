import pytest

from spectrace.core.digest import digest
from spectrace.store.incoming_texts import IncomingTexts
from spectrace.store.rows import Damage
from spectrace.store.sql import open_store

TEXTS = {digest(data): data for data in (f"text {number} ".encode() * 30 for number in range(100))}
NAMES = list(TEXTS)


class Source:
    """Somebody who gives texts, and remembers what was asked for."""

    def __init__(self, texts=TEXTS):
        self.texts, self.asked = texts, []

    def __call__(self, names):
        self.asked.append(set(names))
        return {name: self.texts[name] for name in names if name in self.texts}


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "log.db"))
    yield opened
    opened.close()


def send(store, source, wanted, *, whole=True):
    texts = IncomingTexts("ep1", source, whole=whole)
    for part in wanted:
        with store.database.writing(durable=False) as connection:
            texts.send(connection, part)
    return texts


def test_each_text_is_fetched_once_and_none_that_is_there(store):
    source = Source()
    send(store, source, [[(0, NAMES[:3]), (1, NAMES[1:4])], [(2, NAMES[:5])]])
    again = Source()
    send(store, again, [[(0, NAMES[:6])]])

    assert sorted(name for names in source.asked for name in names) == sorted(NAMES[:5])
    assert [names for names in again.asked if names] == [{NAMES[5]}]
    assert [store.blob(name) for name in NAMES[:6]] == [TEXTS[name] for name in NAMES[:6]]


def test_small_texts_are_fetched_together_more_and_more(store):
    source = Source()
    send(store, source, [[(0, NAMES)]])

    assert [len(names) for names in source.asked] == [1, 2, 4, 8, 16, 32, 32, 5]


def test_after_large_ones_they_are_fetched_one_by_one(store):
    large = {digest(data): data for data in (bytes([number]) * (9 << 20) for number in range(3))}
    source = Source(large)
    send(store, source, [[(0, list(large))]])

    assert [len(names) for names in source.asked] == [1, 1, 1]


def test_a_missing_an_altered_and_a_nameless_text_are_damage_of_the_event_that_needs_it_first(store):
    with pytest.raises(Damage, match=f"the text {NAMES[0]} of event 4 of ep1 is missing"):
        send(store, Source({}), [[(4, NAMES[:1]), (5, NAMES[:1])]])
    with pytest.raises(Damage, match="of event 4 of ep1 holds other bytes than its name says"):
        send(store, Source({NAMES[0]: b"other"}), [[(4, NAMES[:1])]])
    with pytest.raises(Damage, match="event 4 of ep1 refers to a text by another name"):
        send(store, Source(), [[(4, ["sha256:no"])]])


def test_what_was_saved_from_damage_goes_without_them(store):
    send(
        store, Source({NAMES[1]: b"other", NAMES[2]: TEXTS[NAMES[2]]}), [[(4, [*NAMES[:3], "sha256:no"])]], whole=False
    )

    assert [store.blob(name) is not None for name in NAMES[:3]] == [False, False, True]
