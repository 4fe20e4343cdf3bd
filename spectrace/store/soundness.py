"""Whether a database is sound (`db check`): the file, its guards, its epochs, and what hangs together in it.

What each episode holds, link by link, is `spectrace verify`'s to say.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from spectrace.core.digest import text_digest
from spectrace.core.events import TYPE_NUMBERS, AdminOpened
from spectrace.errors import StoreError
from spectrace.store import (
    admin,
    blob_rows,
    compression,
    episode_rows,
    erasure_check,
    foreign_names,
    migrate,
    private,
    projections,
    shape,
    sight,
    stand_ins,
    strangers,
    tables,
)
from spectrace.store.begun import unfinished
from spectrace.store.database import Database, parse_url
from spectrace.store.evidence import opened
from spectrace.store.statements import key
from spectrace.store.triggers import missing_triggers

_PROJECTED = (tables.summaries, tables.segments, tables.actions, tables.search)

Problem = tuple[str | None, str | None]
"""What is wrong, and what is worth knowing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked; `problem` is None when it is as it should be. `note` says what is worth knowing."""

    check: str
    problem: str | None
    note: str | None = None


def check(url: str, *, blobs: bool = True) -> list[Finding]:
    """Check everything, chains apart: those are `spectrace verify`'s. `blobs` unpacks every event."""
    parsed = parse_url(url)
    path = Path(parsed.database or "")
    if parsed.get_backend_name() == "sqlite" and path.is_file() and (named := stand_ins.found(path, evidence=True)):
        return [Finding("schema", stand_ins.said(named))]  # nothing else can be asked of such a file
    with opened(url) as evidence, reading(evidence.url) as connection:
        looks: dict[str, Callable[[], Problem]] = {
            "integrity": lambda: (_integrity(connection), None),
            "schema": lambda: (shape.problems(connection), None),
            "values": lambda: (stand_ins.wrong_kinds(connection), None),
            "triggers": lambda: (_triggers(list(evidence.lacking) or missing_triggers(connection)), None),
            "strangers": lambda: (strangers.problems(connection), None),
            "keys": lambda: (_keys(connection), None),
            "types": lambda: (_types(connection), None),
            "dictionary": lambda: (_dictionary(connection), None),
            "flush": lambda: (_flush(connection), None),
            "runs": lambda: (_runs(connection), None),
            "epochs": lambda: _epochs(connection, begun=evidence.note is None),
            "copies": lambda: (_copies(connection), None),
            "events": lambda: (_events(connection), None),
            "erasures": lambda: erasure_check.problems(connection),
            "rows": lambda: (episode_rows.problems(connection), None),
            **({"blobs": lambda: _blobs(connection)} if blobs else {}),
            "projections": lambda: _projections(connection, older=evidence.note is not None),
            "access": lambda: _access(connection, url),
        }
        older = [Finding("revision", None, evidence.note)] if evidence.note is not None else []
        return older + [Finding(name, *_looked(look)) for name, look in looks.items()]


def _looked(look: Callable[[], Problem]) -> Problem:
    """Return what was found; a damaged file may not let itself be looked at."""
    try:
        return look()
    except sa.exc.DatabaseError as error:
        return f"cannot be checked: {error.orig}", None
    except (TypeError, ValueError, AttributeError) as error:  # SQLite holds whatever it is given, in any column
        return (
            f"cannot be checked, for a value of another kind stands where it belongs: {error}. Somebody altered it",
            None,
        )


@contextmanager
def reading(url: str) -> Iterator[sa.Connection]:
    """Lend a connection to a database of this revision."""
    database = Database(parse_url(url), read_only=True)
    try:
        migrate.prepare(database)
        with database.reading() as connection:
            yield connection
    finally:
        database.close()


def _integrity(connection: sa.Connection) -> str | None:
    if connection.dialect.name != "sqlite":
        return None
    said = list(connection.exec_driver_sql("PRAGMA integrity_check(10)").scalars())
    return None if said == ["ok"] else "; ".join(map(str, said))


