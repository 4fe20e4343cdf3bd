"""Hard inputs through the whole path, over every store: recorded live, read by another connection, verified, replayed.

What a store alone must do with them is in `spectrace.store.conformance`, run by `test_event_store.py`.
"""

import asyncio
import json
import math
import os
import subprocess
import sys

import pytest

from spectrace.audit.answers import Filters
from spectrace.audit.integrity import CONSISTENT, verify_episode
from spectrace.audit.queries import Reader
from spectrace.core.digest import digest, text_digest
from spectrace.core.events import (
    ActCompleted,
    ActRequested,
    EpisodeEnded,
    EvaluateFailed,
    GenerateCompleted,
    GenerateRequested,
    ReplyUnusable,
    StepDrafted,
    VerdictGiven,
)
from spectrace.core.types import Call, Finish, Message
from spectrace.environments.functions import Task
from spectrace.environments.values import encode, encoded_digest
from spectrace.models import chat
from spectrace.runs.live import Labels
from spectrace.runs.replay import replay_episode
from tests.hard_values import EXACT, LOSSY, VALUES, asked, case, open_desk, record_steps
from tests.playbook import reject, written

HOSTILE = "x\ud835y \0 \\u0000 😀"


def replayed(store, episode, **given):
    return asyncio.run(replay_episode(list(store.read(episode)), **given))


def observations(store, episode):
    """Return what each call was answered, in order."""
    return [event.body.observation for event in store.read(episode) if isinstance(event.body, ActCompleted)]


def bodies(store, episode, kind):
    return [event.body for event in store.read(episode) if isinstance(event.body, kind)]


def put(text):
    """Return a drafted write whose argument is this JSON text, as a model writes it."""
    return f'{{"tool": "put", "arguments": {{"value": {text}}}}}'


def test_every_value_a_tool_returns_is_recorded_verified_and_replayed(open_event_store):
    episode = record_steps(open_event_store(), asked(*VALUES)).episode
    store = open_event_store()
    found = [observation.content for observation in observations(store, episode)]
    result = replayed(store, episode)

    assert dict(zip(VALUES, found, strict=False)) == {name: encode(value) for name, value in VALUES.items()}
    assert verify_episode(store, episode).result == CONSISTENT
    assert (result.result, result.observations) == ("same", len(EXACT) + 1)  # and the final answer's
    assert all(f"({', '.join(paths)})" in result.detail for _, paths in LOSSY.values())


def test_executed_again_the_same_values_are_the_same_nan_too_and_lost_ones_are_not_called_exact(open_event_store):
    store = open_event_store()
    episode = record_steps(store, [*asked("nan", "042-value", "set", "numbers", "039-a"), *asked("locked")]).episode
    result = replayed(store, episode, environment=open_desk())

    assert (result.result, result.observations) == ("same", 6)
    assert "not exact" in result.detail
    assert "$.item[0].lock" in result.detail


def test_a_value_that_cannot_be_told_is_no_error_of_the_call_that_returned_it(event_store):
    recorded = record_steps(event_store, asked(*LOSSY))
    found = observations(event_store, recorded.episode)

    assert recorded.outcome.status == "completed"
    assert [observation.error for observation in found] == [False] * 4


def test_what_a_program_printed_is_kept_byte_for_byte_with_the_text_that_the_model_was_given(open_event_store):
    store = open_event_store()
    outputs = [case(f"039-invalid-utf8/output_{name}.bin") for name in ("a", "b", "gbk")]
    episode = record_steps(store, asked("039-a", "039-b", "039-gbk")).episode
    contents = [observation.content for observation in observations(store, episode)[:3]]
    shown = bodies(open_event_store(), episode, GenerateRequested)[3].messages[-1].content

    assert [open_event_store().blob(digest(data)) for data in outputs] == outputs
    assert [text.encode("utf-8", "surrogateescape") for text in contents] == outputs
    assert text_digest(contents[0]) != text_digest(contents[1])
    assert shown == f"[s1.3] {contents[2]}"
    assert chat.sendable({"text": contents[0]}) == {"text": "ok \ufffd end\n"}


ARGUMENTS = (
    "9223372036854775808",
    "18446744073709551617",
    "107505301260286111",
    "1e22",
    "-0.0",
    "0.30000000000000004",
    "1",
    "1.0",
    "true",
    '{"\\ud835": "\\u0000"}',
    '"\\ud83d\\ude00 \\\\u0000"',
)
"""JSON texts as a model writes them."""


def test_an_argument_keeps_its_spelling_and_reaches_the_tool_as_what_it_says(event_store):
    episode = record_steps(event_store, [put(text) for text in ARGUMENTS]).episode
    sent = bodies(event_store, episode, ActRequested)[:-1]

    assert [body.action for body in sent] == [Call("put", f'{{"value": {text}}}') for text in ARGUMENTS]
    assert [seen.content for seen in observations(event_store, episode)[:-1]] == [
        encode(json.loads(text)) for text in ARGUMENTS
    ]
    assert replayed(event_store, episode, environment=open_desk()).result == "same"


