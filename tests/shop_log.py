"""The shop's recorded episodes for the tests of whatever reads a log, and the same models as script files."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from spectrace.models.scripted import Scripted, ScriptedModel
from spectrace.runs.reverify import reverify_episode
from spectrace.store.event_store import EventStore
from tests.episodes import record_shop

REQUEST = "Hi, Ana Silva here. Please cancel my order W200."
REASON = "find the customer first"


def recorded(store: EventStore, **of_record: object) -> str:
    """Record one episode and return its id."""
    return asyncio.run(record_shop(store, **of_record)).episode


def reverified(store: EventStore, episode: str, run: str, replies: Sequence[Scripted]) -> None:
    """Judge an episode's reviews again with a scripted verifier."""
    verifier = ScriptedModel(replies, name="second")
    asyncio.run(reverify_episode(list(store.read(episode)), verifier, store, run))


WEAK_SCRIPT: list[object] = [
    {"action": {"tool": "cancel_order", "arguments": {"order_id": "W200"}}},
    {"action": {"tool": "get_order", "arguments": {"order_id": "W200"}}},
    {"action": {"tool": "cancel_order", "arguments": {"order_id": "W200"}}},
    {"action": {"finish": "W200 is cancelled."}},
]
STRONG_SCRIPT: list[object] = [
    {
        "verdict": {
            "verdict": "reject",
            "first_wrong": 1,
            "category": "premature",
            "reason": REASON,
            "replacement": {"tool": "find_customer", "arguments": {"name_or_email": "Ana Silva"}},
        }
    },
    {"verdict": "accept"},
    {"verdict": "accept"},
]
"""The models of `tests.episodes`, as files may hold them."""


def script(path: Path, replies: Sequence[object]) -> str:
    """Write replies as a script file; return the model's name on a command line."""
    path.write_text(json.dumps({"replies": list(replies)}))
    return f"scripted:{path}"
