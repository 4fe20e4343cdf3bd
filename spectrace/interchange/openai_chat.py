"""Chat messages in OpenAI's format, in: every dialogue becomes one recorded one-model episode, protocol `imported`.

All that a file says is kept: `origin.extra` holds the shape of each message, with what no event holds, and where the
rest of it is, so that `openai_chat_export` gives every message back. What the file does not say is in `origin.losses`.
"""

import json
import platform
import time
from collections.abc import Mapping
from pathlib import Path

from spectrace import __version__
from spectrace.core.digest import task_digest, tools_digest
from spectrace.core.events import EpisodeStarted, Origin, StartedBy, Versions
from spectrace.core.prompts import PROTOCOL_REVISION
from spectrace.core.types import EnvironmentFacts, ModelFacts, Outcome, Task, ToolSpec
from spectrace.interchange import json_text, losses
from spectrace.interchange.imported import (
    Filing,
    Imported,
    Progress,
    episode_id,
    import_each,
    require_filed,
    there_already,
    write_episode,
)
from spectrace.interchange.openai_chat_events import Chat, transcribe
from spectrace.interchange.openai_chat_file import ChatFile, Dialogue, read_chat_file
from spectrace.interchange.openai_chat_messages import Read, read_messages
from spectrace.interchange.tau2_tools import defined_tools, effects
from spectrace.interchange.tau2_transcript import Scene
from spectrace.redaction.redactor import Redactor
from spectrace.store.begun import Arrivals
from spectrace.store.event_store import EventStore

FORMAT = "openai"
ENVIRONMENT = "openai-chat"
ENDS = "history_ends"
"""Why every such episode ended: nobody says more."""


def import_file(  # noqa: PLR0913 - a file, where it goes and how
    path: Path | str,
    store: EventStore,
    *,
    project: str = "default",
    run: str | None = None,
    progress: Progress | None = None,
    redactor: Redactor | None = None,
) -> list[Imported]:
    """Record every dialogue of a file; raise UsageError, before anything is recorded, for another file."""
    file = read_chat_file(Path(path))
    require_filed(redactor, project, run, (one.entry for one in file.dialogues))

    def one(dialogue: Dialogue, record: Arrivals | None) -> Imported:
        return _import(file, dialogue, store, Filing(project, run, redactor=redactor), record)

    return import_each(store, file.name, file.digest, file.dialogues, one, progress)


def _import(file: ChatFile, dialogue: Dialogue, store: EventStore, filing: Filing, record: Arrivals | None) -> Imported:
    episode = episode_id(FORMAT, file.digest, dialogue.entry)
    there = there_already(store, episode, dialogue.entry, file.name)
    if there is not None:
        return Imported(episode, (), dialogue.entry, skipped=there)
    lost = _always_lost(dialogue)
    read = read_messages(dialogue.messages, lost)
    chat = transcribe(_scene(episode, dialogue, read), read.said, lost)
    first = _started(file, dialogue, read, chat, filing)
    write_episode(store, episode, first, chat.script.pending, record, filing.redactor)
    return Imported(episode, tuple(sorted(lost)), dialogue.entry)


def _always_lost(dialogue: Dialogue) -> set[str]:
    lost = {
        losses.NO_TIMES,
        losses.NO_LATENCY,
        losses.NO_FINGERPRINTS,
        losses.NO_AUTHORITY,
        losses.NO_TERMINATION,
        losses.NO_REWARD,
    }
    lost |= set() if _tools(dialogue) else {losses.NO_TOOLS}
    return lost if json_text.string(dialogue.beside.get("model")) else lost | {losses.NO_MODEL}


def _tools(dialogue: Dialogue) -> tuple[ToolSpec, ...]:
    return defined_tools("", dialogue.beside.get("tools"))


def _scene(episode: str, dialogue: Dialogue, read: Read) -> Scene:
    last = read.said[-1]
    whole = last.role == "assistant" and last.speaks
    return Scene(
        episode=episode,
        began=time.time_ns() // 1000,
        seed=None,
        tools=_tools(dialogue),
        effects=effects("", _tools(dialogue)),
        agent_parameters="{}",
        user_parameters="{}",
        outcome=Outcome("completed" if whole else "interrupted", ENDS),
        grade=None,
    )


def _started(file: ChatFile, dialogue: Dialogue, read: Read, chat: Chat, filing: Filing) -> EpisodeStarted:
    """Return event 0. Nobody of ours started it: started_by is unknown, options and prompts are empty."""
    asked = next((said.content for said in read.said if said.role == "user"), None)
    task, tools = Task(dialogue.entry, asked or ""), chat.script.scene.tools
    model = json_text.string(dialogue.beside.get("model")) or "unknown"
    return EpisodeStarted(
        project=filing.project,
        labels=(),
        started_by=StartedBy("unknown", "unknown"),
        operator=None,
        task=task,
        task_digest=task_digest(task),
        environment=EnvironmentFacts(
            name=ENVIRONMENT, package="unknown", version="unknown", restore="none", replies=True, finish=False
        ),
        instructions="\n".join(said.content or "" for said in read.said[:1] if said.role in {"system", "developer"}),
        tools=tools,
        tools_digest=tools_digest(tools),
        protocol="imported",
        protocol_revision=PROTOCOL_REVISION,
        options="{}",
        prompts="{}",
        models=(ModelFacts("strong", "unknown", model, calls="native", constrained=False),),
        seed=None,
        trial=0,
        run=filing.run,
        versions=Versions(__version__, platform.python_version()),
        origin=Origin(
            format=FORMAT,
            file=file.name,
            digest=file.digest,
            entry=dialogue.entry,
            losses=tuple(sorted(chat.script.lost)),
            extra=_extra(dialogue, read, chat),
        ),
    )


def _extra(dialogue: Dialogue, read: Read, chat: Chat) -> str:
    """Return how the messages lay in the file, as JSON text: which event holds each, and what none does."""
    messages: list[Mapping[str, object]] = []
    for place, shape in enumerate(read.shapes):
        if place in chat.held:
            messages.append({"held": chat.held[place], "shape": shape})
        else:
            messages.append({"text": dialogue.messages[place]})
    extra = {
        "layout": dialogue.layout,
        "beside": dialogue.beside,
        "messages": messages,
        "synthetic": read.synthetic,
        "inferred": read.inferred,
    }
    return json.dumps(extra, ensure_ascii=True, separators=(",", ":"))
