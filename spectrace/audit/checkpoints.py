"""Checkpoints made: what is new in a log is verified, gets its leaves, and the root of all of them is signed.

Leaves and note are one transaction, the file follows: an interruption leaves the file as it was, or the new one, and a
database whose leaves go on from either. A log that does not verify is not signed, because a checkpoint over damaged
evidence makes it look whole from then on; whoever has to (`force`) gets a note that says so in a line of its own.

Verifying and counting go on beside writers. Leaves say what was verified: an episode that moved meanwhile gets another
one at the next checkpoint. Only the append holds the writers up.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from spectrace.audit import checkpoint_files
from spectrace.audit.integrity import CONSISTENT, INVALID, VerifyResult
from spectrace.audit.leaves import BadLeaf, Due, Leaf, hashes, leaves_due, read_leaf, strays
from spectrace.audit.proving import FORCED
from spectrace.audit.signing import Signer
from spectrace.audit.verifying import Told, verify_all
from spectrace.core import merkle
from spectrace.core.admin_events import AdminKeyChanged
from spectrace.core.events import TYPE_NUMBERS
from spectrace.core.notes import BadNote, Checkpoint, Key, Note, parse_checkpoint, parse_note
from spectrace.errors import Conflict, StoreError, UsageError
from spectrace.store import admin, leaf_rows, tables
from spectrace.store.process import operator
from spectrace.store.sql import SqlEventStore
from spectrace.store.statements import SEQ_MASK, key

DATABASE = "(database)"
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Created:
    """A checkpoint that was made; `problems` only where it was forced."""

    note: Note
    checkpoint: Checkpoint
    added: int
    leaves_bytes: int
    seconds: float
    problems: tuple[VerifyResult, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was signed, since this does not verify."""

    problems: tuple[VerifyResult, ...]


def create(  # noqa: PLR0913 - what signs, what is signed, and how
    store: SqlEventStore,
    signer: Signer,
    path: Path,
    *,
    force: bool = False,
    jobs: int | None = None,
    told: Told | None = None,
) -> Created | Refused:
    """Add the leaves that are due, sign the root of all, and write the checkpoint to `path` with its leaves beside it.

    Raises UsageError where `path` holds something else than an earlier checkpoint of this log.
    """
    began = time.monotonic()
    before = _before(path)
    due = _due(store)
    problems = tuple(_problems(store, due, jobs, told))
    if problems and not force:
        return Refused(problems)
    if _key_changes(store, signer.key):
        due = _with_the_record(store, due)
    extra = (f"{FORCED} {len(problems)} not verified",) if problems else ()
    _check_before(path, before, due)
    note, checkpoint = _append(store, signer, due, extra)
    size = checkpoint_files.write(path, note, due.data)
    return Created(note, checkpoint, len(due.leaves), size, time.monotonic() - began, problems)


def origin(data: bytes) -> str:
    """Return the name of a log by its first leaf: that of the first administrative log of the database it began in."""
    return f"spectrace/{read_leaf(data).episode}"


def _due(store: SqlEventStore) -> Due:
    with store.database.reading() as connection:
        return leaves_due(connection)


def _problems(store: SqlEventStore, due: Due, jobs: int | None, told: Told | None) -> Iterator[VerifyResult]:
    """Yield what is not as it should be: in what is new, and in how what was signed lies there now."""
    for result in verify_all(store, [leaf.episode for leaf in due.leaves], jobs, told):
        if result.result != CONSISTENT:
            yield result
    earlier: list[Leaf] = []
    for place, data in enumerate(due.kept):
        try:
            earlier.append(read_leaf(data))
        except BadLeaf as error:
            yield _whole(f"leaf {place} of the database cannot be read: {error}")
    with store.database.reading() as connection:
        for leaf, events in strays(connection, earlier):
            how = "is gone" if events is None else f"has {events} events, and event {leaf.events - 1} is another"
            detail = f"an earlier checkpoint has it with {leaf.events} events; now it {how}"
            yield VerifyResult(leaf.episode, INVALID, events or 0, None, None, detail)
        last = _last_note(connection)
    if last is not None and merkle.root(hashes(due.kept[: last.size])) != last.root:
        yield _whole(f"its first {last.size} leaves do not have the root that the last checkpoint signed")


def _whole(detail: str) -> VerifyResult:
    return VerifyResult(DATABASE, INVALID, 0, None, None, detail)


