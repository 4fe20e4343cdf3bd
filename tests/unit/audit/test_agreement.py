import asyncio

import pytest

from spectrace.audit.agreement import asked_again, judged_reviews
from spectrace.core.baselines import WeakOnly
from spectrace.core.prompts import Prompts
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Outcome
from spectrace.errors import ModelFailed
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.reverify import reverify_episode
from spectrace.stats.judgements import course, fate
from tests.episodes import CANCEL, DONE, FIND, READ
from tests.playbook import accept, reject
from tests.shop_log import recorded


@pytest.fixture
def again(store, reader):
    """Record an episode, judge it again and return its reviews."""

    def judged(*replies, only_rejected=False, **of_record):
        episode = recorded(store, **of_record)
        events = list(store.read(episode))
        verifier = ScriptedModel(replies, name="second")
        rechecks, outcome = asyncio.run(reverify_episode(events, verifier, store, "again", only_rejected=only_rejected))
        return judged_reviews(reader, rechecks, {episode: outcome}, only_rejected=only_rejected)

    return judged


def courses(reviews):
    return [course(one.recorded, one.new) for one in reviews]


def test_reviews_are_numbered_and_know_their_task_and_their_held_write(again, reader):
    reviews = again(accept(), reject(2), accept())
    started = reader.episode(reviews[0].episode).started

    assert [(one.number, one.drafted, one.writes) for one in reviews] == [(1, 1, True), (2, 2, True), (3, 1, False)]
    assert {one.task for one in reviews} == {f"shop {started.task_digest}"}
    assert [(one.recorded.kind, one.new.kind) for one in reviews] == [
        ("reject", "accept"),
        ("accept", "reject"),
        ("accept", "accept"),
    ]
    assert [fate(one) for one in reviews] == ["let_through", "stopped", None]


def test_the_same_replacement_leads_the_same_way_however_it_is_written(again):
    spaced = Call(FIND.tool, FIND.arguments.replace(":", " :  "))

    assert courses(again(reject(1, spaced), accept(), accept())) == ["same", "same", "same"]


def test_another_replacement_leads_another_way(again):
    assert courses(again(reject(1, READ), accept(), accept()))[0] == "differs"


def test_what_a_corrective_turn_would_have_done_is_unknown(again):
    reviews = again(reject(1), accept(), accept(), strong=[reject(1), FIND, accept(), accept()])

    assert courses(reviews)[0] == "unknown"


def test_a_replacement_that_could_not_be_used_leads_to_a_corrective_turn_both_times(again, reader):
    other = Call(READ.tool, "{}")
    reviews = again(reject(1, other), accept(), accept(), strong=[reject(1, other), FIND, accept(), accept()])
    (first, *_) = reader.episode(reviews[0].episode).segments

    assert (first.verdict.replacement, first.repair.kind) == (other, "corrective")
    assert [one.action for one in (reviews[0].recorded, reviews[0].new)] == [None, None]


def test_where_replacements_are_not_used_every_rejection_asks_again(again):
    strong = [reject(1, FIND), FIND, accept(), accept()]
    reviews = again(reject(1, FIND), accept(), accept(), strong=strong, protocol=SpecAgent(fused=False))

    assert courses(reviews) == ["unknown", "same", "same"]


@pytest.mark.parametrize(
    ("kind", "expected"), [("context", ["too_long", "failed"]), ("unreachable", ["failed", "failed"])]
)
def test_what_a_pass_did_not_reach_is_counted_as_too_long_or_failed(again, kind, expected):
    reviews = again(accept(), ModelFailed(kind, "no"))

    assert [one.new.kind for one in reviews] == ["accept", *expected]


def test_rejections_keep_their_place_in_the_episode(again):
    strong = [accept(), reject(2, READ), accept(), accept()]
    reviews = again(reject(1), only_rejected=True, weak=[CANCEL, READ, CANCEL, CANCEL, DONE], strong=strong)

    assert [(one.number, one.recorded.kind, one.new.kind) for one in reviews] == [(2, "reject", "reject")]


def test_an_unusable_verdict_is_a_class_of_its_own(again):
    assert [one.new.kind for one in again("?", "?", accept(), accept())] == ["unusable", "accept", "accept"]


def test_derived_reviews_have_nothing_recorded(again):
    reviews = again(accept(), accept(), weak=[FIND, READ, CANCEL, DONE], protocol=WeakOnly())

    assert [(one.recorded, one.drafted, one.writes) for one in reviews] == [(None, 3, True), (None, 1, False)]


def test_without_a_word_on_how_passes_ended_only_what_was_judged_is_there(store, reader):
    assert judged_reviews(reader, []) == []
    assert judged_reviews(reader, [], {recorded(store): Outcome("completed", "nothing_to_review")}) == []


def again_by(store, episode, *replies, name="", prompts=None):
    verifier = ScriptedModel(replies, name=name) if name else ScriptedModel(replies)
    asyncio.run(reverify_episode(list(store.read(episode)), verifier, store, "again", prompts=prompts))


def test_only_what_the_first_verifier_says_of_its_own_rejections_is_a_repeat(store, reader):
    episode, other = recorded(store), recorded(store)
    for _ in range(2):
        again_by(store, episode, reject(1), accept(), accept())
    again_by(store, episode, accept(), accept(), accept(), name="second")
    again_by(store, other, accept(), accept(), accept())
    found = asked_again(reader, [episode])

    assert [(one.episode, one.number, one.new.kind) for one in found] == [(episode, 1, "reject")] * 2


def test_other_prompts_are_another_question(store, reader):
    episode = recorded(store)
    again_by(store, episode, reject(1), accept(), accept(), prompts=Prompts(tools_heading="YOUR TOOLS"))

    assert asked_again(reader, [episode]) == []


def test_a_verdict_that_was_not_decoded_is_not_repeated_by_one_that_is(store, reader):
    episode = recorded(store, weak=[DONE], strong=[FIND, DONE, DONE], protocol=SpecAgent(acceptance="exact"))
    again_by(store, episode, *[accept()] * 3)

    assert asked_again(reader, [episode]) == []
