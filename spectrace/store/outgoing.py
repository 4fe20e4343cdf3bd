"""An episode on its way out of a database, verified line by line. Counterpart of `transfer`, which takes it in.

What is not intact by its own account does not leave: a bundle or an export that its reader must refuse helps nobody.
"""

from collections.abc import Iterator, Mapping
from itertools import islice

from spectrace.core.digest import digest
from spectrace.errors import StoreError
from spectrace.store.blobs import references
from spectrace.store.decoding import parse
from spectrace.store.erasures import Covered, covered, record_of, records
from spectrace.store.event_store import EpisodeRow, EventStore
from spectrace.store.lines import Chain, Line, line_from
from spectrace.store.rows import Damage


def stored_lines(store: EventStore, episode: str, events: int) -> Iterator[Line]:
    """Yield the first `events` of an episode: those committed when its row was read, though it may grow meanwhile.

    An erased one comes with its proof; raise Damage where nothing says that it was erased.
    """
    proofs: Mapping[int, bytes] = {}
    known: Covered = {}
    for event in islice(store.stored(episode), events):
        if event.body is None and event.seq not in proofs:  # the first one, or erased while it was read
            proofs, known = store.proofs(episode), covered(records(store))
        if event.body is None and record_of(known, episode, event.seq) is None:
            raise Damage(f"the body of event {event.seq} is missing, and no erasure of it is on record.")
        yield line_from(event, proofs.get(event.seq) if event.body is None else None)


def outgoing(store: EventStore, row: EpisodeRow) -> Iterator[tuple[Line, list[str]]]:
    """Yield an episode's lines, each with the digests of the texts that it refers to, following the chain to its head.

    Raise StoreError for an episode that is not intact.
    """
    chain = Chain(row.episode)
    try:
        for line in stored_lines(store, row.episode, row.events):
            chain.follow(line)
            yield line, sorted(set(references(parse(line.row.body or b"null"))))
        if chain.link != row.head:
            raise Damage(f"its events end at {chain.seq - 1}, and the head that its row names is another")  # noqa: TRY301 - worded below
    except Damage as error:
        raise StoreError(
            f"{row.episode} is not intact, so it stays here: {str(error).rstrip('.')}. "
            f"`spectrace verify {row.episode}` says more; a copy of the database file itself is evidence too."
        ) from error


def whole_text(name: str, data: bytes | None) -> bytes:
    """Return a text's bytes; raise StoreError where they are missing, or not what the name says."""
    if data is None or digest(data) != name:
        what = "is missing" if data is None else "holds other bytes than its name says"
        raise StoreError(f"the text {name} {what}: `spectrace verify --all` says which episodes need it.")
    return data


def unfinished(row: EpisodeRow) -> tuple[str, ...]:
    """Return what is to be said of an episode that was being written when it was read."""
    if row.state != "running":
        return ()
    events = f"{row.events} event{'' if row.events == 1 else 's'}"
    return (f"It is still being written: the {events} committed so far are here.",)
