import pytest

from spectrace.audit.disagreements import disagreements
from spectrace.audit.reverified import read_reverified
from tests.rejudged import judge_again, record_alone, record_reviews


@pytest.fixture
def told(reader):
    """The disagreements of a pair, by its place among the pairs."""

    def found(*runs):
        read = read_reverified(reader, runs)
        return disagreements(read, read.pairs[-1])

    return found


def test_each_has_both_verdicts_and_lies_at_the_recorded_one(store, reader, told):
    (episode,) = record_reviews(store, 1, accepting=1)
    judge_again(store, [episode], "night", 0)
    found = told("night")

    assert [(one.segment, one.first.decision, one.second.decision) for one in found] == [
        (number, "accept", "reject") for number in (1, 2, 3)
    ]
    verdicts = [event.seq for event in reader.events(episode) if event.type == "verdict.given"]
    assert [one.place for one in found] == [(episode, seq) for seq in verdicts]


def test_derived_reviews_lie_at_the_new_verdict(store, reader, told):
    alone = record_alone(store, 1)
    judge_again(store, alone, "night", 1)
    judge_again(store, alone, "day", 0)
    (first, *_) = told("night", "day")

    assert (first.first.decision, first.second.decision) == ("accept", "reject")
    child, seq = first.place
    assert (reader.first(child).body.run, reader.event(child, seq).type) == ("day", "verdict.given")


def test_where_both_decide_alike_or_one_is_unusable_there_is_none(store, told):
    episodes = record_reviews(store, 2, accepting=1)
    judge_again(store, episodes, "night", 1, unusable={0})

    assert told("night") == []


def test_they_are_told_by_episode_and_segment(store, told):
    judge_again(store, record_reviews(store, 4, accepting=1), "night", 0)
    places = [(one.episode, one.segment) for one in told("night")]

    assert places == sorted(places)


def test_of_repeats_the_first_answer_is_told(store, told):
    judge_again(store, record_reviews(store, 2, accepting=1), "night", 0, repeats=3)

    assert len(told("night")) == 6
