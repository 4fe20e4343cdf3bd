import pytest

from spectrace.audit.floor import answers, asked_again, repeated
from spectrace.core.baselines import StrongOnly
from spectrace.core.prompts import Prompts
from spectrace.core.specagent import SpecAgent
from spectrace.stats.noise import Repeated
from tests.episodes import DONE, FIND
from tests.judged import ACCEPT, UNUSABLE, reject, review
from tests.rejudged import judge_again, record_reviews
from tests.shop_log import recorded
from tests.verifying import scores


@pytest.fixture
def episodes(store):
    return record_reviews(store, 2)


def test_only_what_the_recorded_verifier_says_itself_is_a_repeat(store, reader, episodes):
    judge_again(store, episodes, "self", name="first", repeats=2)
    judge_again(store, episodes, "night", name="second")
    judge_again(store, record_reviews(store, 2), "other episodes", name="first")
    found = asked_again(reader, episodes)

    assert {one.run for one in found} == {"self"}
    assert {(one.review.episode, one.review.number) for one in found} == {
        (episode, number) for episode in episodes for number in (1, 2, 3)
    }
    assert len(found) == 12


def test_other_prompts_are_another_question(store, reader, episodes):
    judge_again(store, episodes, "self", name="first", prompts=Prompts(tools_heading="YOUR TOOLS"))

    assert asked_again(reader, episodes) == []


def test_a_verdict_that_was_not_decoded_is_not_repeated_by_one_that_is(store, reader):
    episode = recorded(store, weak=[DONE], strong=[FIND, DONE, DONE], protocol=SpecAgent(acceptance="exact"))
    judge_again(store, [episode], "self", name="scripted")

    assert asked_again(reader, [episode]) == []


def test_a_recording_without_a_reviewer_has_no_repeats(store, reader):
    episode = recorded(store, strong=[FIND, DONE], protocol=StrongOnly())
    judge_again(store, [episode], "night")

    assert [one.review.recorded for one in asked_again(reader, [episode])] == []


def test_answers_are_those_that_were_judged():
    reviews = [review(ACCEPT, ACCEPT), review(ACCEPT, UNUSABLE, repeat=2), review(ACCEPT, reject(), repeat=3)]

    assert answers(reviews) == {("t", 1): ["accept", "reject"]}


def test_both_sides_stand_beside_each_other_in_the_order_of_their_places():
    tasks = {("b", 1): "t", ("a", 2): "u"}

    assert repeated(tasks, {("b", 1): ["accept", "accept"]}, {("a", 2): ["reject"]}) == [
        Repeated("u", (), ("reject",)),
        Repeated("t", ("accept", "accept"), ()),
    ]


def test_what_could_not_be_read_is_told_and_is_no_answer(store, reader, episodes):
    judge_again(store, episodes, "self", name="first", unusable={0, 1})

    assert [one.review.new.kind for one in asked_again(reader, episodes)].count("unusable") == 2
    assert {len(said) for said in answers(one.review for one in asked_again(reader, episodes)).values()} == {1}


def test_a_scored_verdict_is_repeated_by_one_that_is_read_at_the_same_threshold(store, reader):
    recorded_so = SpecAgent(verdict="scored", threshold="0.6")
    episode = recorded(store, weak=[DONE], strong=[scores(3.0)], protocol=recorded_so)
    for run, how in {"same": {"scored_at": "0.6"}, "other": {"scored_at": "0.5"}, "decoded": {}}.items():
        judge_again(store, [episode], run, name="scripted", **how)

    assert {one.run for one in asked_again(reader, [episode])} == {"same"}
