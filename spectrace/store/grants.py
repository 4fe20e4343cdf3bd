"""`db grants`: what existing Postgres roles may do to a log. It says the SQL, and runs it on request; it makes no role.

A role has one job. A *reader* selects. A *recorder* also adds rows, and changes what a writer moves: an episode's end,
head and lease, a run's settings, projections, the queue; never an event, a text, a leaf, a proof or a name. An *eraser*
takes bodies, salts and texts away and adds the record of it. A second grant replaces the first. No job may alter,
truncate or guard anything: tables, triggers and functions stay their owner's, who is above all of this. What the jobs
do not prevent, `limits` says to whoever grants them.

Of one project: row level security, by policies that restrict the granted role and nobody else (`rights`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa

from spectrace.errors import StoreError, UsageError
from spectrace.store import queue_schema, rights, tables
from spectrace.store.database import Database
from spectrace.store.projections import storable
from spectrace.store.queue_schema import quoted

Job = Literal["recorder", "reader", "eraser"]
JOBS: tuple[Job, ...] = ("recorder", "reader", "eraser")

_MAINTAIN = 17_00_00
"""From this Postgres on whoever may not change a table may still be let to lock it and to write it anew."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A role, and what it shall be able to do from now on."""

    role: str
    job: Job


@dataclass(frozen=True, slots=True)
class _Place:
    """What the statements name."""

    schema: str
    queue: str | None
    """The queue's schema, where there is one."""
    sequences: tuple[str, ...]
    version: int
    texts: bool
    """Whether the function that gives texts by their digests is there."""

    def table(self, name: str) -> str:
        return f"{quoted(self.schema)}.{name}"

    def every(self) -> str:
        return ", ".join(map(self.table, rights.TABLES))


def statements(
    database: Database, grants: Sequence[Grant], *, project: str | None = None, revoke: bool = False
) -> list[str]:
    """Return the SQL that gives each role its job, or with `revoke` takes away whatever it has; nothing is changed."""
    _require(database, grants, project)
    with database.reading() as connection:
        place = _place(connection)
        for one in grants:
            _require_role(connection, one, place)
    said = [] if revoke else list(_once(place, grants, project))
    for one in grants:
        said += _taken(place, one.role, texts=place.texts or (project is not None and not revoke))
        if not revoke:
            said += _given(place, one, project)
    return said


def limits(grants: Sequence[Grant], project: str | None) -> Iterator[str]:
    """Yield in words what these roles can do that nobody might expect of them."""
    jobs = {one.job for one in grants}
    if project is not None:
        yield (
            "a role of one project reads the administrative logs whole, also who erased what in other projects, with "
            "the episodes' ids and the reasons given"
        )
    if "recorder" in jobs:
        yield (
            "a recorder can lock the tables of projections, which it makes anew, and so keep others waiting; of what "
            "it may write, it can write what is not true, which `spectrace verify` compares"
        )
    if "eraser" in jobs:
        yield (
            "an eraser can, with SQL of its own, erase bodies and delete texts without a record of it, and lock the "
            "tables that it cleans; `spectrace verify` and `spectrace db check` name what is gone so, and nobody "
            "brings it back"
        )


def apply(database: Database, texts: Sequence[str]) -> None:
    """Run the statements in one transaction."""
    with database.writing(durable=True) as connection:
        for text in texts:
            connection.exec_driver_sql(text.replace("%", "%%"))


def _require(database: Database, grants: Sequence[Grant], project: str | None) -> None:
    if database.sqlite:
        raise UsageError(
            "a SQLite file has no roles: who may read or write it is said by its mode and its directory's (new ones "
            "are for their owner alone). `db grants` is for a log in Postgres."
        )
    names = [one.role for one in grants]
    if not names:
        raise UsageError("name a role: --recorder ROLE, --reader ROLE or --eraser ROLE; each may be given again.")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"a role has one job, and {twice[0]!r} is given two: use a role for each.")
    if project is not None and any(one.job == "eraser" for one in grants):
        raise UsageError(
            "an eraser has no --project: a text that two projects share may go only when neither needs it, and to know "
            "that it must see both."
        )


def _place(connection: sa.Connection) -> _Place:
    schema = str(connection.exec_driver_sql("SELECT current_schema()").scalar_one())
    queue = queue_schema.schema_of(connection)
    found = connection.exec_driver_sql("SELECT 1 FROM pg_namespace WHERE nspname = %s", (queue,)).first()
    sequences = connection.exec_driver_sql(
        "SELECT c.relname FROM pg_class c JOIN pg_depend d ON d.objid = c.oid AND d.deptype IN ('a', 'i') "
        "JOIN pg_class t ON t.oid = d.refobjid JOIN pg_namespace n ON n.oid = t.relnamespace "
        "WHERE c.relkind = 'S' AND n.nspname = %s AND t.relname = ANY (%s) ORDER BY 1",
        (schema, list(rights.NUMBERED)),
    ).scalars()
    version = int(connection.exec_driver_sql("SHOW server_version_num").scalar_one())
    name = rights.function_of(schema)
    texts = connection.exec_driver_sql("SELECT to_regprocedure(%s) IS NOT NULL", (name,)).scalar_one()
    return _Place(schema, queue if found else None, tuple(map(str, sequences)), version, bool(texts))


