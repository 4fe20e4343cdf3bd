"""A function as a verifier: what it may return, and that nothing else is ever an accept."""

import asyncio
import functools
import hashlib
import json
import re
import threading
from pathlib import Path

import pytest

from spectrace.core.fold import fold
from spectrace.core.review_request import review_requests
from spectrace.core.reviews import reviews_of
from spectrace.core.setup import setup_of
from spectrace.core.types import Completion, Effect, Finish, Message, Verdict
from spectrace.core.verdict_reading import Unusable, read_verdict
from spectrace.errors import ModelFailed, UsageError
from spectrace.models.functions import FunctionJudge, verdict_text
from tests.aio import in_loop
from tests.episodes import recorded_events
from tests.playbook import setup


@pytest.fixture(scope="module")
def request_():
    """The second review: a read and a held write."""
    episode = fold(recorded_events())
    return review_requests(episode.id, setup_of(episode.started), reviews_of(episode))[1]


def read(answer, drafted=3):
    text = verdict_text(answer, drafted)
    return read_verdict(setup(), Completion(Message("assistant", text), finish_reason="stop"), drafted)


@pytest.mark.parametrize(
    ("answer", "accepted", "category"),
    [
        (True, 3, None),
        (False, 0, "other"),
        (3, 3, None),
        (1, 1, "other"),
        (0, 0, "other"),
        (Verdict(3, 3), 3, None),
        (Verdict(3, 2, category="unsafe", reason="no"), 2, "unsafe"),
        (Verdict(3, 2), 2, "other"),
        ({"verdict": "accept"}, 3, None),
        ('{"verdict": "accept"}', 3, None),
        (
            {"verdict": "reject", "first_wrong": 2, "category": "unsafe", "reason": "no", "replacement": None},
            1,
            "unsafe",
        ),
    ],
)
def test_a_verdict_may_be_written_in_several_ways(answer, accepted, category):
    verdict = read(answer)

    assert (verdict.accepted, verdict.category, verdict.status) == (accepted, category, "ok")


def test_a_replacement_goes_into_the_verdict():
    assert read(Verdict(3, 0, category="unsafe", reason="no", replacement=Finish("Stop."))).replacement == Finish(
        "Stop."
    )


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "NoneType returned"),
        (4, "4 of 3 steps stand"),
        (-1, "-1 of 3 steps stand"),
        (1.0, "float returned"),
        (b'{"verdict": "accept"}', "bytes returned"),
        (Path("x"), "pathlib"),
        ("yes, it is fine", "yes, it is fine"),
        ({"verdict": "accept", "first_wrong": 2}, "an accept carries nothing"),
        ({"verdict": "reject", "first_wrong": 4, "category": "unsafe", "reason": "no"}, "from 1 to 3, found 4"),
        ({"verdict": "reject", "first_wrong": 1, "category": "bad", "reason": "no"}, "category must be one of"),
        ({"verdict": {1, 2}}, "a mapping that is no JSON"),
        ({"verdict": float("nan")}, "a mapping that is no JSON"),
        ({}, "no verdict"),
        (Verdict(2, 2), "a Verdict on 2 steps, not 3"),
        (Verdict(3, 5), "5 of 3 steps stand"),
        (Verdict(3, 0, status="unusable", cause="I do not know"), "unusable, by its own word"),
    ],
)
def test_whatever_else_it_returns_is_unusable_and_says_why(answer, words):
    verdict = read(answer)

    assert isinstance(verdict, Unusable)
    assert words in verdict.cause


def judged(function, request, name="checks:judge"):
    return asyncio.run(FunctionJudge(name, function).judge(request)).message.content


def careful(request):
    return {"verdict": "accept"} if request.steps[-1].effect is not Effect.WRITE else 1


async def patient(request):
    await asyncio.sleep(0)
    return request.drafted


def hands_on(request):
    return patient(request)


class Strict:
    def __init__(self, accepted):
        self.accepted = accepted

    def __call__(self, request):
        return self.accepted


class StrictAndAsync(Strict):
    async def __call__(self, request):
        return self.accepted


@pytest.mark.parametrize(
    ("function", "decision"),
    [
        (careful, "reject"),
        (patient, "accept"),
        (Strict(2), "accept"),
        (StrictAndAsync(0), "reject"),
        (functools.partial(lambda n, _request: n, 2), "accept"),
        (hands_on, "accept"),
    ],
)
def test_plain_and_async_functions_and_callable_objects_may_judge(request_, function, decision):
    assert json.loads(judged(function, request_))["verdict"] == decision


@in_loop
async def test_a_plain_function_that_waits_holds_up_nobody_else(request_):
    both = threading.Barrier(2, timeout=10)

    def waits(_request):
        both.wait()
        return True

    judge = FunctionJudge("checks:waits", waits)
    answers = await asyncio.gather(judge.judge(request_), judge.judge(request_))

    assert [answer.message.content for answer in answers] == ['{"verdict": "accept"}'] * 2


def fails(_request):
    raise KeyError("order_id")


async def fails_later(_request):
    await asyncio.sleep(0)
    raise RuntimeError("line one\nline two")


def stops(_request):
    raise StopIteration(3)


def leaves(_request):
    raise SystemExit(0)


def cancels(_request):
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (fails, r"checks:judge raised KeyError: 'order_id' \(test_functions\.py, line \d+\)"),
        (fails_later, "RuntimeError: line one\nline two"),
        (stops, "StopIteration: 3"),
        (leaves, "SystemExit: 0"),
        (cancels, "CancelledError"),
        (lambda: True, "TypeError"),
    ],
)
def test_an_error_is_a_failed_call_with_the_last_line_of_its_traceback(request_, function, words):
    with pytest.raises(ModelFailed, match=words) as failed:
        judged(function, request_)

    assert failed.value.kind == "invalid"


def test_the_facts_hold_the_digest_of_the_file_it_is_written_in():
    facts = asyncio.run(FunctionJudge(f"{__name__}:careful", careful).facts())
    digest = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()

    assert (facts.provider, facts.name, facts.url) == ("function", f"{__name__}:careful", None)
    assert json.loads(facts.server) == {"sources": f"{__name__} sha256:{digest}"}


def test_a_function_from_elsewhere_names_both_files():
    sources = json.loads(asyncio.run(FunctionJudge(f"{__name__}:loads", json.loads).facts()).server)["sources"]

    assert re.fullmatch(rf"{__name__} sha256:\w{{64}}, json sha256:\w{{64}}", sources)


def test_what_has_no_file_has_no_digest():
    assert json.loads(asyncio.run(FunctionJudge("builtins:len", len).facts()).server) == {
        "sources": "builtins without a file"
    }


@pytest.mark.parametrize("value", [3, None, "text", Strict])
def test_what_cannot_be_called_is_refused(value):
    with pytest.raises(UsageError, match="verifier checks:judge: expected a function of a ReviewRequest"):
        FunctionJudge("checks:judge", value)


def test_a_function_can_be_asked_about_anything(request_):
    judge = FunctionJudge("checks:judge", careful)

    assert (judge.covers(request_), judge.unused()) == (True, ())
