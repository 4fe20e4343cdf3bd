"""Server-sent events: bytes in pieces of any size -> the `data` of each event. Pure; the split never matters."""

import re
from collections.abc import Iterator

# A CR at the very end may be half of a CRLF: it waits for the next byte.
_LINE_END = re.compile(rb"\r\n|\n|\r(?=[^\n])")
_BOM = b"\xef\xbb\xbf"


class Events:
    """The decoder of one stream."""

    def __init__(self) -> None:
        """Nothing has arrived yet."""
        self._rest = b""
        self._data: list[str] = []
        self._first = True
        self.stray = ""
        """A line that is no field of an event, such as a bare JSON error: the first one."""

    def feed(self, piece: bytes) -> Iterator[str]:
        """Yield the data of every event that is complete with this piece."""
        *lines, self._rest = _LINE_END.split(self._rest + piece)
        for line in lines:
            yield from self._line(line)

    def end(self) -> Iterator[str]:
        """Yield the last event where the server ended without the blank line that completes it."""
        yield from self.feed(b"\n\n")

    def _line(self, line: bytes) -> Iterator[str]:
        if self._first:
            line, self._first = line.removeprefix(_BOM), False
        text = line.decode("utf-8", "replace")
        name, _, value = text.partition(":")
        match name:
            case "data":
                self._data.append(value.removeprefix(" "))
            case "" if not text:
                if self._data:
                    yield "\n".join(self._data)
                self._data = []
            case "" | "event" | "id" | "retry":
                pass  # a comment, or what the data itself says too
            case _:
                self.stray = self.stray or text
