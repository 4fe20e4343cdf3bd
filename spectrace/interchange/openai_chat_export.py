"""`export openai`: episodes as chat messages in OpenAI's format. Counterpart of `openai_chat`, which takes them in.

An episode that came from such a file is given back as it was, message for message. Of any other the history that stood
is told: what a model would be shown of it. One episode is written in the layout that it came in, else as one object;
several are one object a line.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spectrace.core.events import (
    ActCompleted,
    EpisodeStarted,
    Event,
    GenerateCompleted,
    GenerateRequested,
    Origin,
    ResetCompleted,
)
from spectrace.core.fold import Episode, fold
from spectrace.core.types import Call, Message, Step, ToolSpec
from spectrace.errors import UsageError
from spectrace.interchange import json_text
from spectrace.interchange.jsonl_export import Exported, Progress
from spectrace.interchange.openai_chat import FORMAT
from spectrace.interchange.openai_chat_events import OPENING
from spectrace.interchange.openai_chat_file import ARRAY, LINES, OBJECT
from spectrace.interchange.openai_chat_messages import REASONING, restored
from spectrace.store.event_store import EventStore
from spectrace.store.new_file import new_file
from spectrace.store.outgoing import unfinished

UNSAID = (
    "Chat messages say nothing of times, token counts, effects, authorities, fingerprints or grades.",
    "The models' prompts and reasoning are left out: the history is told as it stood at the end.",
)
UNSAID_REVIEWS = "Verdicts, repairs' reasons and what was discarded are left out: only the history that stood is told."
UNREADABLE = "Message {} is left out: the event that holds it cannot be read."
_NO_LINE_BREAKS = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}
"""Some readers of lines end one at these, which JSON need not escape; they stand in strings only."""


@dataclass(slots=True)
class _Written:
    """One episode in the format."""

    layout: str
    messages: list[str] = field(default_factory=list)
    beside: dict[str, str] = field(default_factory=dict)
    losses: list[str] = field(default_factory=list)

    def object(self) -> str:
        """Return it as one object."""
        return json_text.joined({"messages": json_text.joined_items(self.messages), **self.beside})

    def document(self) -> Iterator[str]:
        """Yield the lines of a file of its own."""
        if self.layout == LINES:
            yield from self.messages
        else:
            yield json_text.joined_items(self.messages) if self.layout == ARRAY else self.object()


def export_openai(
    store: EventStore,
    episodes: Sequence[str],
    target: Path,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> list[Exported]:
    """Write the episodes into a new file."""
    chosen = sorted(set(episodes))
    if not chosen:
        raise UsageError("name at least one episode to export.")
    done: list[Exported] = []
    with new_file(target, force=force) as file:
        for episode in chosen:
            row = store.row(episode)
            events = list(store.read(episode))
            one = _episode(events)
            for line in one.document() if len(chosen) == 1 else (one.object(),):
                # Half a pair, which UTF-8 cannot say, as the escape that JSON has for it.
                file.write(line.translate(_NO_LINE_BREAKS).encode("utf-8", "backslashreplace") + b"\n")
            done.append(Exported(episode, len(events), (*unfinished(row), *one.losses)))
            if progress is not None:
                progress(len(done), len(chosen))
    return done


def _episode(events: Sequence[Event]) -> _Written:
    started = events[0].body if events else None
    if isinstance(started, EpisodeStarted) and started.origin is not None and started.origin.format == FORMAT:
        return _given_back(started.origin, _Held.of(events))
    return _told(fold(events))


@dataclass(slots=True)
class _Held:
    """The messages that events hold, by the names that `origin.extra` gives them."""

    opening: tuple[Message, ...] = ()
    answers: dict[str, GenerateCompleted] = field(default_factory=dict)
    observations: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, events: Sequence[Event]) -> "_Held":
        """Collect them."""
        found, positions = cls(), dict[int, str]()
        for event in events:
            match event.body:
                case ResetCompleted(messages=messages):
                    found.opening = messages
                case GenerateRequested(position=position):
                    positions[event.seq] = position
                case GenerateCompleted(request=request) as body if request in positions:
                    found.answers[positions[request]] = body
                case ActCompleted(position=position, observation=observation):
                    found.observations[position] = observation.content
                case _:
                    pass
        return found

    def message(self, where: str, shape: Mapping[str, object]) -> str:
        """Return a message as it was; raise LookupError where its event cannot be read."""
        if where.startswith(OPENING):
            return restored(shape, {"content": self.opening[int(where.removeprefix(OPENING))].content})
        if where in self.observations:
            return restored(shape, {"content": self.observations[where]})
        body = self.answers[where]
        reasoning = dict.fromkeys(REASONING, body.reasoning or "")
        return restored(shape, {"content": body.message.content, **reasoning}, body.message.calls)


def _given_back(origin: Origin, held: _Held) -> _Written:
    extra = json.loads(origin.extra)
    written = _Written(extra["layout"], beside=extra["beside"])
    for number, one in enumerate(extra["messages"], 1):
        try:
            written.messages.append(one["text"] if "text" in one else held.message(one["held"], one["shape"]))
        except (LookupError, ValueError):
            written.losses.append(UNREADABLE.format(number))
    return written


def _told(episode: Episode) -> _Written:
    started = episode.started
    written = _Written(OBJECT, losses=list(UNSAID))
    if episode.totals.reviews or episode.totals.discarded:
        written.losses.append(UNSAID_REVIEWS)
    if started.instructions:
        written.messages.append(_message("system", content=started.instructions))
    written.messages += [_message(one.role, content=one.content) for one in episode.history.opening]
    for step in episode.history.steps:
        written.messages += _step(step)
    if started.tools:
        written.beside["tools"] = json_text.joined_items([_tool(tool) for tool in started.tools])
    return written


def _step(step: Step) -> Iterator[str]:
    seen = step.observation
    if isinstance(step.action, Call):
        function = {"name": step.action.tool, "arguments": step.action.arguments}
        call = {"id": step.position, "type": "function", "function": function}
        yield _message("assistant", content=None, tool_calls=[call])
        if seen is not None:
            yield _message("tool", tool_call_id=step.position, content=seen.content)
        return
    yield _message("assistant", content=step.action.text)
    if seen is not None and seen.content:
        yield _message("user", content=seen.content)


def _message(role: str, **members: object) -> str:
    return json_text.compact(json.dumps({"role": role, **members}))


def _tool(tool: ToolSpec) -> str:
    function = {
        "name": json_text.quoted(tool.name),
        "description": json_text.quoted(tool.description),
        "parameters": tool.parameters,
    }
    return json_text.joined({"type": '"function"', "function": json_text.joined(function)})
