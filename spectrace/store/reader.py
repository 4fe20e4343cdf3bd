"""Rows to typed events. Counterpart of `rows.EpisodeChain`, which writes them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from spectrace.core.events import Body, Event, GenerateRequested, Unknown
from spectrace.errors import StoreError
from spectrace.store.blobs import references, resolved
from spectrace.store.decoding import decode, known, message_of, parse
from spectrace.store.messages import MessageReader
from spectrace.store.rows import Damage, Row, unreadable

FetchBlobs = Callable[[set[str]], Mapping[str, bytes]]
"""Returns the blobs that are there; raises Damage for one that cannot be unpacked."""

_Value = tuple[type[Body] | None, object]
"""A row's class and its body as JSON; both None where it is erased or unknown."""


class EpisodeReader:
    """Rows to typed events, a batch at a time, so that a batch's blobs are fetched at once."""

    def __init__(self, episode: str, blobs: FetchBlobs, earlier: Callable[[], Iterable[Row]] = tuple) -> None:
        """`earlier` gives the rows before the first one read that may define messages; asked only when needed."""
        self._episode = episode
        self._blobs = blobs
        self._earlier: Callable[[], Iterable[Row]] | None = earlier
        self._messages = MessageReader(message_of)

    def events(self, rows: Sequence[Row]) -> Iterator[Event]:
        """Yield the rows' events; erased and unknown ones as `Unknown`."""
        values, damage = self._values(rows)
        for row, (cls, value), texts in zip(rows, values, self._texts(rows, values), strict=False):
            yield Event(self._episode, row.seq, row.lane, row.at, self._body(row, cls, value, texts))
        if damage is not None:
            raise damage

    def _values(self, rows: Sequence[Row]) -> tuple[list[_Value], StoreError | None]:
        """Return the bodies as JSON up to the first that is none, and why: those before it can be read."""
        values: list[_Value] = []
        for row in rows:
            cls = known(row.type, row.version)
            try:
                values.append((cls, parse(row.body)) if cls is not None and row.body is not None else (None, None))
            except StoreError as error:
                return values, unreadable(self._episode, row.seq, error)
        return values, None

    def _texts(self, rows: Sequence[Row], values: Sequence[_Value]) -> Iterator[Mapping[str, bytes]]:
        """Yield each row's blobs: fetched at once, or one row's after the other to find whose is damaged."""
        wanted = [set(references(value)) for _, value in values]
        together = set().union(*wanted)
        try:
            found = self._blobs(together) if together else {}
        except Damage:
            for row, digests in zip(rows, wanted, strict=False):
                try:
                    one = self._blobs(digests) if digests else {}
                except Damage as error:
                    raise unreadable(self._episode, row.seq, error) from error
                yield one
        else:
            yield from (found for _ in wanted)

    def _body(self, row: Row, cls: type[Body] | None, value: object, texts: Mapping[str, bytes]) -> Body | Unknown:
        if cls is None:
            return _unknown(row)
        try:
            value = resolved(value, texts)
            if cls is GenerateRequested and isinstance(value, dict):
                spelled = self._spell(value.get("messages"))
                if spelled is None:
                    return _unknown(row)
                value["messages"] = spelled
            return decode(cls, row.version, row.lifted, value)
        except (StoreError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise unreadable(self._episode, row.seq, error) from error

    def _spell(self, reference: object) -> list[object] | None:
        """Return the messages, or None where one of them was erased."""
        if self._earlier is not None:
            earlier, self._earlier = self._earlier, None
            self._learn(list(earlier()))
        try:
            return self._messages.resolve(reference)
        except LookupError:
            return None

    def _learn(self, rows: Sequence[Row]) -> None:
        values, damage = self._values(rows)
        for row, (_, value), texts in zip(rows, values, self._texts(rows, values), strict=False):
            try:
                whole = resolved(value, texts)
            except StoreError as error:
                raise unreadable(self._episode, row.seq, error) from error
            if isinstance(whole, dict):
                self._messages.learn(whole.get("messages"))
        if damage is not None:
            raise damage


def _unknown(row: Row) -> Unknown:
    """Keep the body as its JSON text; an erased one is JSON null."""
    return Unknown(row.type, row.version, "null" if row.body is None else row.body.decode("utf-8", "replace"))
