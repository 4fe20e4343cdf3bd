"""What a protocol asks, in words for whoever writes the answers."""

from typing import assert_never

from spectrace.core.commands import Act, Check, Command, Evaluate, Generate, Parallel, Reset, Tell
from spectrace.testing.replies import written

_KINDS: dict[type[object], str] = {
    Reset: "the reset",
    Generate: "a question to a model",
    Act: "an action",
    Check: "whether there is an objection",
    Evaluate: "the grading",
}


def asks(command: Command | type[object]) -> str:
    """Return a question, or a kind of it, in words."""
    if isinstance(command, type):
        return _KINDS[command]
    match command:
        case Reset() | Evaluate():
            return _KINDS[type(command)]
        case Generate(role=role, who=who, position=position):
            return f"{who} ({role}, {position})"
        case Act(action=action, effect=effect, position=position):
            return f"{written(action)} ({effect}, {position})"
        case Check(action=action):
            return f"whether there is an objection to {written(action)}"
        case Tell(body=body):
            return f"to record {body.TYPE}"
        case Parallel(branches=branches):
            return f"{len(branches)} branches side by side"
        case _:
            assert_never(command)
