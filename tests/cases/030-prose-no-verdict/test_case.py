"""Case 030: praise, refusal, nothing and null are no verdict: not a pass, not an empty prefix, and counted apart."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from spectrace.audit.queries import Reader
from spectrace.audit.why import why_items
from spectrace.store.sql import open_store
from tests.lending_desk import OTHER, assert_no_verdict, play_review, play_unusable, review
from tests.playbook import accept, reject

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())["*"]
PROSE = {
    "prose_positive.json": "expected one JSON object and nothing else, found 'Looks good to me",
    "prose_negative.json": "expected one JSON object and nothing else, found 'I cannot evaluate",
    "empty.json": "the reply is empty: expected a verdict",
    "null.json": "the reply is empty: expected a verdict",
}


@pytest.mark.parametrize("name", PROSE)
def test_it_is_no_verdict_and_the_held_action_does_not_run(name):
    desk = play_unusable(CASE, review(CASE / name))

    assert EXPECTED == {"verdict": None}
    assert_no_verdict(desk, PROSE[name])


@pytest.mark.parametrize("name", PROSE)
def test_why_tells_it_apart_from_a_rejection_with_its_cause(name):
    item = why_items(play_unusable(CASE, review(CASE / name)).events)[0]

    assert (item.decision, item.status, item.category, item.accepted) == ("unusable", "unusable", None, 0)
    assert item.cause.startswith(PROSE[name])


def test_totals_and_rejections_count_it_apart(tmp_path):
    with closing(open_store(f"sqlite:///{tmp_path / 'log.db'}")) as store:
        desks = [
            play_unusable(CASE, review(CASE / "empty.json"), store),
            play_review(CASE, reject(4, OTHER, category="premature"), accept(), store=store),
        ]
        counted = {one.key: one.n for one in Reader(store).rejections(("category", "cause"))}

    assert [(desk.ended.totals.unusable, desk.ended.totals.rejections) for desk in desks] == [(1, 0), (0, 1)]
    assert counted == {("unusable", PROSE["empty.json"]): 1, ("premature", "-"): 1}
