"""The typed verbs: what they yield and how they go on after NeedsModel."""

from spectrace.core import commands
from spectrace.core.commands import Act, Acted, Asked, Began, Check, Evaluate, Generate, Parallel, Reset, Tell
from spectrace.core.events import EvaluateRequested
from spectrace.core.types import (
    Completion,
    Effect,
    Evaluation,
    Message,
    ModelRequest,
    NeedsModel,
    Observation,
    Opening,
    Reply,
    Role,
)

REQUEST = ModelRequest((Message("user", "hi"),))
SPOKEN = Completion(Message("assistant", "hello"))


def talk(protocol, *answers):
    """Return what a protocol asked and what it returned, given the answers in order."""
    asked = [next(protocol)]
    try:
        for answer in answers:
            asked.append(protocol.send(answer))  # noqa: PERF401 - StopIteration must reach the except
    except StopIteration as stop:
        return asked, stop.value
    return asked, None


def test_an_act_asks_the_model_that_the_environment_needs_and_resumes_with_its_completion():
    acted = Acted(Observation("fine"), 4, None, None)
    act = commands.act(Reply("well?"), Effect.REPLY, "reply", "s1.1")
    asked, result = talk(act, NeedsModel(Role.USER, REQUEST), Asked(SPOKEN, 5), acted)

    assert [type(command) for command in asked] == [Act, Generate, Act]
    assert (asked[1].who, asked[1].request, asked[2].supplied) == ("user", REQUEST, SPOKEN)
    assert result == acted


def test_reset_and_evaluate_may_need_models_too():
    began = Began(Opening((Message("user", "go"),)), None)
    asked, result = talk(commands.reset(3), NeedsModel(Role.USER, REQUEST), Asked(SPOKEN, 2), began)
    assert ([type(c) for c in asked], result) == ([Reset, Generate, Reset], began)

    asked, result = talk(commands.evaluate(), NeedsModel(Role.JUDGE, REQUEST), Asked(SPOKEN, 2), Evaluation("1.0"))
    assert ([type(c) for c in asked], result) == ([Evaluate, Generate, Evaluate], Evaluation("1.0"))


def test_tell_returns_the_events_number_and_check_the_objection():
    assert talk(commands.tell(EvaluateRequested()), 17) == ([Tell(EvaluateRequested())], 17)
    assert talk(commands.check(Reply("x")), "no") == ([Check(Reply("x"))], "no")


def test_parallel_hands_over_its_branches():
    branch = commands.evaluate()

    assert talk(commands.parallel([branch]), ()) == ([Parallel((branch,))], ())
