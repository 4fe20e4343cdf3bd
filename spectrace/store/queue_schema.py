"""Where the queue lies: procrastinate's tables in a Postgres schema of their own, beside the log's, never among them.

A log in the schema `public` has its queue in `spectrace_queue`, one in another schema in a queue named after that one.
Procrastinate keeps no record of its migrations, so we do: a table lists those that were applied, the missing ones are
run when the queue is opened, and a queue made by a newer procrastinate is refused.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import sqlalchemy as sa

from spectrace.errors import MissingExtra, NewerSchema, StoreError, UsageError
from spectrace.store.address import parse_url, shown
from spectrace.store.database import Database
from spectrace.store.jobs import Standing

NAME = "spectrace_queue"
_NAME_BYTES = 63
"""Postgres cuts longer names."""
_APPLIED = "spectrace_migrations"
_LOCK = 0x73_70_65_63_71_75
"""Of one who makes or migrates the queue; the others wait."""


def require(url: sa.URL) -> None:
    """Raise UsageError for a database that many machines cannot share, and where procrastinate is not installed."""
    if url.get_backend_name() == "sqlite":
        raise UsageError(
            f"a queue needs a log in Postgres, which many machines can write; {shown(url)} is a SQLite file. "
            "On one machine `spectrace reverify --concurrency N` does the work without a queue; to use several, "
            f"`spectrace db copy postgresql://USER@HOST/NAME --db {shown(url)}` takes the log there."
        )
    _migrations()


def prepare(url: str) -> str:
    """Make the queue's schema, or bring it up to date; return its name."""
    require(parse_url(url))
    known = _migrations()
    database = Database(parse_url(url), read_only=False)
    try:
        while True:
            with database.writing(durable=True) as connection:
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
                name = schema_of(connection)
                if not _exists(connection, name):
                    _create(connection, name, known, database)
                    return name
                missing = _missing(connection, name, known, database)
                if not missing:
                    return name
                # Each in a transaction of its own: a value that one adds to a type, the next may use.
                _apply(connection, name, missing[0], known[missing[0]])
    finally:
        database.close()


def standings(connection: sa.Connection) -> Mapping[str, Standing]:
    """Return how each queue stands, by its key; nothing where there is none, or this user may not see it.

    This needs no procrastinate: whoever only reads a log may not have it.
    """
    if connection.dialect.name == "sqlite":
        return {}
    name = schema_of(connection)
    visible = connection.exec_driver_sql(
        "SELECT coalesce(bool_and(has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')),"
        " false) FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid"
        " WHERE n.nspname = %s AND c.relname = 'procrastinate_jobs'",
        (name,),
    )
    if not visible.scalar_one():
        return {}
    counted: dict[str, dict[str, int]] = {}
    query = f"SELECT queue_name, status::text, count(*) FROM {quoted(name)}.procrastinate_jobs GROUP BY 1, 2"  # noqa: S608 - quoted
    for queue, status, count in connection.exec_driver_sql(query):
        counted.setdefault(queue, {})[status] = count
    return {queue: standing(counts) for queue, counts in counted.items()}


def standing(counts: Mapping[str, int]) -> Standing:
    """Return a queue's standing from its jobs by procrastinate's states."""
    return Standing(counts.get("todo", 0), counts.get("doing", 0), counts.get("failed", 0))


def schema_of(connection: sa.Connection) -> str:
    """Return the name of the schema that the queue of this log has."""
    of_log = connection.exec_driver_sql("SELECT current_schema()").scalar_one() or "public"
    name = NAME if of_log == "public" else f"{NAME}_{of_log}"
    if len(name.encode()) <= _NAME_BYTES:
        return name
    return f"{NAME}_{hashlib.sha256(str(of_log).encode()).hexdigest()[:32]}"


def _migrations() -> Mapping[str, Path]:
    """Return the migrations that the installed procrastinate carries, in order; the whole schema includes them all."""
    try:
        from procrastinate.schema import SchemaManager  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("a queue", "queue") from error
    return {path.name: path for path in sorted(Path(SchemaManager.get_migrations_path()).glob("*.sql"))}


def _exists(connection: sa.Connection, name: str) -> bool:
    return connection.exec_driver_sql("SELECT 1 FROM pg_namespace WHERE nspname = %s", (name,)).first() is not None


def _create(connection: sa.Connection, name: str, known: Mapping[str, Path], database: Database) -> None:
    from procrastinate.schema import SchemaManager  # noqa: PLC0415 - as above

    try:
        connection.exec_driver_sql(f"CREATE SCHEMA {quoted(name)}")
    except sa.exc.ProgrammingError as error:
        raise StoreError(
            f"the queue's schema cannot be made in {shown(database.url)}: {str(error.orig).strip()}. Somebody who may "
            f"does it once: CREATE SCHEMA {name} AUTHORIZATION {database.url.username or 'USER'}; then it is filled."
        ) from error
    _fill(connection, name, SchemaManager.get_schema(), list(known))


def _fill(connection: sa.Connection, name: str, script: str, names: list[str]) -> None:
    _run(connection, name, script)
    connection.exec_driver_sql(f"CREATE TABLE {_APPLIED} (name text PRIMARY KEY, at timestamptz DEFAULT now())")
    connection.execute(sa.text(f"INSERT INTO {_APPLIED} (name) VALUES (:name)"), [{"name": one} for one in names])  # noqa: S608 - ours


def _missing(connection: sa.Connection, name: str, known: Mapping[str, Path], database: Database) -> list[str]:
    """Return the migrations to run; fill a schema that somebody made for us, refuse one that is not ours."""
    tables = set(sa.inspect(connection).get_table_names(name))
    if not tables:
        from procrastinate.schema import SchemaManager  # noqa: PLC0415 - as above

        _fill(connection, name, SchemaManager.get_schema(), list(known))
        return []
    if _APPLIED not in tables:
        raise StoreError(
            f"{shown(database.url)} has a schema {name} that spectrace did not make ({', '.join(sorted(tables)[:3])}): "
            "rename it, so that the queue has that name."
        )
    applied = set(connection.exec_driver_sql(f"SELECT name FROM {quoted(name)}.{_APPLIED}").scalars())  # noqa: S608 - quoted
    newer = sorted(applied - set(known))
    if newer:
        raise NewerSchema(
            f"the queue in {shown(database.url)} was made by a newer procrastinate (migration {newer[-1]}): "
            "pip install --upgrade procrastinate."
        )
    return [one for one in known if one not in applied]


def _apply(connection: sa.Connection, name: str, migration: str, path: Path) -> None:
    _run(connection, name, path.read_text(encoding="utf-8"))
    connection.execute(sa.text(f"INSERT INTO {_APPLIED} (name) VALUES (:name)"), {"name": migration})  # noqa: S608 - ours


def _run(connection: sa.Connection, name: str, script: str) -> None:
    """Run a script of several statements, in which a percent sign is one, where nothing but the queue can be named."""
    connection.exec_driver_sql(f"SET LOCAL search_path TO {quoted(name)}")
    connection.exec_driver_sql(script.replace("%", "%%"))


def quoted(name: str) -> str:
    """Return a name as SQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'
