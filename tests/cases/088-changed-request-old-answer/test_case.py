"""Case 088: a question that changed is a miss that explains itself; order between lanes and of members is none.

A replay answers by position: what may come in any order has a lane of its own.
"""

import asyncio
import json
from pathlib import Path

import pytest

from spectrace.core.commands import Generate
from spectrace.core.events import Event, GenerateCompleted, GenerateRequested
from spectrace.core.types import Message, ModelRequest, Usage
from spectrace.errors import ReplayDiverged
from spectrace.runs.recording import Comparison, RecordedSource, Recording

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())["answers"]
RECORDED = [json.loads(line) for line in (CASE / "recorded.jsonl").read_text().splitlines()]
NOW = [json.loads(line) for line in (CASE / "requests_now.jsonl").read_text().splitlines()]
LANES = ["1", "0", "0", "0"]
"""Where each of today's questions is asked: the first in the second recorded lane, before the other."""


def question(request, position):
    """Return a recorded question; `parameters` keeps the order of members and the numbers as they were written."""
    messages = tuple(Message(one["role"], one["content"]) for one in request["messages"])
    parameters = {name: value for name, value in request.items() if name not in {"model", "messages"}}
    return GenerateRequested(
        role="drafter",
        who=request["model"],
        position=position,
        messages=messages,
        tools_digest=None,
        response_schema=None,
        parameters=json.dumps(parameters),
    )


def answer(text, request):
    return GenerateCompleted(
        request=request,
        role="drafter",
        message=Message("assistant", text),
        reasoning=None,
        finish_reason="stop",
        model=None,
        usage=Usage(),
        latency_us=None,
        first_token_us=None,
        attempts=(),
        provider_id=None,
        server=None,
        source="live",
    )


def recording():
    events = []
    for lane, line in enumerate(RECORDED):
        seq = len(events) + 1
        events.append(Event("e", seq, str(lane), 0, question(line["request"], "s1.1")))
        events.append(Event("e", seq + 1, str(lane), 0, answer(line["response"], seq)))
    return Recording(events)


def asked(number):
    """Ask today's question and return (its recorded answer, None), or ("miss", why)."""
    recorded = recording()
    log = Comparison(recorded)
    lane, request = LANES[number], NOW[number]
    body = question(request, "s1.1")
    try:
        seq = log.write(lane, body)
    except ReplayDiverged as diverged:
        return "miss", log.told[diverged.seq]
    command = Generate("drafter", "weak", "s1.1", ModelRequest(body.messages))
    return asyncio.run(RecordedSource(recorded).generate(lane, seq, command)).completion.message.content, None


@pytest.mark.parametrize("number", range(4))
def test_each_of_todays_questions_has_its_answer_or_is_a_miss(number):
    assert asked(number)[0] == EXPECTED[number]


def test_a_changed_word_is_shown_beside_the_recorded_one():
    _, told = asked(1)

    assert (told.field, told.recorded, told.found) == ("/messages/0/content", "'renew'", "'renew please'")
    assert [near.seq for near in told.nearest] == [3]


def test_a_changed_temperature_is_named():
    _, told = asked(3)

    assert (told.field, told.recorded, told.found) == ("/parameters/temperature", "0", "0.7")
    assert told.cause == "The model's parameters changed."