def _require_role(connection: sa.Connection, grant: Grant, place: _Place) -> None:
    if not grant.role.isprintable():
        raise UsageError(f"a role's name is printable text, not {grant.role!r}.")
    found = connection.exec_driver_sql(
        "SELECT r.rolsuper, r.rolbypassrls OR pg_has_role(r.oid, 'pg_read_all_data', 'MEMBER'), "
        "pg_has_role(r.oid, c.relowner, 'MEMBER') OR pg_has_role(r.oid, 'pg_write_all_data', 'MEMBER') "
        "FROM pg_roles r, pg_class c WHERE r.rolname = %s AND c.oid = 'events'::regclass",
        (grant.role,),
    ).first()
    if found is None:
        raise UsageError(
            f"there is no role {grant.role!r} on this server: CREATE ROLE makes one, then run this again. spectrace "
            "makes no roles."
        )
    superuser, bypasses, owner = found
    if superuser or owner:
        what = "is a superuser" if superuser else "owns the log, or belongs to its owner or to pg_write_all_data"
        raise UsageError(f"{grant.role!r} {what}, so it may write whatever is granted: give another role.")
    if bypasses:
        raise UsageError(
            f"{grant.role!r} has BYPASSRLS or belongs to pg_read_all_data, so it reads whatever is granted: take that "
            "from it first, or give another role."
        )
    if grant.job == "eraser" and place.version < _MAINTAIN:
        raise StoreError(
            f"an eraser that can do nothing else needs Postgres 17, which can let a role lock a table that it may not "
            f"change; this is {place.version // 10_000}. Erase as the owner."
        )


def _once(place: _Place, grants: Sequence[Grant], project: str | None) -> Iterator[str]:
    """Yield what is needed once: nobody else may make things where the log's names are looked up."""
    yield f"REVOKE CREATE ON SCHEMA {quoted(place.schema)} FROM PUBLIC"
    yield f"REVOKE ALL ON TABLE {place.every()} FROM PUBLIC"
    for function in ("spectrace_append_only", "spectrace_session_user", "spectrace_goes_on"):
        yield f"ALTER FUNCTION {quoted(place.schema)}.{function}() SET search_path = pg_catalog, pg_temp"
    if project is None and all(one.job != "eraser" for one in grants):
        return
    for name in rights.ROWS:
        yield f"ALTER TABLE {place.table(name)} ENABLE ROW LEVEL SECURITY"
        # Everybody sees what they saw before; what follows restricts the granted role alone.
        yield f"DROP POLICY IF EXISTS {rights.EVERYBODY} ON {place.table(name)}"
        yield f"CREATE POLICY {rights.EVERYBODY} ON {place.table(name)} USING (true) WITH CHECK (true)"
    if project is not None:
        yield rights.text_function(place.schema)
        yield f"REVOKE ALL ON FUNCTION {rights.function_of(place.schema)} FROM PUBLIC"


def _taken(place: _Place, role: str, *, texts: bool) -> Iterator[str]:
    """Yield what takes away whatever the role has."""
    to = quoted(role)
    for name in rights.ROWS:
        for kind in rights.POLICIES:
            yield f"DROP POLICY IF EXISTS {rights.policy(role, kind)} ON {place.table(name)}"
    yield f"REVOKE ALL ON TABLE {place.every()} FROM {to}"
    for sequence in place.sequences:
        yield f"REVOKE ALL ON SEQUENCE {place.table(quoted(sequence))} FROM {to}"
    if texts:
        yield f"REVOKE ALL ON FUNCTION {rights.function_of(place.schema)} FROM {to}"
    yield f"REVOKE ALL ON SCHEMA {quoted(place.schema)} FROM {to}"
    if place.queue is not None:
        for what in ("TABLES", "SEQUENCES"):
            yield f"REVOKE ALL ON ALL {what} IN SCHEMA {quoted(place.queue)} FROM {to}"
        yield f"REVOKE ALL ON SCHEMA {quoted(place.queue)} FROM {to}"


def _given(place: _Place, grant: Grant, project: str | None) -> Iterator[str]:
    to = quoted(grant.role)
    yield f"GRANT USAGE ON SCHEMA {quoted(place.schema)} TO {to}"
    readable = [name for name in rights.TABLES if project is None or name != tables.blobs.name]
    yield f"GRANT SELECT ON TABLE {', '.join(map(place.table, readable))} TO {to}"
    changes = {"recorder": rights.RECORDER, "reader": {}, "eraser": rights.ERASER}[grant.job]
    for name, allowed in changes.items():
        yield f"GRANT {allowed.text()} ON TABLE {place.table(name)} TO {to}"
    if grant.job == "recorder":
        for sequence in place.sequences:
            yield f"GRANT USAGE ON SEQUENCE {place.table(quoted(sequence))} TO {to}"
    if grant.job == "eraser":
        yield f"GRANT MAINTAIN ON TABLE {', '.join(map(place.table, rights.CLEANED))} TO {to}"
        yield rights.records_only(place.schema, grant.role)
    if place.queue is not None and grant.job != "eraser":
        yield f"GRANT USAGE ON SCHEMA {quoted(place.queue)} TO {to}"
        rest = ", INSERT, UPDATE, DELETE" if grant.job == "recorder" else ""
        yield f"GRANT SELECT{rest} ON ALL TABLES IN SCHEMA {quoted(place.queue)} TO {to}"
        if rest:
            yield f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {quoted(place.queue)} TO {to}"
    if project is not None:
        yield f"GRANT EXECUTE ON FUNCTION {rights.function_of(place.schema)} TO {to}"
        yield from rights.restricted(place.schema, grant.role, storable(project))
