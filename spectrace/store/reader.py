"""Rows to events, typed or as plain JSON. Counterpart of `rows.EpisodeChain`, which writes them.

A batch's long texts are fetched at once. A prompt is spelled only when it is asked for, and the calls before the first
row are read, newest first, only as far back as its messages reach: a long episode opens at its end.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeVar, cast

from spectrace.core.events import Body, Event, GenerateRequested, Unknown
from spectrace.core.types import Message
from spectrace.errors import NewerSchema, StoreError
from spectrace.store.decoding import decode, known, message_of, parse, parse_all
from spectrace.store.event_store import Glance, Prompt
from spectrace.store.messages import MessageReader, message_count
from spectrace.store.rows import Damage, Row, unreadable
from spectrace.store.texts import MARK, FetchBlobs, FetchHeads, Hole, fill, fill_heads, holes

T = TypeVar("T")
_UNREADABLE = (Damage, NewerSchema, KeyError, TypeError, ValueError, RecursionError)


class _Read(NamedTuple):
    """A row on its way to an event."""

    row: Row
    cls: type[Body] | None
    value: object
    """The body; None where it is erased, unknown, or leans on a message that was erased."""
    prompt: Sequence[int] = ()
    """The ordinals of a call's messages, where they are asked for."""
    messages: int = 0


class EpisodeReader:
    """Reads one episode's rows, in order."""

    def __init__(  # noqa: PLR0913 - what to leave out, by name
        self,
        episode: str,
        blobs: FetchBlobs,
        earlier: Callable[[], Iterable[Row]] = tuple,
        *,
        prompts: bool = True,
        part: slice = slice(None),
        heads: FetchHeads | None = None,
        typed: bool = True,
    ) -> None:
        """Read with `blobs`, for `events` or (not `typed`) `plain`; without `prompts` calls have no messages.

        Of each prompt only a `part` is read.

        `earlier` gives the calls before the first row, newest first: asked only for messages that stand there. With
        `heads` long texts are cut to their beginnings.
        """
        self._episode = episode
        self._blobs = blobs
        self._heads = heads
        self._earlier: Iterator[Row] = iter(())
        self._begin: Callable[[], Iterable[Row]] | None = earlier
        self._prompts = prompts
        self._part = part
        self._typed = typed
        self._messages = MessageReader(message_of) if typed else MessageReader()

    def events(self, rows: Sequence[Row]) -> Iterator[Event]:
        """Yield the rows' events; erased and unknown ones as `Unknown`."""
        yield from self._named(rows, self._event)

    def glances(self, rows: Sequence[Row]) -> Iterator[Glance]:
        """Yield the rows' events, each with the number of messages that its prompt has."""
        yield from self._named(rows, lambda one: Glance(self._event(one), one.messages))

    def prompt(self, row: Row) -> Prompt | None:
        """Return the `part` of a call's messages; None where it is no call, or one of them is gone."""
        (one,) = self._named((row,), lambda one: one)
        if one.cls is not GenerateRequested or one.value is None:
            return None
        return Prompt(one.messages, tuple(cast("list[Message]", self._messages.messages(one.prompt))))

    def plain(self, rows: Sequence[Row]) -> Iterator[tuple[Row, object]]:
        """Yield each row with its body as JSON, texts and messages in their places; None where it is erased."""
        yield from self._named(rows, lambda one: (one.row, self._spelled(one)))

    def _named(self, rows: Sequence[Row], made: Callable[[_Read], T]) -> Iterable[T]:
        """Make something of every row; an error names the first that cannot be read, and those before it can be."""
        try:
            return [made(one) for one in self._batch(rows)]
        except _UNREADABLE:
            return (self._alone(row, made) for row in rows)

    def _alone(self, row: Row, made: Callable[[_Read], T]) -> T:
        try:
            return made(self._batch((row,))[0])
        except _UNREADABLE as error:
            raise unreadable(self._episode, row.seq, error) from error

    def _batch(self, rows: Sequence[Row]) -> list[_Read]:
        classes = [known(row.type, row.version) for row in rows]
        bodies = [row.body if cls or not self._typed else None for row, cls in zip(rows, classes, strict=True)]
        found: list[Hole] = []
        read: list[_Read] = []
        new = tuple.__new__
        for row, cls, body, value in zip(rows, classes, bodies, parse_all(bodies), strict=True):
            if cls is GenerateRequested and isinstance(value, dict):
                read.append(self._refer(row, value))
            else:
                read.append(new(_Read, (row, cls, value, (), 0)))  # half the time of its own
            if body is not None and (marks := body.count(MARK)):
                holes(value, found, marks)
        holes(self._messages.undecoded({ordinal for one in read for ordinal in one.prompt}), found)
        if self._heads is None:
            fill(found, self._blobs)
        else:
            fill_heads(found, self._heads)
        return read

    def _refer(self, row: Row, value: dict[str, object]) -> _Read:
        """Take the messages out of a call's body; learn those that are new."""
        reference, value["messages"] = value.get("messages"), ()
        self._messages.learn(reference)
        total = message_count(reference)
        if not self._prompts:
            return _Read(row, GenerateRequested, value, (), total)
        ordinals = self._messages.ordinals(reference)[self._part]
        gone = self._reach(self._messages.unmet(ordinals))
        return _Read(row, GenerateRequested, None if gone else value, () if gone else ordinals, total)

    def _reach(self, unmet: set[int]) -> set[int]:
        """Learn earlier calls, newest first, as long as messages are missing; return those that are gone."""
        if unmet and self._begin is not None:
            self._earlier, self._begin = iter(self._begin()), None
        while unmet and (row := next(self._earlier, None)) is not None:
            unmet.difference_update(self._learn(row))
        return unmet

    def _learn(self, row: Row) -> Iterable[int]:
        if known(row.type, row.version) is None or row.body is None:
            return ()
        try:
            value = parse(row.body)
            return self._messages.learn(value.get("messages") if isinstance(value, dict) else None)
        except _UNREADABLE as error:
            raise unreadable(self._episode, row.seq, error) from error

    def _event(self, one: _Read) -> Event:
        row = one.row
        return Event(self._episode, row.seq, row.lane, row.at, self._body(one, row))

    def _body(self, one: _Read, row: Row) -> Body | Unknown:
        if one.cls is None or one.value is None:
            return _unknown(row)
        return decode(one.cls, row.version, row.lifted, self._spelled(one), row.type)

    def _spelled(self, one: _Read) -> object:
        """Return the body with the messages of its prompt."""
        if one.prompt and isinstance(one.value, dict):
            one.value["messages"] = tuple(self._messages.messages(one.prompt))
        return one.value


@contextmanager
def advised(episode: str) -> Iterator[None]:
    """Say of damage who tells more."""
    try:
        yield
    except Damage as error:
        raise StoreError(f"{error} `spectrace verify {episode}` says what of it is whole.") from error


def _unknown(row: Row) -> Unknown:
    """Keep the body as its JSON text; an erased one is JSON null."""
    body = "null" if row.body is None else row.body.decode("utf-8", "replace")
    return Unknown(row.type, row.version, body, *row.lifted)
