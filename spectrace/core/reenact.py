"""Asking again what a foreign recording asked: the generator of the protocol `imported`. Counterpart of interchange.

No generator of ours made such an episode, so its questions are taken from the record: the reset, every act in its
order, the grade. Model calls are not asked again and facts are told as recorded: only what the environment answers can
differ.
"""

from collections.abc import Sequence

from spectrace.core.commands import Act, Command, Evaluate, Protocol, Reset, ask, tell
from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ActRequested,
    EpisodeEnded,
    EpisodeStarted,
    EvaluateCompleted,
    EvaluateFailed,
    EvaluateRequested,
    Event,
    GenerateCompleted,
    GenerateFailed,
    GenerateRequested,
    ResetCompleted,
    ResetFailed,
    ResetRequested,
    Unknown,
)
from spectrace.core.types import Effect, NeedsModel, Outcome
from spectrace.errors import Untestable

_NOT_ASKED = (EpisodeStarted, GenerateRequested, GenerateCompleted, GenerateFailed, Unknown)
_ANSWERS = (ActCompleted, ResetCompleted, EvaluateCompleted)
_FAILURES = (ActFailed, ResetFailed, EvaluateFailed)
_Question = ActRequested | ResetRequested | EvaluateRequested


def reenact(events: Sequence[Event]) -> Protocol[Outcome]:
    """Ask the recorded questions in order and return the recorded outcome.

    Raises Untestable before a question that has no answer of its own in the record: a write whose fate nobody knows is
    not executed to find out.
    """
    asked = [event for event in events if not isinstance(event.body, _NOT_ASKED)]
    for place, event in enumerate(asked):
        match event.body:
            case ResetRequested() | ActRequested() | EvaluateRequested() as question:
                _require_answer(event, asked[place + 1] if place + 1 < len(asked) else None)
                if isinstance((yield from ask(_command(question))), NeedsModel):
                    raise Untestable(f"event {event.seq}: the environment needs a model that the record has no word of")
            case EpisodeEnded() as end:
                return Outcome(end.outcome, end.reason, end.answer, end.reward)
            case Unknown() | ActCompleted() | ResetCompleted() | EvaluateCompleted():
                pass  # the driver wrote the answer when the question was asked
            case fact:
                yield from tell(fact)
    return Outcome("interrupted", "record_ends")


def _require_answer(question: Event, following: Event | None) -> None:
    """Let a question be asked only where the next event, model calls aside, is its answer."""
    if following is None:
        raise Untestable(f"event {question.seq}: the record ends at this {question.type}")
    body = following.body
    if isinstance(body, _FAILURES):
        raise Untestable(f"event {question.seq}: the record holds no answer to this {question.type} ({body.error})")
    if not isinstance(body, _ANSWERS) or body.request != question.seq:
        raise Untestable(
            f"event {question.seq}: something happened between this {question.type} and its answer "
            f"(event {following.seq}, {following.type}): what the user did meanwhile cannot be asked again"
        )


def _command(question: _Question) -> Command:
    match question:
        case ResetRequested(seed=seed):
            return Reset(seed)
        case ActRequested(action=action, effect=effect, authority=authority, position=position, requestor=requestor):
            return Act(action, Effect(effect), authority, position, requestor)
        case EvaluateRequested():
            return Evaluate()
