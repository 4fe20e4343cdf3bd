"""Case 033: scoring again neither overwrites nor renames: each pass is a run of its own beside what was said before.

Also the second half of H25: two passes over overlapping subsets, each immutable, no verdict of one in the other.
"""

import asyncio
import json
from pathlib import Path

import pytest

from spectrace.audit.passes import read_pass
from spectrace.audit.queries import Filters, Reader
from spectrace.core.fold import fold
from spectrace.errors import UsageError
from spectrace.models.labels import LabelJudge
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.pass_plan import Plan
from spectrace.runs.passes import judge_shard
from spectrace.runs.verifiers import JudgePool
from spectrace.store import runs
from spectrace.store.sql import open_store
from tests.lending_desk import play_review
from tests.playbook import accept, reject
from tests.verifying import work

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())
ORIGINAL, HUMAN, FIRST = json.loads((CASE / "scores_before.json").read_text())
SECOND = json.loads((CASE / "new_run.json").read_text())
STEPS = 4
DONE = accept()
"""The verdict on the episode's second review, its final answer, which the case is not about."""


def said(score):
    length = score["valid_prefix_len"]
    return accept() if length == STEPS else reject(length + 1)


def judge(store, episodes, run, verifier, *replies):
    """Judge episodes again, in a run of that name, as the model of that name."""
    plan = Plan(run, f"scripted:{verifier}")
    at_work = work(store, episodes, plan, ScriptedModel(replies, name=verifier))
    return asyncio.run(judge_shard(at_work, episodes))


def judge_as(store, episode, score, folder):
    """Let a person judge the segment, by a file of labels."""
    folder.mkdir(exist_ok=True)
    file = folder / "labels.jsonl"
    label = {"episode": episode, "segment": 1, "decision": "reject", "accepted": score["valid_prefix_len"]}
    file.write_text(json.dumps(label | {"by": score["by"]}))
    at_work = work(store, [episode], Plan("human", "labels:labels.jsonl"))
    at_work.pool = JudgePool(LabelJudge(str(file)))
    return asyncio.run(judge_shard(at_work, [episode]))


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "log.db"))
    yield opened
    opened.close()


@pytest.fixture
def episode(store, tmp_path):
    """The case's segment, reviewed by the original, a person and strong-2."""
    desk = play_review(CASE, said(ORIGINAL), DONE, store=store)
    judge_as(store, desk.episode.id, HUMAN, tmp_path / "people")
    judge(store, [desk.episode.id], FIRST["run"], FIRST["by"], said(FIRST), DONE)
    return desk.episode.id


def reviews(store, episode):
    """Every review of the segment: (by, run or None, steps that stand), oldest first."""
    parent = fold(store.read(episode))
    found = [(parent.started.models[1].name, None, parent.segments[0].verdict.accepted)]
    reader = Reader(store)
    for run in reversed(runs.every(store)):
        whole = read_pass(reader, run.name)
        for one in whole.answers:
            if one.segment == 1:
                asked = next(e.body for e in store.read(one.child) if e.type == "generate.completed")
                found.append((asked.model, run.name, one.verdict.accepted))
    return found


def test_after_another_pass_there_is_one_review_more_and_none_was_changed(store, episode):
    before = reviews(store, episode)
    links = [stored.link for stored in store.stored(episode)]
    judge(store, [episode], SECOND["run"], SECOND["by"], said(SECOND), DONE)
    after = reviews(store, episode)

    assert len(after) == EXPECTED["n_reviews_after"]
    assert after[:3] == before
    assert after == [
        ("strong-397b", None, ORIGINAL["valid_prefix_len"]),
        (f"person:{HUMAN['by']}", "human", HUMAN["valid_prefix_len"]),
        (FIRST["by"], FIRST["run"], FIRST["valid_prefix_len"]),
        (SECOND["by"], SECOND["run"], SECOND["valid_prefix_len"]),
    ]
    assert [stored.link for stored in store.stored(episode)] == links


def test_the_latest_by_a_reviewer_and_the_one_that_drove_the_run_are_both_found(store, episode):
    judge(store, [episode], SECOND["run"], SECOND["by"], said(SECOND), DONE)
    reader = Reader(store)
    latest = next(reader.iter_episodes(Filters(protocol=("reverify",), model=(SECOND["by"],))))
    drove = fold(store.read(episode))

    assert (latest.run, latest.strong) == (SECOND["run"], f"scripted:{SECOND['by']}")
    assert drove.segments[0].verdict.accepted == ORIGINAL["valid_prefix_len"]


def test_a_name_that_was_used_is_not_used_for_another_verdict(store, episode):
    again = judge(store, [episode], FIRST["run"], FIRST["by"], said(SECOND), DONE)
    with pytest.raises(UsageError, match="exists with another"):
        runs.begin(store, FIRST["run"], "reverify", [], Plan(FIRST["run"], "scripted:else").to_json())

    assert [(one.before, one.new) for one in again] == [(2, 0)]
    assert [one[2] for one in reviews(store, episode)] == [4, 3, 4]


def test_passes_over_overlapping_subsets_leave_each_other_alone(store, episode):
    others = [play_review(CASE, said(ORIGINAL), DONE, store=store).episode.id for _ in range(2)]
    left, right = [episode, others[0]], [others[0], others[1]]
    judge(store, left, "left", "strong-2", *[accept()] * 4)
    before = read_pass(Reader(store), "left")
    judge(store, right, "right", "strong-2", *[reject(1), accept()] * 2)
    reader = Reader(store)
    found = {name: read_pass(reader, name) for name in ("left", "right")}

    assert found["left"] == before
    assert [{one.episode for one in found[name].answers} for name in found] == [set(left), set(right)]
    assert {one.verdict.accepted for one in found["right"].answers if one.segment == 1} == {0}
    assert {one.child for one in found["left"].answers}.isdisjoint({one.child for one in found["right"].answers})
    assert {reader.first(one.child).body.run for name in found for one in found[name].answers} == {"left", "right"}
    assert found["left"].selection_digest != found["right"].selection_digest
