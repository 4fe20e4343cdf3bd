import io

import pytest

from spectrace.audit.queries import Filters, Reader
from spectrace.cli.select import chosen, event_of
from spectrace.errors import EpisodeNotFound, UsageError
from spectrace.store.memory import MemoryEventStore
from tests.shop_log import recorded


@pytest.fixture(scope="module")
def log():
    store = MemoryEventStore()
    return Reader(store), [recorded(store), recorded(store)]


def test_ids_and_prefixes_name_episodes_each_once(log):
    reader, (one, two) = log

    assert chosen(reader, [two, one[:8], one], False, Filters()) == [two, one]


def test_all_are_chosen_oldest_first(log):
    reader, ids = log

    assert chosen(reader, [], True, Filters()) == ids


def test_filters_choose(log):
    reader, ids = log

    assert chosen(reader, [], False, Filters(rejected=True)) == ids
    assert chosen(reader, [], False, Filters(task=("other",))) == []


def test_a_dash_reads_ids_from_stdin(log, monkeypatch):
    reader, (one, two) = log
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{two}\n{one}\n"))

    assert chosen(reader, ["-"], False, Filters()) == [two, one]


def test_an_empty_stdin_is_said(log, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))

    with pytest.raises(UsageError, match="there were none"):
        chosen(log[0], ["-"], False, Filters())


@pytest.mark.parametrize(
    ("episodes", "every", "filters", "words"),
    [
        ([], False, Filters(), "name an episode"),
        (["x"], True, Filters(), "not both"),
        (["x"], False, Filters(rejected=True), "not both"),
    ],
)
def test_nothing_or_both_is_refused(log, episodes, every, filters, words):
    with pytest.raises(UsageError, match=words):
        chosen(log[0], episodes, every, filters)


def test_a_prefix_that_fits_nothing_is_refused(log):
    with pytest.raises(EpisodeNotFound):
        chosen(log[0], ["zz"], False, Filters())


@pytest.mark.parametrize(("text", "parts"), [("ab", ("ab", None)), ("ab:0", ("ab", 0)), ("ab:41", ("ab", 41))])
def test_an_event_is_an_episode_and_a_number(text, parts):
    assert event_of(text) == parts


@pytest.mark.parametrize("text", ["ab:", "ab:x", "ab:-1", "ab:1:2", "ab:٣"])
def test_any_other_event_is_refused(text):
    with pytest.raises(UsageError, match="EP:SEQ"):
        event_of(text)
