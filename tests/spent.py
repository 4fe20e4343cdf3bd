"""Scripted replies that a server has counted: tokens and time beside the words."""

from spectrace.core.types import Action, Completion, Message, Usage
from spectrace.models.scripted import action_message
from tests.episodes import CANCEL, DONE, FIND, READ, WEAK
from tests.playbook import accept, reject


def told(reply: Action | str, read: int, cached: int, written: int, seconds: float = 1.0) -> Completion:
    """Return a reply with its usage."""
    message = Message("assistant", reply) if isinstance(reply, str) else action_message(reply, native=False)
    return Completion(
        message,
        finish_reason="stop",
        usage=Usage(read, cached, written),
        latency_us=round(seconds * 1e6),
    )


WEAK_TOLD = [told(action, 500 + 50 * turn, 450 + 50 * turn, 10, 0.2) for turn, action in enumerate(WEAK)]
STRONG_TOLD = [
    told(reject(1, FIND, reason="find the customer first"), 600, 0, 40, 4.0),
    told(accept(), 700, 600, 5, 1.0),
    told(accept(), 800, 700, 5, 1.0),
]
"""`tests.episodes`: one rejection with a fused repair, two accepting reviews."""
ALONE_TOLD = [
    told(action, 500 + 100 * turn, 400 + 100 * turn, 20, 2.0) for turn, action in enumerate((FIND, READ, CANCEL, DONE))
]
"""The strong model on its own."""
