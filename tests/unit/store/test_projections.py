from dataclasses import replace
from decimal import Decimal

import pytest

from spectrace.core.events import Event, GenerateCompleted, GenerateRequested, OutcomeSettled, VerdictGiven
from spectrace.core.money import Spent, dollars
from spectrace.store import projections, tables
from spectrace.store.event_store import Pending
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.sql import open_store
from spectrace.store.upkeep import rebuild

BODIES = sample_episode(1, segments=2)
PROJECTED = (tables.summaries, tables.segments, tables.actions, tables.search)


@pytest.fixture
def store(database_url):
    opened = open_store(database_url)
    yield opened
    opened.close()


def written(store, bodies=BODIES):
    writer = store.create("ep1", bodies[0], EPOCH_US)
    writer.append(pending(bodies)[1:-1], durable=False)
    writer.append(pending(bodies)[-1:], durable=True)
    return writer


def rows(store):
    with store.database.reading() as connection:
        return {
            table.name: [dict(row._mapping) for row in connection.execute(table.select().order_by(*table.primary_key))]
            for table in PROJECTED
        }


def cost_of_strong() -> int:
    """The strong model has a price, 3 and 15 dollars (0.3 for what is cached), the weak one has none."""
    strong = {seq for seq, body in enumerate(BODIES) if isinstance(body, GenerateRequested) and body.who == "strong"}
    used = [body.usage for body in BODIES if isinstance(body, GenerateCompleted) and body.request in strong]
    return sum(round(3 * (u.input - u.cached) + Decimal("0.3") * u.cached + 15 * u.output) for u in used)


def test_an_ended_episode_has_its_summary(store):
    written(store)
    summary, started = rows(store)["summaries"][0], BODIES[0]

    assert summary == {
        "number": 1,
        "projection": projections.VERSION,
        "problem": None,
        "env": started.environment.name,
        "task": started.task.id,
        "trial": 0,
        "protocol": "specagent",
        "weak": f"{started.models[0].provider}:{started.models[0].name}",
        "strong": f"{started.models[1].provider}:{started.models[1].name}",
        "labels": projections.labels_text(started.labels),
        "run": started.run,
        "parent": None,
        "origin": None,
        "status": "completed",
        "end_reason": "finish",
        "reward": "1",
        "cost_usd": f"at least {dollars(cost_of_strong())}",
        "steps": sum(body.TYPE in {"step.drafted", "repair.made"} for body in BODIES),
        "segments": 3,  # the last is not closed
        "reviews": 2,
        "writes": 2,
        "rejections": 1,
        "unusable": 0,
        "repairs": 1,
        "weak_calls": sum(isinstance(body, GenerateRequested) and body.who == "weak" for body in BODIES),
        "strong_calls": 2,
    }


def test_a_rejection_is_a_segment_with_its_reason_and_its_repair(store):
    written(store)
    verdict = next(body for body in BODIES if body.TYPE == "verdict.given" and body.outcome == "reject")
    repair = next(body for body in BODIES if body.TYPE == "repair.made")
    segment = rows(store)["segments"][1]

    assert (segment["decision"], segment["category"], segment["reason"]) == ("reject", verdict.category, verdict.reason)
    assert segment["rejected_action"].startswith(segment["rejected_tool"] + " {")
    assert segment["repair_action"] == projections.action_text(repair.actions[0])


def test_why_a_segment_was_accepted_is_not_copied(store):
    said = "it follows rule seven to the letter"
    bodies = [replace(body, reason=said) if isinstance(body, VerdictGiven) else body for body in BODIES]
    written(store, bodies)

    found = rows(store)
    reasons = {(row["decision"], row["reason"]) for row in found["segments"] if row["decision"]}
    assert reasons == {("accept", None), ("reject", said)}
    assert found["search"][0]["text"].count(said) == sum(row["decision"] == "reject" for row in found["segments"])


def test_the_ledger_holds_what_may_change_state(store):
    written(store)
    ledger = rows(store)["actions"]

    assert {row["effect_declared"] for row in ledger} == {"write"}
    assert [row["outcome"] for row in ledger].count("never") == 1
    assert {row["tool"] for row in ledger} == {tool.name for tool in BODIES[0].tools[2:]}


def test_an_episode_that_just_began_is_listed_with_what_it_is(store):
    store.create("ep1", BODIES[0], EPOCH_US)
    summary = rows(store)["summaries"][0]

    assert (summary["env"], summary["status"], summary["steps"]) == (BODIES[0].environment.name, None, 0)


def test_rebuilding_gives_the_same_rows(store, database_url):
    written(store).close()
    before = rows(store)
    with store.database.writing(durable=True) as connection:
        for table in reversed(PROJECTED):
            connection.execute(table.delete())
    rebuilt = rebuild(database_url)

    assert (rebuilt.episodes, rows(store)) == (1, before)


def test_a_persons_later_word_changes_the_ledger(store):
    writer = written(store)
    action = rows(store)["actions"][0]
    settled = OutcomeSettled(authority="person:ann", outcome="error", request=action["seq"], evidence="looked")
    writer.append([Pending(len(BODIES), "", EPOCH_US, settled)], durable=True)

    assert rows(store)["actions"][0] == {**action, "outcome": "error"}


def test_text_that_postgres_cannot_hold_is_replaced(store):
    started = replace(BODIES[0], task=replace(BODIES[0].task, id="a\0b\ud800"))
    written(store, [started, *BODIES[1:]])

    assert rows(store)["summaries"][0]["task"] == "a\ufffdb\ufffd"


def test_events_that_do_not_fold_are_a_problem_and_never_stop_the_end(store):
    odd = [body for body in BODIES if body.TYPE in {"episode.started", "effect.observed", "episode.ended"}]
    written(store, odd)
    found = rows(store)

    assert "event 1 (effect.observed) of ep1 does not follow" in found["summaries"][0]["problem"]
    assert store.row("ep1").state == "ended"
    assert found["segments"] == []


def test_labels_are_found_as_pairs():
    text = projections.labels_text([("a", "b"), ("team", 'x"y')])

    assert projections.labels_text([("team", 'x"y')])[1:-1] in text
    assert projections.labels_text([("team", "x")])[1:-1] not in text


def test_an_unfinished_episode_can_be_projected(store):
    store.create("ep1", BODIES[0], EPOCH_US)
    events = [Event("ep1", item.seq, "", item.at, item.body) for item in pending(BODIES[:-1])]
    with store.database.writing(durable=False) as connection:
        projections.project(connection, 1, events, again=True)

    assert rows(store)["summaries"][0]["rejections"] == 1
    assert rows(store)["summaries"][0]["status"] is None


@pytest.mark.parametrize(
    ("cost", "text"),
    [(Spent(), "0"), (Spent(12, 1), "0.000012"), (Spent(12, 1, 1), "at least 0.000012"), (Spent(0, 0, 2), None)],
)
def test_a_cost_is_told_whole_in_part_or_not_at_all(cost, text):
    assert projections.cost_text(cost) == text
