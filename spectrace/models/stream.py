"""A streamed chat completion: bytes of server-sent events -> the same Reply as an unstreamed one.

Pure. The pieces are put together into the body that the server would have sent whole, and `chat.read_body` reads that:
one reading for both. Usage is a running total and never added up. A stream that broke off is no reply. Which call a
piece of arguments belongs to is decided in `stream_calls.py`, which refuses where the labels do not say.
"""

from collections.abc import Mapping

from spectrace.models import chat, finish
from spectrace.models.calls import InvalidReply, json_object
from spectrace.models.sse import Events
from spectrace.models.stream_calls import CallPieces

_DONE = "[DONE]"


class StreamBroken(Exception):
    """The stream ended before the reply did."""


class StreamFailed(Exception):
    """The server reported an error inside the stream; the text is its words."""


class ChatStream:
    """The reply of one stream, as far as it has arrived."""

    def __init__(self) -> None:
        """Nothing has arrived yet."""
        self._events = Events()
        self._calls = CallPieces()
        self._texts: dict[str, list[str]] = {}
        self._top: dict[str, object] = {}
        self._choice: dict[str, object] = {}
        self._usage: Mapping[str, object] | None = None
        self._ends: list[object] = []
        self._anomalies: list[str] = []
        self.done = False
        """Whether the server said that nothing follows."""
        self.begun = False
        """Whether a first token has arrived: of the text, of the reasoning or of a call."""

    def feed(self, piece: bytes) -> None:
        """Take the next bytes; raise InvalidReply or StreamFailed for what is none of a reply's."""
        for data in self._events.feed(piece):
            self._event(data)

    def partial_text(self) -> str:
        """Return what can be read of an unfinished reply: its text and, below, its calls."""
        return "\n".join([chat.pieced(self._texts.get("content", ())), *self._calls.shown()]).strip("\n")

    def reply(self) -> chat.Reply:
        """Return the reply; the server has ended the stream."""
        for data in self._events.end():
            if data.strip() == _DONE or json_object(data) is not None:  # else the stream ended inside an event
                self._event(data)
        if not self.done and not self._ends:
            error = chat.error_text(json_object(self._events.stray))
            if error is not None:
                raise StreamFailed(error)
            raise StreamBroken("the stream ended without a finish reason and without [DONE]")
        if not self.done:
            self._anomalies.append("the stream ended without [DONE]")
        message: dict[str, object] = {name: chat.pieced(pieces) for name, pieces in self._texts.items()}
        message["tool_calls"] = self._calls.whole()
        reason, odd = finish.settled(self._ends)
        choice = self._choice | {"finish_reason": reason, "message": message}
        reply = chat.read_body(self._top | {"choices": [choice], "usage": self._usage})
        noted = (*self._anomalies, *odd, *self._calls.anomalies, *reply.anomalies)
        return chat.with_anomalies(reply, noted)

    def _event(self, data: str) -> None:
        if self.done or not data.strip():
            return
        if data.strip() == _DONE:
            self.done = True
            return
        try:
            chunk = chat.read_object(data)
        except InvalidReply as broken:
            raise InvalidReply(f"{broken}, in a chunk of its stream") from None
        error = chat.error_text(chunk)
        if error is not None:
            raise StreamFailed(error)
        for name, value in chunk.items():
            if name not in {"choices", "usage", "object"} and value is not None:
                self._top[name] = value
        self._count(chunk.get("usage"))
        choices = chunk.get("choices") or []  # the last chunk may hold usage and no choice at all
        if not isinstance(choices, list):
            raise InvalidReply(f"the choices of a chunk are {type(choices).__name__}, not a list")
        for choice in choices:
            self._take(choice)

    def _count(self, usage: object) -> None:
        """Keep the latest counts: they are of the whole reply so far. An empty report takes nothing away."""
        if isinstance(usage, Mapping) and any(value is not None for value in usage.values()):
            self._usage = usage

    def _take(self, choice: object) -> None:
        if not isinstance(choice, Mapping):
            raise InvalidReply(f"a choice of a chunk is {type(choice).__name__}, not an object")
        if choice.get("index") not in {0, None}:
            self._note(f"a choice numbered {choice.get('index')} was left out")
            return
        for name, value in choice.items():
            if name not in {"delta", "index", "logprobs", "finish_reason"} and value is not None:
                self._choice[name] = value
        if finish.given(choice.get("finish_reason")):
            self._ends.append(choice["finish_reason"])
        delta = choice.get("delta")
        if not isinstance(delta, Mapping):
            return
        for name in ("content", "reasoning_content", "reasoning", "refusal"):
            text = chat.content(delta.get(name))
            if text:
                self._texts.setdefault(name, []).append(text)
                self.begun = True
        if delta.get("function_call"):
            self._note(chat.FORMER_CALL)
        calls = delta.get("tool_calls") or []
        if not isinstance(calls, list):
            raise InvalidReply(f"the tool_calls of a chunk are {type(calls).__name__}, not a list")
        for call in calls:
            self._calls.take(call)
            self.begun = True

    def _note(self, anomaly: str) -> None:
        if anomaly not in self._anomalies:
            self._anomalies.append(anomaly)
