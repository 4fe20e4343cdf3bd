"""Another verifier judges the recorded reviews in their own contexts; nothing recorded is edited."""

import asyncio
import json
from dataclasses import replace

from spectrace.core.baselines import WeakOnly
from spectrace.core.events import EpisodeStarted, GenerateRequested
from spectrace.core.rereviews import Scope
from spectrace.core.specagent import SpecAgent
from spectrace.errors import ModelFailed
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.replay import replay_episode
from spectrace.runs.reverify import rechecks_of, reverify_episode
from spectrace.store.memory import MemoryEventStore
from tests.episodes import CANCEL, DONE, FIND, READ, record_shop
from tests.playbook import accept, reject
from tests.verifying import scoring

SCORED = Scope(verdict="scored", threshold="0.7")


def reverify(replies, *, only_rejected=False, **of_record):
    async def play():
        store = MemoryEventStore()
        recorded = await record_shop(store, **of_record)
        events = list(store.read(recorded.episode))
        rows, outcome = await reverify_episode(
            events, ScriptedModel(replies, name="other"), store, "again", scope=Scope(only_rejected)
        )
        child = list(store.read(rows[0].child)) if rows else []
        return events, rows, outcome, child, store

    return asyncio.run(play())


def test_every_review_is_asked_in_exactly_the_recorded_context():
    events, rows, outcome, child, _ = reverify([accept()] * 3)

    def reviews(log):
        return [e.body.messages for e in log if isinstance(e.body, GenerateRequested) and e.body.role == "reviewer"]

    assert reviews(child) == reviews(events)
    assert [(row.segment, row.recorded.decision, row.new.decision, row.agree) for row in rows] == [
        (1, "reject", "accept", False),
        (2, "accept", "accept", True),
        (3, "accept", "accept", True),
    ]
    assert outcome.status == "completed"


def test_a_layout_of_its_own_and_a_review_that_reached_back_are_asked_again_as_they_were():
    options = SpecAgent(prompts="separate", unreviewed="revisable", k=2)
    weak, first = [FIND, READ, CANCEL, CANCEL, DONE], [reject(2, READ), accept(), accept()]
    events, rows, _, child, _ = reverify([accept()] * 3, weak=weak, strong=first, protocol=options)

    asked = [
        [e.body.messages for e in log if isinstance(e.body, GenerateRequested) and e.body.role == "reviewer"]
        for log in (events, child)
    ]
    assert asked[0] == asked[1]
    assert [row.new.drafted for row in rows] == [3, 1, 1]
    assert asyncio.run(replay_episode(child, parent=events)).result == "same"
    assert asyncio.run(replay_episode(events)).result == "same"


def test_reviews_after_the_first_that_differs_are_counterfactual():
    _, rows, _, _, _ = reverify([accept()] * 3)

    assert [row.counterfactual for row in rows] == [False, True, True]


def test_the_child_names_its_parent_run_and_verifier():
    events, _, _, child, _ = reverify([accept()] * 3)
    started = child[0].body
    assert isinstance(started, EpisodeStarted)

    assert (started.parent.kind, started.parent.episode, started.run) == ("reverify", events[0].episode, "again")
    assert [model.name for model in started.models] == ["other"]


def test_only_rejected_asks_about_nothing_else():
    _, rows, _, child, _ = reverify([reject(1, FIND)], only_rejected=True)

    assert [row.segment for row in rows] == [1]
    assert sum(event.type == "verdict.given" for event in child) == 1


def test_the_rows_come_back_from_the_logs():
    events, rows, _, child, _ = reverify([accept(), reject(1), accept()])

    assert rechecks_of("again", child, events) == rows


def test_a_re_verification_replays_from_its_parent():
    events, _, _, child, _ = reverify([accept()] * 3)

    assert asyncio.run(replay_episode(child, parent=events)).result == "same"
    assert "parent" in asyncio.run(replay_episode(child)).detail


def test_derived_segments_have_no_recorded_verdict_and_hide_the_outcome():
    _, rows, _, child, _ = reverify([accept(), accept()], weak=[FIND, READ, CANCEL, DONE], protocol=WeakOnly())
    asked = [e.body.messages[-1].content for e in child if isinstance(e.body, GenerateRequested)]

    assert [(row.derived, row.recorded, row.agree) for row in rows] == [(True, None, None)] * 2
    assert "NOT EXECUTED" in asked[0]
    assert "cancelled" not in "".join(m.content for m in child[1].body.messages if m.role != "system")


def test_a_verifier_that_stops_answering_leaves_what_was_judged():
    _, rows, outcome, _, _ = reverify([accept(), ModelFailed("unreachable", "gone")])

    assert [row.segment for row in rows] == [1]
    assert outcome.status == "failed"


def test_an_unusable_verdict_is_neither_agreement_nor_disagreement():
    _, rows, _, _, _ = reverify(["?", "?", accept(), accept()])

    assert (rows[0].new.decision, rows[0].agree) == ("unusable", None)


def test_a_child_says_how_its_verdicts_were_read_and_replays_so():
    asked = []

    async def play():
        store = MemoryEventStore()
        recorded = await record_shop(store)
        events = list(store.read(recorded.episode))
        verifier = scoring(lambda _: 0.5 if len(asked) == 1 else 1.5, asked)
        rows, outcome = await reverify_episode(events, verifier, store, "again", scope=SCORED)
        child = list(store.read(rows[0].child))
        changed = replace(child[0].body, options=child[0].body.options.replace("0.7", "0.5"))
        other = [replace(child[0], body=changed), *child[1:]]
        replays = [await replay_episode(one, parent=events) for one in (child, other)]
        return rows, outcome, child, replays

    rows, outcome, child, (same, other) = asyncio.run(play())
    options = json.loads(child[0].body.options)

    assert (options["verdict"], options["threshold"], outcome.reason) == ("scored", "0.7", "reviewed")
    assert [(one.scoring.steps, one.scoring.rejected) for one in asked] == [(1, None), (1, 1), (2, None), (1, None)]
    assert [(row.new.decision, row.new.probabilities) for row in rows] == [
        ("reject", '["0.622459"]'),
        ("accept", '["0.817574", "0.817574"]'),
        ("accept", '["0.817574"]'),
    ]
    assert (same.result, other.result) == ("same", "diverged")