def _triggers(missing: Sequence[str]) -> str | None:
    if not missing:
        return None
    return (
        f"missing, altered or switched off: {', '.join(missing)}, so events could be changed. Find out who did that; "
        "`spectrace verify --all` tells whether any was, `spectrace db upgrade` puts them back"
    )


def _keys(connection: sa.Connection) -> str | None:
    """Find rows whose parents are missing; Postgres lets nobody make one."""
    if connection.dialect.name != "sqlite":
        return None
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
    if not broken:
        return None
    named = sorted({f"{row[0]} without {row[2]}" for row in broken})
    return f"{len(broken)} rows name a parent that is missing ({', '.join(named)}): somebody deleted it"


def _types(connection: sa.Connection) -> str | None:
    held = {row.number: row.name for row in connection.execute(tables.types.select())}
    given_out = {name for number, name in held.items() if number >= foreign_names.FIRST}
    wrong = [
        cls.TYPE for cls, number in TYPE_NUMBERS.items() if held.get(number) != cls.TYPE and cls.TYPE not in given_out
    ]
    return f"the numbers of these types are not what this spectrace knows: {', '.join(wrong)}" if wrong else None


def _dictionary(connection: sa.Connection) -> str | None:
    columns = (tables.events.c.codec, *([tables.blobs.c.codec] if sight.lists_texts(connection) else []))
    used = sa.union(*(sa.select(column).where(column >= compression.DICTIONARY) for column in columns))
    held = {compression.DICTIONARY + number for number in connection.scalars(sa.select(tables.dictionaries.c.id))}
    found = set(connection.scalars(used))
    odd = sorted(repr(codec)[:40] for codec in found if type(codec) is not int)
    if odd:
        return f"rows are said to be packed with {', '.join(odd)}, which is no codec: they were altered"
    missing = sorted(found - held)
    if missing:
        named = ", ".join(str(codec - compression.DICTIONARY) for codec in missing)
        return f"dictionary {named} is missing, and rows are packed with it: only this spectrace can unpack them"
    for number, digest, data in connection.execute(sa.select(tables.dictionaries)):
        try:
            shipped = compression.dictionary(number)
        except StoreError as error:
            return str(error)
        if hashlib.sha256(data).digest() != digest or data != shipped:
            return f"dictionary {number} is not the one that was shipped"
    return None


def _blobs(connection: sa.Connection) -> Problem:
    if not sight.lists_texts(connection):
        return None, "not looked through: this role is given single texts only; `spectrace verify` checks those it sees"
    missing, note = blob_rows.named(connection)
    found = [one for one in (blob_rows.wrong_lengths(connection), missing) if one is not None]
    return "; ".join(found) or None, note


def _access(connection: sa.Connection, url: str) -> Problem:
    """Say who else may write or read a file, and what this role is not shown."""
    if connection.dialect.name == "sqlite":
        return private.exposed(Path(parse_url(url).database or ""))
    project = sight.only_project(connection)
    if project is None:
        return None, None
    return None, f"this role is shown the project {project!r} and administrative logs; of all else nothing was checked"


def _flush(connection: sa.Connection) -> str | None:
    """A Postgres that does not flush makes `durable` a word."""
    if connection.dialect.name == "sqlite":
        return None
    setting = connection.exec_driver_sql("SHOW fsync").scalar_one()
    return None if setting == "on" else f"fsync is {setting}: a crash of the server may lose or damage the log"


