"""Episodes given as bytes: chained anew from plain values, and put into any store as somebody else wrote them."""

from collections.abc import Iterable, Mapping, Sequence

import orjson

from spectrace.core.digest import canonical, first_link, header_bytes, next_link
from spectrace.store.blobs import digest_bytes, references
from spectrace.store.codec import Lifted
from spectrace.store.event_store import EventStore
from spectrace.store.lines import Line
from spectrace.store.memory import MemoryEventStore, _Log
from spectrace.store.rows import Row
from spectrace.store.sql import SqlEventStore
from spectrace.store.texts import fill, holes
from spectrace.store.transfer import insert_stored

SALT = bytes(16)


def told_lines(store: EventStore, episode: str) -> list[tuple[list, dict]]:
    """Return an episode's events as (header values, body), to be changed and chained anew."""
    return [(orjson.loads(event.header), orjson.loads(event.body or b"null")) for event in store.stored(episode)]


def chained(episode: str, events: Iterable[tuple[list, dict]]) -> list[Line]:
    """Return the events as lines of one whole chain, renumbered in their order."""
    link, lines = first_link(episode), []
    for seq, (header, body) in enumerate(events):
        _, _, lane, type_, version, at, *lifted = header
        data = canonical(body)
        link = next_link(link, header_bytes(episode, seq, lane, type_, version, at, *lifted), SALT, data)
        lines.append(Line(episode, Row(seq, lane, type_, version, at, Lifted(*lifted), data, SALT, link)))
    return lines


def put(store: EventStore, lines: Sequence[Line], blobs: Mapping[str, bytes]) -> str:
    """Store an episode as it is; return its id."""
    episode, rows = lines[0].episode, [line.row for line in lines]
    ends = [row.at for row in rows if row.type == "episode.ended"]
    if isinstance(store, MemoryEventStore):
        store._logs[episode] = _Log(rows[0].at, rows, ends[-1] if ends else None, held=False)
        store._blobs.update({digest_bytes(name): data for name, data in blobs.items()})
    else:
        assert isinstance(store, SqlEventStore)
        insert_stored(store, episode, rows[-1].link, lines, lambda names: {name: blobs[name] for name in names})
    return episode


def blobs_of(store: EventStore, lines: Iterable[Line]) -> dict[str, bytes]:
    """Return the texts that the lines refer to."""
    names = {name for line in lines for name in references(orjson.loads(line.row.body or b"null"))}
    return {name: data for name in sorted(names) if (data := store.blob(name)) is not None}


def resolved(value, blobs):
    """Return a parsed body with every text in its place."""
    whole, found = [value], []
    holes(whole, found)
    fill(found, lambda _: blobs)
    return whole[0]
