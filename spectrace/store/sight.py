"""What the role of a Postgres connection is let to see of a log (`grants`); who has a SQLite file sees all of it."""

import sqlalchemy as sa

from spectrace.store.rights import SHOWN

_LISTS = "spectrace_lists_texts"


def lists_texts(connection: sa.Connection) -> bool:
    """Whether texts may be selected at will; else only those are given whose digests are named."""
    if connection.dialect.name == "sqlite":
        return True
    if _LISTS not in connection.info:  # kept as long as the driver's connection
        asked = connection.exec_driver_sql("SELECT has_table_privilege('blobs', 'SELECT')")
        connection.info[_LISTS] = bool(asked.scalar_one())
    return bool(connection.info[_LISTS])


def texts(connection: sa.Connection, marks: str) -> str:
    """Return what follows FROM, where texts are wanted by their digests; `marks` stands for these."""
    return (
        f"blobs WHERE digest IN ({marks})" if lists_texts(connection) else f"spectrace_blobs(ARRAY[{marks}]::bytea[])"
    )


def only_project(connection: sa.Connection) -> str | None:
    """Return the one project whose episodes the role is shown; None where it sees them all."""
    if connection.dialect.name == "sqlite":
        return None
    found = connection.exec_driver_sql(
        "SELECT obj_description(p.oid, 'pg_policy') FROM pg_policy p WHERE p.polrelid = 'episodes'::regclass "
        "AND NOT p.polpermissive AND row_security_active('episodes'::regclass) "
        "AND EXISTS (SELECT FROM unnest(p.polroles) AS r (oid) WHERE pg_has_role(r.oid, 'USAGE')) "
        "AND obj_description(p.oid, 'pg_policy') IS NOT NULL ORDER BY 1"
    ).scalars()
    return next((str(one).removeprefix(SHOWN) for one in found), None)
