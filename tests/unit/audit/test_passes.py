"""A re-verification run as it is read: which verdicts count, and what stands for those that are not there."""

from collections import Counter
from dataclasses import replace

import pytest

from spectrace.audit.passes import read_pass, reviews
from spectrace.audit.queries import Reader
from spectrace.core.types import Outcome
from spectrace.errors import ModelFailed, UsageError
from spectrace.store import runs
from spectrace.store.memory import MemoryEventStore
from spectrace.store.sql import open_store
from tests.playbook import accept, reject
from tests.rejudged import judge_again, record_reviews
from tests.shop_log import recorded, reverified

DOWN = ModelFailed("server", "down")


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "log.db"))
    yield opened
    opened.close()


def said(found):
    return [(one.segment, one.repeat, one.verdict.decision, one.agree, one.counterfactual) for one in found.answers]


def test_a_run_that_nobody_began_is_told_by_its_children():
    store = MemoryEventStore()
    episode = recorded(store)
    reverified(store, episode, "again", [accept()] * 3)
    found = read_pass(Reader(store), "again")

    assert said(found) == [
        (1, 1, "accept", False, False),
        (2, 1, "accept", True, True),
        (3, 1, "accept", True, True),
    ]
    assert found.selection == ((episode, store.row(episode).head.hex()),)
    assert (found.repeats, found.only_rejected, [one.name for one in found.verifiers]) == (1, False, ["second"])
    assert found.ended == {(episode, 1): Outcome("completed", "reviewed")}


def test_of_two_verdicts_the_first_recorded_counts_and_what_was_left_is_filled_in():
    store = MemoryEventStore()
    episode = recorded(store)
    reverified(store, episode, "again", [reject(1), DOWN])
    reverified(store, episode, "again", [accept()] * 3)
    found = read_pass(Reader(store), "again")

    assert [line[2] for line in said(found)] == ["reject", "accept", "accept"]
    assert len({one.child for one in found.answers}) == 2
    assert found.ended[episode, 1].status == "completed"


def test_the_item_of_a_run_says_which_verdict_counts(store):
    episode = recorded(store)
    runs.begin(store, "again", "reverify", [(episode, store.row(episode).head.hex())], '{"repeat": 1}')
    reverified(store, episode, "again", [reject(1)] * 3)
    reverified(store, episode, "again", [accept()] * 3)
    reader = Reader(store)
    later = next(one for one in reader.episodes() if one.protocol == "reverify").episode
    verdict = read_pass(reader, "again").answers[1].verdict_seq
    runs.record(
        store, "again", runs.Item(parent=episode, verdict_seq=verdict, repeat=1, episode=later, at=1, state="done")
    )

    assert [line[2] for line in said(read_pass(reader, "again"))] == ["reject", "accept", "reject"]


def test_what_a_broken_pass_did_not_judge_is_failed_and_what_did_not_fit_is_too_long():
    store = MemoryEventStore()
    broken, long = recorded(store), recorded(store)
    reverified(store, broken, "again", [accept(), DOWN])
    reverified(store, long, "again", [accept(), ModelFailed("context", "does not fit")])
    found = read_pass(Reader(store), "again")
    kinds = {
        name: [one.new.kind for one in reviews(Reader(store), found) if one.episode == name] for name in (broken, long)
    }

    assert kinds == {broken: ["accept", "failed", "failed"], long: ["accept", "too_long", "failed"]}
    assert found.too_long == {(long, 1, 2)}


def test_an_episode_that_was_not_begun_counts_as_failed(store):
    episode, other = recorded(store), recorded(store)
    pairs = [(name, store.row(name).head.hex()) for name in (episode, other)]
    runs.begin(store, "again", "reverify", pairs, '{"repeat": 2}')
    reverified(store, episode, "again", [accept()] * 3)
    reader = Reader(store)
    found = read_pass(reader, "again")

    assert found.repeats == 2
    assert [one.new.kind for one in reviews(reader, found)] == ["accept"] * 3 + ["failed"] * 3
    assert [one.new.kind for one in reviews(reader, found, repeat=2)] == ["failed"] * 6


def test_a_name_that_is_none_and_a_run_of_episodes_are_refused(store):
    runs.begin(store, "first", "run", [])

    with pytest.raises(UsageError, match="no re-verification is named 'nothing'"):
        read_pass(Reader(store), "nothing")
    with pytest.raises(UsageError, match="run 'first' is one of recorded episodes"):
        read_pass(Reader(store), "first")


def test_a_whole_pass_is_read_once_and_its_reviews_are_those_of_reading_again(store, monkeypatch):
    reader, episodes = Reader(store), record_reviews(store, 3)
    judge_again(store, episodes, "night", repeats=2, unusable={0})
    read = Counter()
    events = Reader.events

    def counted(self, episode, *args, **kwargs):
        read[episode] += 1
        return events(self, episode, *args, **kwargs)

    monkeypatch.setattr(Reader, "events", counted)
    found = read_pass(reader, "night")
    once = [reviews(reader, found, repeat) for repeat in (1, 2)]
    times = [read[one] for one in episodes]
    again = [reviews(reader, replace(found, known={}), repeat) for repeat in (1, 2)]

    assert (times, once) == ([1, 1, 1], again)
    assert [len(one) for one in once] == [9, 9]
