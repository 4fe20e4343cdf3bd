import io
import re

import pytest

from spectrace.audit.queries import Filters, Reader
from spectrace.cli.select import chosen, event_of, require_runs
from spectrace.errors import EpisodeNotFound, UsageError
from spectrace.runs.live import Labels
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


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        (Filters(task=("other",)), "no episode passes --task other;"),
        (Filters(labels=(("a", "b"),), grep="x y", since=0), "--label a=b --grep 'x y' --since 1970-01-01T00:00:00Z;"),
        (Filters(run=("typo",)), "no run is named 'typo'; `spectrace runs`"),
    ],
)
def test_choosing_nothing_is_refused_with_what_was_asked(log, filters, words):
    with pytest.raises(UsageError, match=re.escape(words)):
        chosen(log[0], [], False, filters)


def test_all_of_an_empty_log_is_refused():
    with pytest.raises(UsageError, match=r"no episode passes --all \(there is none"):
        chosen(Reader(MemoryEventStore()), [], True, Filters())


def test_a_misspelt_run_is_met_with_the_nearest_name():
    store = MemoryEventStore()
    recorded(store, labels=Labels(run="first"))

    with pytest.raises(UsageError, match=re.escape("did you mean first?")):
        require_runs(Reader(store), Filters(run=("frist",)))


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


@pytest.mark.parametrize("text", ["", ":5", ":"])
def test_an_episode_without_a_name_is_refused(text):
    with pytest.raises(UsageError, match="its id or a unique prefix"):
        event_of(text)


@pytest.mark.parametrize("text", ["ab:", "ab:x", "ab:-1", "ab:1:2", "ab:٣"])
def test_any_other_event_is_refused(text):
    with pytest.raises(UsageError, match="EP:SEQ"):
        event_of(text)
