from spectrace.core.commands import Act, Check, Evaluate, Generate, Parallel, Reset, Tell
from spectrace.core.events import SegmentClosed
from spectrace.core.types import Call, Effect, ModelRequest, Role
from spectrace.testing.told import asks

LOOK = Call("look", '{"id": "A"}')


def test_every_question_is_told_in_words():
    told = [
        asks(Reset(None)),
        asks(Generate(Role.REVIEWER, "strong", "s1", ModelRequest(()))),
        asks(Act(LOOK, Effect.READ, "read", "s1.1")),
        asks(Check(LOOK)),
        asks(Evaluate()),
        asks(Tell(SegmentClosed(segment=1, reason="held", steps=1, dropped=0))),
        asks(Parallel(())),
    ]

    assert told == [
        "the reset",
        "strong (reviewer, s1)",
        '{"tool": "look", "arguments": {"id": "A"}} (read, s1.1)',
        'whether there is an objection to {"tool": "look", "arguments": {"id": "A"}}',
        "the grading",
        "to record segment.closed",
        "0 branches side by side",
    ]


def test_a_kind_of_question_is_told_without_its_content():
    assert [asks(kind) for kind in (Reset, Generate, Act, Check, Evaluate)] == [
        "the reset",
        "a question to a model",
        "an action",
        "whether there is an objection",
        "the grading",
    ]