def test_calls_that_differ_in_1_and_1_0_and_true_are_not_one_call(event_store):
    episodes = [record_steps(event_store, [put(text)]).episode for text in ("1", "1.0", "true")]
    recorded, other = (list(event_store.read(episode)) for episode in episodes[:2])
    drafted = next(event for event in other if isinstance(event.body, GenerateCompleted))
    swapped = [drafted if event.seq == drafted.seq else event for event in recorded]
    result = asyncio.run(replay_episode(swapped))

    assert len({bodies(event_store, episode, ActRequested)[0].action for episode in episodes}) == 3
    assert (result.result, result.first_difference.field) == ("diverged", "/action/arguments")


@pytest.mark.parametrize(
    "text",
    ["[" * 5000 + "]" * 5000, "9" * 5000, '1, "value": 2'],
    ids=["deep", "digits", "doubled keys"],
)
def test_arguments_that_no_tool_can_take_are_told_to_the_model_and_kept_whole(event_store, text):
    recorded = record_steps(event_store, [put(text)])
    episode = recorded.episode
    drafted, again = (
        bodies(event_store, episode, GenerateCompleted)[0],
        bodies(event_store, episode, GenerateRequested)[1],
    )
    told = [body.cause for body in bodies(event_store, episode, ReplyUnusable)]
    told += [body.objection for body in bodies(event_store, episode, StepDrafted) if body.objection]

    assert drafted.message.content == put(text)
    assert len(told) == 1
    assert told[0] in again.messages[-1].content
    assert recorded.outcome.status == "completed"
    assert verify_episode(event_store, episode).result == CONSISTENT
    assert replayed(event_store, episode).result == "same"


def test_nan_as_an_argument_is_kept_as_written_and_asked_again(event_store):
    episode = record_steps(event_store, [put("NaN")]).episode
    said = bodies(event_store, episode, GenerateCompleted)[0].message.content
    (unusable,) = bodies(event_store, episode, ReplyUnusable)

    assert '"value": NaN' in said
    assert unusable.next == "asked_again"
    assert [body.tool for body in bodies(event_store, episode, ActRequested)] == [None], "no JSON, no step"
    assert replayed(event_store, episode).result == "same"


def test_hostile_text_is_kept_in_a_task_a_reason_a_write_and_an_answer(open_event_store):
    task, write = Task("hard", HOSTILE), Call("put", json.dumps({"value": HOSTILE}))
    drafts, verdicts = [written(write), Finish(HOSTILE)], [reject(1, write, reason=HOSTILE)]
    labels = Labels(project=HOSTILE, labels=((HOSTILE, HOSTILE),), operator=HOSTILE, run=HOSTILE)
    recorded = record_steps(open_event_store(), drafts, verdicts, task=task, labels=labels)
    store, episode = open_event_store(), recorded.episode
    verdict = bodies(store, episode, VerdictGiven)[0]

    assert (verdict.reason, json.loads(verdict.raw)["reason"]) == (HOSTILE, HOSTILE)
    assert observations(store, episode)[0].content == HOSTILE
    first = next(store.read(episode)).body
    assert (first.task.request, first.project, first.run, first.operator) == (HOSTILE,) * 4
    assert bodies(store, episode, EpisodeEnded)[0].answer == HOSTILE
    assert verify_episode(store, episode).result == CONSISTENT
    assert replayed(store, episode).result == "same"


@pytest.mark.parametrize("grade", [math.nan, math.inf, -math.inf])
def test_a_grade_that_is_no_number_is_no_score_and_never_0(event_store, grade):
    recorded = record_steps(event_store, asked("nul"), task=Task("hard", "Look.", lambda _: grade))
    (failed,) = bodies(event_store, recorded.episode, EvaluateFailed)
    (listed,) = Reader(event_store).episodes()

    assert (recorded.outcome.status, recorded.outcome.reward, listed.reward) == ("completed", None, None)
    assert f"found {grade!r}".lower().replace("inf", "infinity") in failed.error.lower()
    assert replayed(event_store, recorded.episode).result == "same"


def test_a_search_finds_a_text_with_nul_and_the_text_that_spells_it(event_store):
    nul, literal = (record_steps(event_store, asked(name)).episode for name in ("nul", "nul-literal"))
    reader = Reader(event_store)

    def found(text):
        return {one.episode for one in reader.episodes(Filters(grep=text))}

    assert {nul, literal} <= found("b")
    assert (found("a\0b"), found("a\\u0000b")) == ({nul}, {literal})


@pytest.mark.slow
def test_every_value_has_one_digest_whatever_the_seed_of_pythons_hashes():
    program = (
        "from tests.hard_values import VALUES; from spectrace.environments.values import encoded_digest as d; "
        "import json; print(json.dumps({name: d(value) for name, value in VALUES.items()}))"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    here = {name: encoded_digest(value) for name, value in VALUES.items()}

    assert [json.loads(output) for output in outputs] == [here, here]


def test_ids_of_40_digits_in_a_reply_survive_the_wire():
    reply = chat.read_reply(case("040-integers-beyond-2-53/response.json").decode())

    assert reply.message == Message("assistant", "", reply.message.calls)
    assert [call.arguments for call in reply.message.calls] == ['{"member_id": 2512292042121000001}']
