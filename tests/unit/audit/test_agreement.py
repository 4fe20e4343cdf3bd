import asyncio

import pytest

from spectrace.audit.agreement import episode_reviews
from spectrace.audit.passes import read_pass, reviews
from spectrace.core.baselines import WeakOnly
from spectrace.core.rereviews import Scope
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call
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
        asyncio.run(reverify_episode(events, verifier, store, "again", scope=Scope(only_rejected)))
        return reviews(reader, read_pass(reader, "again"))

    return judged


def courses(found):
    return [course(one.recorded, one.new) for one in found]


def test_reviews_are_numbered_and_know_their_task_and_their_held_write(again, reader):
    found = again(accept(), reject(2), accept())
    started = reader.episode(found[0].episode).started

    assert [(one.number, one.drafted, one.writes) for one in found] == [(1, 1, True), (2, 2, True), (3, 1, False)]
    assert {one.task for one in found} == {f"shop {started.task_digest}"}
    assert [(one.recorded.kind, one.new.kind) for one in found] == [
        ("reject", "accept"),
        ("accept", "reject"),
        ("accept", "accept"),
    ]
    assert [fate(one) for one in found] == ["let_through", "stopped", None]


def test_the_same_replacement_leads_the_same_way_however_it_is_written(again):
    spaced = Call(FIND.tool, FIND.arguments.replace(":", " :  "))

    assert courses(again(reject(1, spaced), accept(), accept())) == ["same", "same", "same"]


def test_another_replacement_leads_another_way(again):
    assert courses(again(reject(1, READ), accept(), accept()))[0] == "differs"


def test_what_a_corrective_turn_would_have_done_is_unknown(again):
    found = again(reject(1), accept(), accept(), strong=[reject(1), FIND, accept(), accept()])

    assert courses(found)[0] == "unknown"


def test_a_replacement_that_could_not_be_used_leads_to_a_corrective_turn_both_times(again, reader):
    other = Call(READ.tool, "{}")
    found = again(reject(1, other), accept(), accept(), strong=[reject(1, other), FIND, accept(), accept()])
    (first, *_) = reader.episode(found[0].episode).segments

    assert (first.verdict.replacement, first.repair.kind) == (other, "corrective")
    assert [one.action for one in (found[0].recorded, found[0].new)] == [None, None]


def test_where_replacements_are_not_used_every_rejection_asks_again(again):
    strong = [reject(1, FIND), FIND, accept(), accept()]
    found = again(reject(1, FIND), accept(), accept(), strong=strong, protocol=SpecAgent(fused=False))

    assert courses(found) == ["unknown", "same", "same"]


@pytest.mark.parametrize(
    ("kind", "expected"), [("context", ["too_long", "failed"]), ("unreachable", ["failed", "failed"])]
)
def test_what_a_pass_did_not_reach_is_counted_as_too_long_or_failed(again, kind, expected):
    found = again(accept(), ModelFailed(kind, "no"))

    assert [one.new.kind for one in found] == ["accept", *expected]


def test_rejections_keep_their_place_in_the_episode(again):
    strong = [accept(), reject(2, READ), accept(), accept()]
    found = again(reject(1), only_rejected=True, weak=[CANCEL, READ, CANCEL, CANCEL, DONE], strong=strong)

    assert [(one.number, one.recorded.kind, one.new.kind) for one in found] == [(2, "reject", "reject")]


def test_an_unusable_verdict_is_a_class_of_its_own(again):
    assert [one.new.kind for one in again("?", "?", accept(), accept())] == ["unusable", "accept", "accept"]


def test_derived_reviews_have_nothing_recorded(again):
    found = again(accept(), accept(), weak=[FIND, READ, CANCEL, DONE], protocol=WeakOnly())

    assert [(one.recorded, one.drafted, one.writes) for one in found] == [(None, 3, True), (None, 1, False)]


def test_a_segment_that_was_not_to_be_judged_is_no_review(store, reader):
    episode = reader.episode(recorded(store))

    assert [(one.number, one.new.kind) for one in episode_reviews(episode, {2: "failed"})] == [(2, "failed")]
    assert list(episode_reviews(episode, {2: "failed"}, only_rejected=True)) == []