def _epochs(connection: sa.Connection, *, begun: bool) -> tuple[str | None, str | None]:
    """Check that the administrative logs, and only they, have numbers of 0 and below; say which one is current."""
    lying = tables.epochs.outerjoin(tables.events, tables.events.c.key == tables.epochs.c.number * key(1, 0))
    opened = sa.select(tables.epochs.c.number, tables.events.c.type).select_from(lying)
    types = {number: type_ for number, type_ in connection.execute(opened)}  # noqa: C416 - rows are no pairs to mypy
    numbers = set(connection.scalars(sa.select(tables.episodes.c.number).where(tables.episodes.c.number <= 0)))
    epoch = admin.current(connection)
    if epoch is None and not begun and not numbers:
        return None, "none yet: the first begins with the upgrade"
    if epoch is None:
        return "no epoch was begun: `spectrace db upgrade` begins one", None
    if set(types) != numbers or any(number > 0 for number in types):
        return "the epochs are not the episodes numbered 0 and below: somebody hid an episode, or showed one", None
    wrong = [number for number, type_ in types.items() if type_ != TYPE_NUMBERS[AdminOpened]]
    if wrong:
        return f"the epochs numbered {', '.join(map(str, wrong))} do not begin with {AdminOpened.TYPE}", None
    own = tables.epochs.select().where(tables.epochs.c.place.is_not(None)).order_by(tables.epochs.c.place)
    begun_in_turn = [(place, number) for number, place in connection.execute(own)]
    in_turn = list(enumerate(sorted((number for _, number in begun_in_turn), reverse=True), 1))
    if begun_in_turn != in_turn:  # each new one gets the next place and the lowest number yet
        return "the epochs do not stand in the order in which they were begun: somebody moved or removed one", None
    return None, f"{epoch.episode} is the current one of {len(types)}, records: {epoch.events}, head {epoch.head.hex()}"


def _runs(connection: sa.Connection) -> str | None:
    """Find named runs whose selection is not the one that was begun with."""
    query = sa.select(tables.runs.c.name, tables.runs.c.selection_digest, tables.runs.c.selection)
    wrong = [name for name, said, selection in connection.execute(query) if text_digest(selection) != said]
    return (
        f"the selection of the runs {', '.join(wrong)} is not what its digest says: somebody altered it"
        if wrong
        else None
    )


def _copies(connection: sa.Connection) -> str | None:
    """Find copies that stopped: nothing else tells them from whole ones."""
    try:
        found = unfinished(connection)
    except StoreError as error:
        return str(error)
    said = [
        f"not all of {one.source.name or 'a source'} was {one.what}, or still is being {one.what}: do it again (begun: "
        f"{one.record}, without an end)"
        for one in found
    ]
    return "; ".join(said) or None


def _events(connection: sa.Connection) -> str | None:
    """Find events that no listing shows, because no episode has their number."""
    query = (
        f"SELECT count(*), min(key) FROM events WHERE NOT EXISTS "  # noqa: S608 - our own numbers
        f"(SELECT 1 FROM episodes WHERE number = events.key >> {tables.SEQ_BITS})"
    )
    count, first = connection.exec_driver_sql(query).one()
    if not count:
        return None
    number, seq = first >> tables.SEQ_BITS, first & (key(1, 0) - 1)
    return f"{count} events have no episode, the first is number {number}, event {seq}: somebody deleted its row"


def _projections(connection: sa.Connection, *, older: bool) -> Problem:
    """Only runs have any. That an older log has old ones is as it should be; what they say, `projected` compares."""
    odd = [
        table.name
        for table in _PROJECTED
        if connection.scalar(sa.select(table.c.number).where(table.c.number <= 0).limit(1)) is not None
    ]
    if odd:
        return (
            f"an administrative log has rows in {', '.join(odd)}, where only runs have any: somebody put them there",
            None,
        )
    old = sa.select(sa.func.count()).where(tables.summaries.c.projection != projections.VERSION)
    missing = sa.select(sa.func.count()).select_from(tables.episodes.outerjoin(tables.summaries))
    stale = connection.scalar(old) or 0
    absent = connection.scalar(missing.where(tables.summaries.c.number.is_(None), tables.episodes.c.number > 0)) or 0
    if not stale + absent:
        return None, None
    said = f"episodes with old or no summaries: {stale + absent}"
    if older:
        return None, f"{said}; `spectrace db upgrade` makes them anew, where the file may be changed"
    return f"{said}. `spectrace db rebuild` makes them anew", None
