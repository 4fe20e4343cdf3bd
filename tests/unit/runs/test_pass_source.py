"""A pass asks while its run may go on, and counts a verdict once it is in the log, never earlier."""

import asyncio

import pytest

from spectrace.core.commands import Generate
from spectrace.core.events import GenerateFailed, GenerateRequested, VerdictGiven
from spectrace.core.rereviews import Said
from spectrace.core.types import Completion, Message, ModelFacts, ModelRequest, Role, Usage, Verdict
from spectrace.errors import ModelFailed
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.health import Health
from spectrace.runs.pass_source import Answers, PassSource
from spectrace.runs.purse import Purse
from spectrace.runs.sources import ModelSource

FACTS = ModelFacts("strong", "scripted", "second", price='{"input": "1", "cached": "1", "output": "1"}')
ASKED = GenerateRequested(
    role="reviewer", who="strong", position="s1", messages=(), tools_digest=None, response_schema=None, parameters="{}"
)
GIVEN = VerdictGiven(
    outcome="accept",
    segment=1,
    drafted=1,
    accepted=1,
    category=None,
    reason=None,
    replacement=None,
    status="ok",
    cause=None,
    raw="",
    review=1,
)


def source(model, answers, refused=lambda: None, purse=None, health=None):
    inner = ModelSource({"strong": model})
    return PassSource(inner, FACTS, answers, refused, purse=purse or Purse(), health=health or Health())


def ask(asked):
    command = Generate(Role.REVIEWER, "strong", "s2", ModelRequest((Message("user", "?"),)))
    return asyncio.run(asked.generate("", 9, command))


def test_a_verdict_is_counted_before_the_next_question_and_only_then():
    counted = []
    answers = Answers(lambda *said: counted.append(said))
    for seq, body in ((1, ASKED), (2, GIVEN)):
        answers("child", seq, body)
    before = list(counted)
    ask(source(ScriptedModel("yes"), answers))

    assert before == []
    assert counted == [("child", Said(1, 2, Verdict(1, 1), 1))]
    assert answers.given == 1


def test_what_could_not_be_counted_waits_and_is_not_lost():
    def fails(*said):
        raise OSError(said)

    answers = Answers(fails)
    answers("child", 2, GIVEN)
    for _ in range(2):
        with pytest.raises(OSError, match="child"):
            answers.count()


def test_a_refusal_is_one_of_the_budget_and_asks_nobody():
    model = ScriptedModel("yes")
    with pytest.raises(ModelFailed, match="run_cancelled") as raised:
        ask(source(model, Answers(print), lambda: "run_cancelled"))

    assert raised.value.kind == "budget"
    assert model.requests == []


def test_each_call_is_paid_and_an_empty_purse_refuses_the_next():
    purse = Purse("1", of_run=True)
    paid = source(
        ScriptedModel([Completion(Message("assistant", "yes"), usage=Usage(2_000_000, 0, 0))]),
        Answers(print),
        purse=purse,
    )
    ask(paid)

    with pytest.raises(ModelFailed, match="run_max_cost_usd"):
        ask(paid)


def test_troubles_are_counted_against_the_verifier_and_its_last_error_is_kept():
    health, answers = Health(most=1), Answers(print)
    with pytest.raises(ModelFailed, match="down"):
        ask(source(ScriptedModel([ModelFailed("server", "down")]), answers, health=health))
    failed = GenerateFailed(
        request=1,
        role="reviewer",
        kind="server",
        error="down",
        partial_text="",
        usage=Usage(),
        latency_us=None,
        attempts=(),
        source="live",
    )
    answers("child", 3, failed)

    assert "the strong model failed 1 times in a row: down" in str(health.gave_up)
    assert answers.error == "down"
