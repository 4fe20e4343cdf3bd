"""Re-enact a recording that no generator of ours made: ask the environment again what the record asked it."""

from collections.abc import Sequence

from spectrace.core import commands
from spectrace.core.commands import Protocol, tell
from spectrace.core.events import ActRequested, EpisodeEnded, EvaluateRequested, Event, ResetRequested, Unknown
from spectrace.core.types import Effect, Outcome

_ANSWERS = (".completed", ".failed")


def reenact(events: Sequence[Event]) -> Protocol[Outcome]:
    """Ask every recorded reset, act and evaluate again, tell the facts as recorded, and return the recorded outcome."""
    for event in events[1:]:
        match event.body:
            case ResetRequested(seed=seed):
                yield from commands.reset(seed)
            case ActRequested() as body:
                yield from commands.act(body.action, Effect(body.effect), body.authority, body.position, body.requestor)
            case EvaluateRequested():
                yield from commands.evaluate()
            case EpisodeEnded() as body:
                return Outcome(body.outcome, body.reason, body.answer, body.reward)
            case Unknown():
                pass
            case body if not event.type.endswith(_ANSWERS) and not event.type.startswith("generate."):
                yield from tell(body)
            case _:
                pass
    return Outcome("interrupted", "record_ends")