def _last_note(connection: sa.Connection) -> Checkpoint | None:
    column = tables.checkpoints.c
    body = connection.scalar(sa.select(column.body).order_by(column.id.desc()).limit(1))
    try:
        return None if body is None else parse_checkpoint(parse_note(bytes(body).decode()).text)
    except (BadNote, UnicodeDecodeError, TypeError):  # a copy for convenience: what counts is the file
        return None


def _before(path: Path) -> Checkpoint | None:
    """Return the checkpoint that lies where the new one is to go."""
    if not path.exists():
        return None
    try:
        return parse_checkpoint(checkpoint_files.read_note(path).text)
    except BadNote as error:
        raise UsageError(f"{path} is there and is no checkpoint ({error}): give another name with -o.") from None


def _check_before(path: Path, before: Checkpoint | None, due: Due) -> None:
    """Refuse to replace what the new checkpoint does not go on from: it may be the only witness left."""
    if before is None:
        return
    data = due.data
    own = origin(data[0])
    if before.origin != own:
        raise UsageError(f"{path} is a checkpoint of {before.origin}, this log is {own}: give another name with -o.")
    found = merkle.root(hashes(data[: before.size])) if before.size <= len(data) else None
    if found != before.root:
        said = f"has only {len(data)} leaves" if found is None else f"has the root {found.hex()[:16]} over as many"
        raise UsageError(
            f"{path} was signed over {before.size} leaves with the root {before.root.hex()[:16]}, and this database "
            f"{said}: it was rolled back or rewritten, or another copy of it went on. The file is left as it is; "
            f"`spectrace verify --all --checkpoint {path} --key PUB` says what differs."
        )


def _append(store: SqlEventStore, signer: Signer, due: Due, extra: tuple[str, ...]) -> tuple[Note, Checkpoint]:
    data = due.data
    top, name = merkle.root(hashes(data)), origin(data[0])
    with store.database.writing(durable=True) as connection:
        admin.lock(connection)
        there = connection.scalar(sa.select(sa.func.count()).select_from(tables.leaves))
        if there != len(due.kept):
            raise Conflict("another checkpoint of this database was made meanwhile; its leaves are there: try again.")
        leaf_rows.append(connection, len(due.kept), [(leaf.episode, leaf.data) for leaf in due.leaves])
        epoch, at = admin.current(connection), store.now()
        lines = (f"at {at}", *((f"epoch {epoch.episode}",) if epoch is not None else ()), *extra)
        checkpoint = Checkpoint(name, len(data), top, lines)
        note = signer.sign(str(checkpoint))
        connection.execute(tables.checkpoints.insert().values(at=at, body=str(note).encode()))
    return note, checkpoint


def _key_changes(store: SqlEventStore, new: Key) -> bool:
    """Put it on record where another key signs from now on, or the first one does."""
    last = last_key(store)
    if last == str(new):
        return False
    version = admin.VERSION
    body = AdminKeyChanged(by=operator(), spectrace=version, what="checkpoint", key=str(new), previous=last)
    admin.record(store, body)
    return True


def last_key(store: SqlEventStore) -> str | None:
    """Return the key that signed last, by the newest record of it that can be read."""
    column = tables.events.c
    changes = sa.select(column.key).where(column.key < key(1, 0), column.type == TYPE_NUMBERS[AdminKeyChanged])
    with store.database.reading() as connection:
        keys = list(connection.scalars(changes.order_by(column.at.desc())))
        names = {one.number: one.episode for one in leaf_rows.standings(connection) if one.number <= 0}
    for found in keys:
        try:
            bodies = [one.body for one in store.read(names[found >> tables.SEQ_BITS], found & SEQ_MASK)][:1]
        except (StoreError, KeyError):  # verifying that log names it
            continue
        for body in bodies:
            if isinstance(body, AdminKeyChanged) and body.what == "checkpoint":
                return body.key
    return None


def _with_the_record(store: SqlEventStore, due: Due) -> Due:
    """Return the leaves with the current administrative log as it stands after the record; runs as they were."""
    now = _due(store)
    verified = {leaf.episode: leaf for leaf in due.leaves}
    logs = tuple(leaf for leaf in now.leaves if leaf.status == leaf_rows.ADMINISTRATIVE)
    for result in verify_all(store, [leaf.episode for leaf in logs if verified.get(leaf.episode) != leaf], 1):
        if result.result == INVALID and result.episode not in verified:
            raise StoreError(f"{result.episode}: {result.detail}. It was altered while the checkpoint was made.")
    runs = tuple(leaf for leaf in due.leaves if leaf.status != leaf_rows.ADMINISTRATIVE)
    return Due(due.kept, (*logs, *runs))
