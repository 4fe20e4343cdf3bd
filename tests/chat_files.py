"""Files of chat messages in OpenAI's format, for tests of their import and export."""

import json
from pathlib import Path

from spectrace.interchange.openai_chat import import_file
from spectrace.interchange.openai_chat_export import export_openai
from spectrace.store.memory import MemoryEventStore

SYSTEM = {"role": "system", "content": "Help the customer."}
ASK = {"role": "user", "content": "Cancel W2."}
SAID = {"role": "assistant", "content": "Which one?"}
ANSWER = {"role": "user", "content": "The blue one."}
DONE = {"role": "assistant", "content": "Done."}


def call(id_: str, name: str = "find", arguments: str = "{}") -> dict[str, object]:
    """A call as such files hold it."""
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*made: dict[str, object], **members: object) -> dict[str, object]:
    """An assistant's message with calls."""
    return {"role": "assistant", "content": None, "tool_calls": list(made), **members}


def result(id_: str, content: str) -> dict[str, object]:
    """A tool's message."""
    return {"role": "tool", "tool_call_id": id_, "content": content}


def written(path: Path, *messages: object) -> Path:
    """Write one message a line."""
    path.write_text("".join(json.dumps(one) + "\n" for one in messages))
    return path


def imported(path: Path) -> tuple[MemoryEventStore, list[str]]:
    """Import a file into a store of its own; return the episodes."""
    store = MemoryEventStore()
    return store, [one.episode for one in import_file(path, store)]


def round_trip(path: Path) -> str:
    """Import a file, export all of it again; return the new file's text."""
    store, episodes = imported(path)
    target = path.with_name(f"again-{path.name}")
    export_openai(store, episodes, target)
    return target.read_text()
