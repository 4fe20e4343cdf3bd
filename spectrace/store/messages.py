"""Message lists by reference: each distinct message of an episode is written once and named by its ordinal.

A `generate.requested` body holds `{"ranges": [[first, count], ...], "base": n, "new": [message, ...]}`: the new
messages get ordinals n, n+1, ... in order, and the ranges spell the whole list, new ones included. Without this a log
grows with the square of the calls (measured: 3 to 8 times the bytes); ranges rather than (keep, add) because some
agents trim their window. References never leave the episode.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from spectrace.core.types import Message

Ranges = list[list[int]]


@dataclass(slots=True)
class _List:
    """A list that was referred to: most calls repeat one whole and add to it."""

    messages: tuple[Message, ...]
    ordinals: list[int]
    ranges: Ranges


class MessageWriter:
    """The ordinals that an episode's writer has given out."""

    def __init__(self) -> None:
        """Start an episode; to go on with one, refer to its lists again in their order."""
        self._ordinals: dict[Message, int] = {}
        self._objects: dict[int, int] = {}
        """id of each message in `_ordinals`, which keeps it alive: hashing a message costs ten times as much."""
        self._last: dict[int, _List] = {}
        """The last list that began with the message of this ordinal: each role has a system prompt of its own."""

    def refer(self, messages: Sequence[Message], encode: Callable[[Message], object]) -> dict[str, object]:
        """Return the reference form of a list, giving ordinals to what is new."""
        base = len(self._ordinals)
        new: list[object] = []

        def ordinal(message: Message) -> int:
            known = self._objects.get(id(message))
            if known is not None:
                return known
            given = self._ordinals.setdefault(message, base + len(new))
            if given == base + len(new):
                self._objects[id(message)] = given
                new.append(encode(message))
            return given

        if not messages:
            return {"ranges": [], "base": base, "new": new}
        first = ordinal(messages[0])
        kept = self._repeated(first, messages)
        for message in messages[len(kept.messages) :]:
            kept.ordinals.append(ordinal(message))
            _extend(kept.ranges, kept.ordinals[-1])
        kept.messages = tuple(messages)
        self._last[first] = kept
        return {"ranges": [list(one) for one in kept.ranges], "base": base, "new": new}

    def _repeated(self, first: int, messages: Sequence[Message]) -> _List:
        """Return what is known of the part that a list repeats from the beginning; at least its first message."""
        last = self._last.get(first)
        if last is not None and last.messages == tuple(messages[: len(last.messages)]):
            return last
        return _List((messages[0],), [first], [[first, 1]])

    def mark(self) -> int:
        """Return a point to come back to with `rewind`."""
        return len(self._ordinals)

    def rewind(self, mark: int) -> None:
        """Take back the ordinals given out since the mark: their transaction did not happen."""
        while len(self._ordinals) > mark:
            message, _ = self._ordinals.popitem()
            del self._objects[id(message)]
        self._last.clear()


class MessageReader:
    """The messages that an episode's reader has met, as parsed JSON; each is decoded once, and only if it is wanted.

    So a call is read without the texts of the messages that nobody asks for.
    """

    def __init__(self, decode: Callable[[object], object] = lambda value: value) -> None:
        """Start an episode."""
        self._decode = decode
        self._met: dict[int, object] = {}
        self._decoded: dict[int, object] = {}

    def learn(self, reference: object) -> range:
        """Note the new messages of one reference form; return their ordinals."""
        match reference:
            case {"base": int(base), "new": list(new)}:
                self._met.update(enumerate(new, base))
                return range(base, base + len(new))
            case _:
                msg = "expected a list of messages by reference"
                raise ValueError(msg)

    def ordinals(self, reference: object) -> list[int]:
        """Return the ordinals that a reference form spells."""
        match reference:
            case {"ranges": list(ranges)}:
                return [ordinal for first, count in ranges for ordinal in range(first, first + count)]
            case _:
                msg = "expected a list of messages by reference"
                raise ValueError(msg)

    def unmet(self, ordinals: Iterable[int]) -> set[int]:
        """Return those whose messages stand in a call that was not learned."""
        return set(ordinals) - self._met.keys()

    def undecoded(self, ordinals: Iterable[int]) -> list[object]:
        """Return the messages that `messages` would decode, so that their long texts are put in first."""
        return [self._met[ordinal] for ordinal in ordinals if ordinal not in self._decoded]

    def messages(self, ordinals: Iterable[int]) -> list[object]:
        """Return the decoded messages; raise LookupError where one is gone."""
        ordinals = list(ordinals)
        for ordinal in ordinals:
            if ordinal not in self._decoded:
                self._decoded[ordinal] = self._decode(self._met[ordinal])
        return [self._decoded[ordinal] for ordinal in ordinals]

    def resolve(self, reference: object) -> list[object]:
        """Return the list that a reference form spells; raise LookupError where a message is gone."""
        self.learn(reference)
        return self.messages(self.ordinals(reference))


def message_count(reference: object) -> int:
    """Return how many messages a reference form spells."""
    match reference:
        case {"ranges": list(ranges)}:
            return sum(int(count) for _, count in ranges)
        case _:
            msg = "expected a list of messages by reference"
            raise ValueError(msg)


def _extend(ranges: Ranges, ordinal: int) -> None:
    if ranges[-1][0] + ranges[-1][1] == ordinal:
        ranges[-1][1] += 1
    else:
        ranges.append([ordinal, 1])
