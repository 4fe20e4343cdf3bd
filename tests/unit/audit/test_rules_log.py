"""One answer to a question, nothing behind the end, a task and tools that fit."""

from dataclasses import replace

import pytest

from spectrace.audit.rules import RULES, violations
from spectrace.core.digest import tools_digest
from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ActRequested,
    EpisodeEnded,
    EvaluateCompleted,
    GenerateCompleted,
    GenerateRequested,
    Origin,
    OutcomeSettled,
    Parent,
    ToolsChanged,
    Unknown,
)
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Effect
from tests.altered import behind, first, put
from tests.broken_rules import ELSEWHERE
from tests.episodes import recorded_events
from tests.properties.played import play
from tests.properties.scripts import Judged, Script

EVENTS = recorded_events()
LOST = play(Script(weak=("write",), verdicts=(Judged("accept"),), moods=("crash",)), SpecAgent, {}).events
END, GRADE = first(EVENTS, EpisodeEnded), first(EVENTS, EvaluateCompleted)


def found(events, rule):
    return [(one.seq, one.detail) for one in violations(events, [RULES[rule]])]


def test_an_answer_answers_a_question_of_its_kind_that_is_there():
    said, act = first(EVENTS, GenerateCompleted), first(EVENTS, ActCompleted)
    told = {seq: found(put(EVENTS, said.seq, request=seq), "answer_misplaced") for seq in (0, act.body.request, 9999)}

    assert told[0] == [(said.seq, "generate.completed answers episode.started (event 0)")]
    assert told[act.body.request][0][1].startswith("generate.completed answers act.requested")
    assert told[9999] == [(said.seq, "generate.completed answers nothing")]


@pytest.mark.parametrize(("name", "value"), [("position", "s9.9"), ("effect", "write"), ("tool", "cancel_order")])
def test_an_answer_is_of_the_same_action(name, value):
    read = first(EVENTS, ActCompleted, effect=Effect.READ)

    assert found(put(EVENTS, read.seq, **{name: value}), "answer_misplaced") == [
        (read.seq, f"the answer to event {read.body.request} has another {name} than the question")
    ]


def test_an_answer_is_out_of_a_record_only_where_there_is_one():
    said = first(EVENTS, GenerateCompleted)
    taken = put(EVENTS, said.seq, source="record")

    assert found(put(taken, 0, parent=Parent("fork", "another", 9)), "answer_misplaced") == []
    assert found(taken, "answer_misplaced") == [
        (said.seq, f"the answer to event {said.body.request} is out of a record, and the episode goes on from none")
    ]


def test_a_type_that_nobody_knows_may_stand_behind_the_end():
    later = behind(EVENTS, END.seq, Unknown("note.made", 1, "{}"))

    assert found(later, "act_after_end") == []


def word(events, **fields):
    act = first(events, ActRequested, effect=Effect.WRITE)
    said = {"authority": "person:Ana", "outcome": "ok", "request": act.seq, "evidence": "seen in the ledger"}
    return behind(events, events[-1].seq, OutcomeSettled(**{**said, **fields}))


def test_a_persons_word_on_a_lost_write_is_sound():
    assert first(LOST, ActFailed) is not None
    assert violations(word(LOST)) == []


@pytest.mark.parametrize(
    ("events", "fields", "why"),
    [
        (LOST, {"authority": "person:"}, "an outcome was settled by person:, which is no person"),
        (LOST, {"authority": "strong"}, "an outcome was settled by strong, which is no person"),
        (LOST, {"evidence": "  "}, "and nobody says how that is known"),
        (LOST, {"outcome": "fine"}, "was settled as fine, and nobody says how that is known"),
        (LOST, {"request": 1}, "is no action that was sent"),
        (EVENTS, {}, "was no write of unknown outcome"),
    ],
)
def test_a_word_is_a_persons_with_evidence_on_what_was_unknown(events, fields, why):
    assert found(word(events, **fields), "settled_by_nobody")[0][1].endswith(why)


def graded(reward, outcome="completed"):
    return put(put(EVENTS, GRADE.seq, reward=reward), END.seq, reward=reward, outcome=outcome)


@pytest.mark.parametrize(
    ("events", "seq", "why"),
    [
        (graded("1.5"), GRADE.seq, "the reward 1.5 is none that shop gives: they lie between 0 and 1"),
        (graded("-0.1"), GRADE.seq, "the reward -0.1 is none that shop gives: they lie between 0 and 1"),
        (graded("NaN"), GRADE.seq, "the reward 'NaN' is no number"),
        (graded("1e9999999"), GRADE.seq, "the reward 1e9999999 is none that shop gives: they lie between 0 and 1"),
        (graded("1.0", "truncated"), END.seq, "the episode was truncated and has the reward 1.0"),
        (graded("1.0", "failed"), END.seq, "the episode was failed and has the reward 1.0"),
        (graded("0.0", "failed"), END.seq, "the episode failed and has the reward 0.0"),
        (put(EVENTS, END.seq, reward="0.0"), END.seq, "the end has the reward 0.0, the environment gave another"),
    ],
)
def test_a_reward_is_one_that_can_be(events, seq, why):
    assert found(events, "unfit_task") == [(seq, why)]


def test_a_truncated_episode_scores_nothing_and_that_is_sound():
    events = play(Script(weak=("read",) * 4), SpecAgent, {"max_steps": 2}).events

    assert (first(events, EpisodeEnded).body.reward, violations(events)) == ("0.0", [])


def test_an_imported_entry_that_its_file_files_wrongly_is_named():
    origin = Origin("tau2", "r.json", "sha256:0", "0", unfit="it was graded as task 7")

    assert found(put(EVENTS, 0, origin=origin, protocol="imported"), "unfit_task") == [
        (0, "the imported entry is no run of this task: it was graded as task 7")
    ]


def test_tools_that_change_on_the_way_are_worth_a_look():
    tools = EVENTS[0].body.tools[1:]
    event = ToolsChanged(tools=tools, tools_digest=tools_digest(tools))
    (one,) = violations(behind(EVENTS, 4, event), [RULES["tools_changed"]])

    assert (one.seq, one.severity, one.detail) == (5, "warning", f"the tools changed: {EVENTS[0].body.tools[0].name}")


def test_a_model_is_sent_the_tools_that_the_episode_has():
    asked = first(EVENTS, GenerateRequested)
    others = put(EVENTS, asked.seq, tools_digest=ELSEWHERE)

    assert found(others, "tools_changed")[0][0] == asked.seq
    assert found(put(others, asked.seq, who="user"), "tools_changed") == []


def test_event_0_holds_the_tools_that_its_digest_is_of():
    tool = EVENTS[0].body.tools[0]
    flipped = (replace(tool, effect=Effect.WRITE if tool.effect is Effect.READ else Effect.READ),)

    assert found(put(EVENTS, 0, tools=(*flipped, *EVENTS[0].body.tools[1:])), "tools_changed")[0][0] == 0
