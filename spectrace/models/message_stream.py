"""A streamed message of the Messages API: bytes of server-sent events -> the same Reply as an unstreamed one.

Pure. Blocks have an index, a beginning and an end; a piece for a block that is not open belongs to nobody, and the
reply is refused. Counts in later events replace earlier ones. Counterpart of `anthropic_messages.py`, which reads the
body that the pieces make, as `stream.py` is of `chat.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from spectrace.models import anthropic_messages, chat, finish
from spectrace.models.calls import InvalidReply, json_object
from spectrace.models.sse import Events
from spectrace.models.stream import StreamBroken, StreamFailed

_PIECES = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
"""Kind of a delta -> its member that holds the piece."""


@dataclass(slots=True)
class _Block:
    """A block, as far as it has arrived."""

    start: Mapping[str, object]
    pieces: list[str] = field(default_factory=list)
    open: bool = True

    @property
    def kind(self) -> str:
        return str(self.start.get("type"))

    @property
    def text(self) -> str:
        given = self.start.get(self.kind)
        return chat.pieced([given if isinstance(given, str) else "", *self.pieces])

    def whole(self) -> dict[str, object]:
        """Return the block as an unstreamed message has it; a call's input stays the text that was sent."""
        if self.kind == "tool_use":
            return {**self.start, "input": self.text} if self.pieces else dict(self.start)
        return {**self.start, self.kind: self.text} if self.kind in {"text", "thinking"} else dict(self.start)

    def shown(self) -> str:
        """Return what a reader can make of it, unfinished as it may be."""
        return f"{self.start.get('name')} {self.text}" if self.kind == "tool_use" else self.text


class MessageStream:
    """The reply of one stream, as far as it has arrived."""

    def __init__(self) -> None:
        """Nothing has arrived yet."""
        self._events = Events()
        self._message: dict[str, object] = {}
        self._usage: dict[str, object] = {}
        self._blocks: dict[int, _Block] = {}
        self._ends: list[object] = []
        self.done = False
        """Whether the server said that nothing follows."""
        self.begun = False
        """Whether a first token has arrived: of the text, of the reasoning or of a call."""

    def feed(self, piece: bytes) -> None:
        """Take the next bytes; raise InvalidReply or StreamFailed for what is none of a reply's."""
        for data in self._events.feed(piece):
            self._event(data)

    def partial_text(self) -> str:
        """Return what can be read of an unfinished reply: its text and its calls."""
        shown = [block.shown() for block in self._blocks.values() if block.kind in {"text", "tool_use"}]
        return "\n".join(text for text in shown if text)

    def reply(self) -> chat.Reply:
        """Return the reply; the server has ended the stream."""
        for data in self._events.end():
            if json_object(data) is not None:  # else the stream ended inside an event
                self._event(data)
        if not self.done and not self._ends:
            error = chat.error_text(json_object(self._events.stray))
            if error is not None:
                raise StreamFailed(error)
            raise StreamBroken("the stream ended without a stop reason and without message_stop")
        for index, block in self._blocks.items():
            if block.open:
                raise InvalidReply(f"block {index} of its stream was never ended")
        content = [block.whole() for _, block in sorted(self._blocks.items())]
        reason, odd = finish.settled(self._ends)
        body = {**self._message, "stop_reason": reason, "content": content, "usage": self._usage}
        reply = anthropic_messages.read_body(body)
        unmarked = () if self.done else ("no message_stop came",)
        return chat.with_anomalies(reply, (*reply.anomalies, *odd, *unmarked))

    def _event(self, data: str) -> None:
        if self.done or not data.strip():
            return
        try:
            event = chat.read_object(data)
        except InvalidReply as broken:
            raise InvalidReply(f"{broken}, in an event of its stream") from None
        error = anthropic_messages.error_text(event)
        if error is not None:
            raise StreamFailed(error)
        match event.get("type"):
            case "message_start":
                message = _object(event, "message")
                self._told(message)
                self._count(message.get("usage"))
            case "content_block_start":
                self._begin(event.get("index"), _object(event, "content_block"))
            case "content_block_delta":
                self._add(self._block(event), _object(event, "delta"))
            case "content_block_stop":
                self._block(event).open = False
            case "message_delta":
                self._told(_object(event, "delta"))
                self._count(event.get("usage"))
            case "message_stop":
                self.done = True
            case _:
                pass  # ping, and kinds to come: the API asks clients to pass over what they do not know

    def _begin(self, index: object, start: Mapping[str, object]) -> None:
        if not isinstance(index, int) or index in self._blocks:
            raise InvalidReply(f"block {index} of its stream begins twice, or has no number")
        self._blocks[index] = _Block(start)
        self.begun = self.begun or start.get("type") == "tool_use"

    def _block(self, event: Mapping[str, object]) -> _Block:
        index = event.get("index")
        block = self._blocks.get(index) if isinstance(index, int) else None
        if block is None or not block.open:
            raise InvalidReply(f"a piece of its stream is for block {index}, which is not open")
        return block

    def _add(self, block: _Block, delta: Mapping[str, object]) -> None:
        member = _PIECES.get(str(delta.get("type")))
        piece = delta.get(member) if member is not None else None
        if isinstance(piece, str) and piece:
            block.pieces.append(piece)
            self.begun = True

    def _told(self, members: Mapping[str, object]) -> None:
        """Take what is said of the message as a whole; each reason for its end is kept."""
        self._message |= {name: value for name, value in members.items() if value is not None}
        if finish.given(members.get("stop_reason")):
            self._ends.append(members["stop_reason"])

    def _count(self, usage: object) -> None:
        """Keep the latest of each count: they are totals of the whole message."""
        if isinstance(usage, Mapping):
            self._usage |= {name: value for name, value in usage.items() if value is not None}


def _object(event: Mapping[str, object], name: str) -> Mapping[str, object]:
    value = event.get(name)
    if not isinstance(value, Mapping):
        raise InvalidReply(f"the {name} of an event is {type(value).__name__}, not an object")
    return value
