"""Looking after a database: what it holds (`db stats`), whether it is sound (`db check`), projections made anew."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import sqlalchemy as sa

from spectrace.core.events import TYPE_NUMBERS, EpisodeStarted, Event
from spectrace.errors import StoreError
from spectrace.store import compression, migrate, projections, tables
from spectrace.store.database import Database, parse_url
from spectrace.store.sql import SqlEventStore, open_store
from spectrace.store.triggers import missing_triggers


@dataclass(frozen=True, slots=True)
class TableSize:
    """One table: its rows and the bytes that it and its indexes take; None where the database does not say."""

    table: str
    rows: int
    bytes: int | None


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked; `problem` is None when it is as it should be."""

    check: str
    problem: str | None


def stats(url: str) -> list[TableSize]:
    """Return the size of every table."""
    with _reading(url) as connection:
        sizes = _sizes(connection)
        counts = {table: sa.select(sa.func.count()).select_from(table) for table in tables.metadata.sorted_tables}
        return [TableSize(t.name, connection.scalar(count) or 0, sizes.get(t.name)) for t, count in counts.items()]


def check(url: str) -> list[Finding]:
    """Check the file, revision, triggers, names, dictionary and projections; chains are `spectrace verify`'s."""
    with _reading(url) as connection:
        return [
            Finding("integrity", _integrity(connection)),
            Finding("triggers", _triggers(connection)),
            Finding("types", _types(connection)),
            Finding("dictionary", _dictionary(connection)),
            Finding("flush", _flush(connection)),
            Finding("projections", _projections(connection)),
        ]


def rebuild(url: str) -> int:
    """Make every episode's projections anew from its events; return how many episodes."""
    store, done = open_store(url), 0
    try:
        with store.database.reading() as connection:
            found = connection.execute(sa.select(tables.episodes.c.number, tables.episodes.c.episode)).all()
        for number, episode in found:
            _rebuild_one(store, number, list(store.read(episode)))
            done += 1
    finally:
        store.close()
    return done


def _rebuild_one(store: SqlEventStore, number: int, events: list[Event]) -> None:
    started = events[0].body if events else None
    with store.database.writing(durable=False) as connection:
        connection.execute(tables.summaries.delete().where(tables.summaries.c.number == number))
        if isinstance(started, EpisodeStarted):
            projections.begin(connection, number, started)
            projections.project(connection, number, events, again=True)


@contextmanager
def _reading(url: str) -> Iterator[sa.Connection]:
    database = Database(parse_url(url), read_only=True)
    try:
        migrate.prepare(database)
        with database.reading() as connection:
            yield connection
    finally:
        database.close()


def _sizes(connection: sa.Connection) -> Mapping[str, int]:
    if connection.dialect.name != "sqlite":
        query = (
            "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r' AND pg_table_is_visible(oid)"
        )
        return {name: size for name, size in connection.exec_driver_sql(query)}  # noqa: C416 - rows are no pairs to mypy
    query = (
        "SELECT s.tbl_name, sum(d.pgsize) FROM dbstat('main', 1) AS d JOIN sqlite_schema AS s ON s.name = d.name "
        "GROUP BY s.tbl_name"
    )
    try:
        return {name: size for name, size in connection.exec_driver_sql(query)}  # noqa: C416 - rows are no pairs to mypy
    except sa.exc.OperationalError:  # this build of SQLite came without dbstat
        return {}


def _integrity(connection: sa.Connection) -> str | None:
    if connection.dialect.name != "sqlite":
        return None
    said = list(connection.exec_driver_sql("PRAGMA integrity_check(10)").scalars())
    return None if said == ["ok"] else "; ".join(map(str, said))


def _triggers(connection: sa.Connection) -> str | None:
    missing = missing_triggers(connection)
    if not missing:
        return None
    return (
        f"missing, altered or switched off: {', '.join(missing)}, so events could be changed. Find out who did that; "
        "`spectrace verify --all` tells whether any was, `spectrace db upgrade` puts them back"
    )


def _types(connection: sa.Connection) -> str | None:
    held = {row.number: row.name for row in connection.execute(tables.types.select())}
    wrong = [cls.TYPE for cls, number in TYPE_NUMBERS.items() if held.get(number) != cls.TYPE]
    return f"the numbers of these types are not what this spectrace knows: {', '.join(wrong)}" if wrong else None


def _dictionary(connection: sa.Connection) -> str | None:
    for number, digest, data in connection.execute(sa.select(tables.dictionaries)):
        try:
            shipped = compression.dictionary(number)
        except StoreError as error:
            return str(error)
        if hashlib.sha256(data).digest() != digest or data != shipped:
            return f"dictionary {number} is not the one that was shipped"
    return None


def _flush(connection: sa.Connection) -> str | None:
    """A Postgres that does not flush makes `durable` a word."""
    if connection.dialect.name == "sqlite":
        return None
    setting = connection.exec_driver_sql("SHOW fsync").scalar_one()
    return None if setting == "on" else f"fsync is {setting}: a crash of the server may lose or damage the log"


def _projections(connection: sa.Connection) -> str | None:
    old = sa.select(sa.func.count()).where(tables.summaries.c.projection != projections.VERSION)
    missing = sa.select(sa.func.count()).select_from(tables.episodes.outerjoin(tables.summaries))
    stale = connection.scalar(old) or 0
    absent = connection.scalar(missing.where(tables.summaries.c.number.is_(None))) or 0
    return f"{stale + absent} episodes have old or no summaries: `spectrace db rebuild`" if stale + absent else None
