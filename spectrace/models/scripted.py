"""ScriptedModel: a model whose replies are written beforehand, for tests, docs and demonstrations without weights.

    ScriptedModel(call("get_order", order_id="W200"), finish("Done."))

From Python, a reply is text, an Action, a Completion, an Exception to raise, or a function of the request that returns
one of these (it may be async); `spectrace.testing` has words for the usual ones. From a file:
`script_file.read_script`. Replies are taken in order; where a script has several tasks, each has its own order, so that
episodes may run side by side. Nothing is invented: a script that has run out fails, and token counts are unknown unless
the script gives them.
"""

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal

from spectrace.core.types import (
    Action,
    Call,
    Completion,
    Finish,
    Message,
    ModelFacts,
    ModelRequest,
    Reply,
    ToolCall,
)
from spectrace.errors import ModelFailed, UsageError

Scripted = str | Action | Completion | Exception | Callable[[ModelRequest], "Scripted | Awaitable[Scripted]"]
"""One reply."""


class ScriptedModel:
    """A model that answers as it was told to."""

    def __init__(
        self,
        *replies: Scripted | Sequence[Scripted],
        by_task: Mapping[str, Sequence[Scripted]] | None = None,
        name: str = "scripted",
        calls: Literal["json", "native"] = "json",
        repeat: bool = False,
        source: Mapping[str, str] | None = None,
    ) -> None:
        """Answer with `replies` in order, or with those of the task whose text occurs in the messages.

        They may come as one list. One function alone answers every call. `repeat` begins again after the last reply.
        """
        self.name = name
        self.requests: list[ModelRequest] = []
        """Every request so far, in order."""
        first = replies[0] if len(replies) == 1 else None
        self._always = first if callable(first) else None
        self._replies = () if callable(first) else _in_order(replies)
        self._by_task = {text: tuple(listed) for text, listed in (by_task or {}).items()}
        self._taken: dict[str | None, int] = {}
        self._calls: Literal["json", "native"] = calls
        self._repeat = repeat
        self._source = dict(source or {})

    @property
    def can_score(self) -> bool:
        """Whether some reply holds scores, or may: a function answers what it likes."""
        listed = (self._replies, *self._by_task.values())
        return self._always is not None or any(_scores(reply) for replies in listed for reply in replies)

    @property
    def left(self) -> int:
        """How many of the replies were not asked for; 0 where a function answers."""
        listed = [(None, self._replies), *self._by_task.items()]
        return sum(max(0, len(replies) - self._taken.get(task, 0)) for task, replies in listed)

    async def facts(self) -> ModelFacts:
        """Name the script and its digest."""
        server = json.dumps(self._source, sort_keys=True)
        return ModelFacts(role="", provider="scripted", name=self.name, calls=self._calls, server=server)

    async def generate(self, request: ModelRequest) -> Completion:
        """Answer with the next reply."""
        self.requests.append(request)
        reply = self._next(request)
        while callable(reply):
            answer = reply(request)
            reply = (await answer) if inspect.isawaitable(answer) else answer
        match reply:
            case Exception():
                raise reply
            case Completion():
                return reply
            case str():
                return Completion(Message("assistant", reply), finish_reason="stop", model=self.name, latency_us=0)
            case _:
                message = action_message(reply, native=self._calls == "native")
                return Completion(message, finish_reason="stop", model=self.name, latency_us=0)

    def _next(self, request: ModelRequest) -> Scripted:
        if self._always is not None:
            return self._always
        task = self._task(request)
        replies = self._replies if task is None else self._by_task[task]
        taken = self._taken.get(task, 0)
        if taken >= len(replies) and not (self._repeat and replies):
            of = "" if task is None else f" for {task!r}"
            raise ModelFailed(
                "invalid",
                f"The script {self.name!r} holds {len(replies)} replies{of}, and this is call {taken + 1}. "
                "Add a reply, or set repeat.",
            )
        self._taken[task] = taken + 1
        return replies[taken % len(replies)]

    def _task(self, request: ModelRequest) -> str | None:
        """Return the task: the first message that holds any task's text decides, and in it the longest such text."""
        for message in request.messages:
            found = [text for text in self._by_task if text in message.content]
            if found:
                return max(found, key=len)
        return None

    async def close(self) -> None:
        """Nothing is held."""


def _in_order(replies: Sequence[Scripted | Sequence[Scripted]]) -> tuple[Scripted, ...]:
    """Return the replies, given one by one or as one list."""
    found: list[Scripted] = []
    for reply in replies:
        if isinstance(reply, str) or not isinstance(reply, Sequence):
            found.append(reply)
        elif len(replies) == 1:
            return tuple(reply)
        else:
            raise UsageError(
                f"ScriptedModel: the replies come one by one or as one list, found {len(replies)} of which one is a "
                f"{type(reply).__name__}; `*` before it lets its replies come one by one."
            )
    return tuple(found)


def _scores(reply: Scripted) -> bool:
    text = reply.message.content if isinstance(reply, Completion) else reply
    if not isinstance(text, str):
        return callable(text)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and {"yes", "no"} <= set(found)


def action_message(action: Action, *, native: bool) -> Message:
    """Return an action as a model writes it: the JSON of the protocol, or a native call."""
    match action:
        case Call(tool, arguments) if native:
            return Message("assistant", "", (ToolCall("call_0", tool, arguments),))
        case Reply(text) | Finish(text) if native:
            return Message("assistant", text)
        case Call(tool, arguments):
            return Message("assistant", f'{{"tool": {json.dumps(tool)}, "arguments": {arguments}}}')
        case Reply(text):
            return Message("assistant", json.dumps({"reply": text}, ensure_ascii=False))
        case Finish(text):
            return Message("assistant", json.dumps({"finish": text}, ensure_ascii=False))
