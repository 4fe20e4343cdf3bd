"""Message lists by reference: each distinct message of an episode is written once and named by its ordinal.

A `generate.requested` body holds `{"ranges": [[first, count], ...], "base": n, "new": [message, ...]}`: the new
messages get ordinals n, n+1, ... in order, and the ranges spell the whole list, new ones included. Without this a log
grows with the square of the calls (measured: 3 to 8 times the bytes); ranges rather than (keep, add) because some
agents trim their window. References never leave the episode.
"""

from collections.abc import Callable, Sequence

from spectrace.core.types import Message

Ranges = list[list[int]]


class MessageWriter:
    """The ordinals that an episode's writer has given out."""

    def __init__(self) -> None:
        """Start an episode; to go on with one, refer to its lists again in their order."""
        self._ordinals: dict[Message, int] = {}
        self._last: Sequence[Message] = ()
        self._last_ordinals: list[int] = []

    def refer(self, messages: Sequence[Message], encode: Callable[[Message], object]) -> dict[str, object]:
        """Return the reference form of a list, giving ordinals to what is new."""
        ordinals = self._ordinals_of_prefix(messages)
        base = len(self._ordinals)
        new: list[object] = []
        for message in messages[len(ordinals) :]:
            ordinal = self._ordinals.setdefault(message, base + len(new))
            if ordinal == base + len(new):
                new.append(encode(message))
            ordinals.append(ordinal)
        self._last, self._last_ordinals = messages, ordinals
        return {"ranges": _ranges(ordinals), "base": base, "new": new}

    def mark(self) -> int:
        """Return a point to come back to with `rewind`."""
        return len(self._ordinals)

    def rewind(self, mark: int) -> None:
        """Take back the ordinals given out since the mark: their transaction did not happen."""
        while len(self._ordinals) > mark:
            self._ordinals.popitem()
        self._last, self._last_ordinals = (), []

    def _ordinals_of_prefix(self, messages: Sequence[Message]) -> list[int]:
        """Return the ordinals of the part that is object by object the previous list: hashing a message costs more."""
        count = 0
        for ours, theirs in zip(self._last, messages, strict=False):
            if ours is not theirs:
                break
            count += 1
        return self._last_ordinals[:count]


class MessageReader:
    """The ordinals that an episode's reader has met; each message is decoded once, however often it is repeated."""

    def __init__(self, decode: Callable[[object], object] = lambda value: value) -> None:
        """Start an episode."""
        self._known: dict[int, object] = {}
        self._decode = decode

    def learn(self, reference: object) -> None:
        """Note the new messages of one reference form."""
        match reference:
            case {"base": int(base), "new": list(new)}:
                for offset, message in enumerate(new):
                    self._known[base + offset] = self._decode(message)
            case _:
                msg = "expected a list of messages by reference"
                raise ValueError(msg)

    def resolve(self, reference: object) -> list[object]:
        """Return the list that a reference form spells; raise LookupError where a message is gone."""
        match reference:
            case {"ranges": list(ranges)}:
                self.learn(reference)
                return [self._known[ordinal] for first, count in ranges for ordinal in range(first, first + count)]
            case _:
                msg = "expected a list of messages by reference"
                raise ValueError(msg)


def _ranges(ordinals: Sequence[int]) -> Ranges:
    ranges: Ranges = []
    for ordinal in ordinals:
        if ranges and ranges[-1][0] + ranges[-1][1] == ordinal:
            ranges[-1][1] += 1
        else:
            ranges.append([ordinal, 1])
    return ranges
