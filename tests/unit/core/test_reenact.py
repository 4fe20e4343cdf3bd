from collections.abc import Sequence

import pytest

from spectrace.core.commands import Act, Acted, Began, Command, Evaluate, Protocol, Reset, Tell
from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ActRequested,
    Body,
    EpisodeEnded,
    EvaluateCompleted,
    EvaluateRequested,
    Event,
    GenerateRequested,
    ResetCompleted,
    ResetRequested,
    SegmentCommitted,
)
from spectrace.core.reenact import reenact
from spectrace.core.types import (
    Call,
    Effect,
    Evaluation,
    ModelRequest,
    NeedsModel,
    Observation,
    Opening,
    Outcome,
    Role,
)
from spectrace.errors import Untestable

CALL = Call("cancel", '{"id": 1}')
WAIT = Observation("done")
COMMITTED = SegmentCommitted(segment=1, start=1, end=1, reviewed="not_applicable")
ENDED = EpisodeEnded(outcome="completed", reason="user_stop", answer=None, reward="1.0")
MODEL_CALL = GenerateRequested(
    role="actor", who="strong", position="s1", messages=(), tools_digest=None, response_schema=None, parameters="{}"
)


def requested(position: str = "s1.1", requestor: str = "agent") -> ActRequested:
    return ActRequested(
        effect="write",
        authority="unknown",
        tool="cancel",
        position=position,
        action=CALL,
        requestor=requestor,
        idempotency_key="",
    )


def completed(request: int) -> ActCompleted:
    return ActCompleted(
        effect="write",
        authority="unknown",
        outcome="ok",
        tool="cancel",
        request=request,
        position="s1.1",
        observation=WAIT,
        fingerprint_before=None,
        fingerprint_after=None,
        latency_us=None,
        source="import",
    )


def failed(request: int) -> ActFailed:
    return ActFailed(
        effect="write",
        authority="unknown",
        outcome="indeterminate",
        tool="cancel",
        request=request,
        position="s1.1",
        kind="unavailable",
        error="no result",
        latency_us=None,
        source="import",
    )


def log(*bodies: Body) -> list[Event]:
    return [Event("e1", seq, "", 0, body) for seq, body in enumerate(bodies, 1)]


def opening() -> tuple[Body, Body]:
    answer = ResetCompleted(request=1, messages=(), done=False, fingerprint=None, latency_us=None, source="import")
    return ResetRequested(seed=7), answer


def asked(protocol: Protocol[Outcome], answers: Sequence[object]) -> tuple[list[Command], Outcome]:
    commands = [next(protocol)]
    for answer in answers:
        try:
            commands.append(protocol.send(answer))
        except StopIteration as stop:
            return commands, stop.value
    raise AssertionError(commands)


def test_the_record_is_asked_again_in_order_and_model_calls_are_not():
    grade = EvaluateCompleted(request=7, reward="1.0", detail="{}", fingerprint=None, latency_us=None, source="import")
    events = log(*opening(), MODEL_CALL, requested(), completed(4), COMMITTED, EvaluateRequested(), grade, ENDED)

    answers = [Began(Opening(()), None), Acted(WAIT, 4, None, None), 6, Evaluation("1.0")]
    commands, outcome = asked(reenact(events), answers)

    assert commands == [Reset(7), Act(CALL, Effect.WRITE, "unknown", "s1.1"), Tell(COMMITTED), Evaluate()]
    assert outcome == Outcome("completed", "user_stop", None, "1.0")


def test_a_write_whose_fate_is_unknown_is_not_executed_to_find_out():
    protocol = reenact(log(*opening(), requested(), failed(3), ENDED))
    next(protocol)

    with pytest.raises(Untestable, match=r"event 3: the record holds no answer .* \(no result\)"):
        protocol.send(Began(Opening(()), None))


def test_what_the_user_did_inside_a_reply_is_untestable():
    protocol = reenact(log(*opening(), requested(), requested("s1.u1", "user"), completed(4), completed(3), ENDED))
    next(protocol)

    with pytest.raises(Untestable, match=r"event 3: .* \(event 4, act.requested\)"):
        protocol.send(Began(Opening(()), None))


def test_a_record_that_stops_at_a_question_is_untestable_there():
    protocol = reenact(log(*opening(), requested()))
    next(protocol)

    with pytest.raises(Untestable, match="event 3: the record ends"):
        protocol.send(Began(Opening(()), None))


def test_an_environment_that_needs_a_model_is_untestable():
    protocol = reenact(log(*opening(), ENDED))
    next(protocol)

    with pytest.raises(Untestable, match="event 1: the environment needs a model"):
        protocol.send(NeedsModel(Role.USER, ModelRequest(())))


def test_a_record_without_an_end_is_interrupted():
    _, outcome = asked(reenact(log(*opening())), [Began(Opening(()), None)])

    assert outcome == Outcome("interrupted", "record_ends")
