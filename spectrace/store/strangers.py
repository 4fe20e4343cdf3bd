"""What acts on a log's tables and is none of ours: triggers, rules, policies, views, and tables without a journal.

A trigger of somebody's can swallow an insert, or keep what is erased; whoever may make one may have done so. Part of
`soundness`; counterpart of `triggers`, which asks whether ours are there. That nothing swallows an append is also seen
by whoever makes it (`commits`, `statements`).
"""

import sqlalchemy as sa

from spectrace.store import tables
from spectrace.store.triggers import OURS

_TRIGGERS = """
SELECT tgname, relname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
WHERE NOT tgisinternal AND pg_table_is_visible(tgrelid)"""
_RULES = """
SELECT rulename, relname FROM pg_rewrite JOIN pg_class ON pg_class.oid = ev_class
WHERE relkind IN ('r', 'p') AND pg_table_is_visible(ev_class)"""
_POLICIES = """
SELECT polname, relname FROM pg_policy JOIN pg_class ON pg_class.oid = polrelid
WHERE NOT starts_with(polname::text, 'spectrace_') AND pg_table_is_visible(polrelid)"""
"""Those that `grants` makes are called so."""
_FORCED = "SELECT relname, relname FROM pg_class WHERE relforcerowsecurity AND pg_table_is_visible(oid)"
_UNLOGGED = """
SELECT relname, relname FROM pg_class
WHERE relpersistence <> 'p' AND relkind IN ('r', 'p') AND pg_table_is_visible(oid)"""
_POSTGRES = {
    "trigger": _TRIGGERS,
    "rule": _RULES,
    "policy": _POLICIES,
    "forced row security": _FORCED,
    "unlogged table": _UNLOGGED,
}


def problems(connection: sa.Connection) -> str | None:
    """Return what is there that spectrace did not make; None where nothing is."""
    found = sorted(set(_found(connection)))
    if not found:
        return None
    return (
        f"not made by spectrace: {', '.join(found)}. Such a thing can swallow what is recorded or keep what is erased: "
        "find out who made it, and drop it"
    )


def _found(connection: sa.Connection) -> list[str]:
    names = set(tables.metadata.tables) | {"alembic_version"}
    if connection.dialect.name == "sqlite":
        rows = connection.exec_driver_sql(
            "SELECT type, name, tbl_name FROM sqlite_schema WHERE type IN ('trigger', 'view')"
        ).all()
        return [
            _said(kind, name, table)
            for kind, name, table in rows
            if (kind == "view" and name in names) or (kind == "trigger" and table in names and name not in OURS)
        ]
    return [
        _said(kind, name, table)
        for kind, text in _POSTGRES.items()
        for name, table in connection.exec_driver_sql(text)
        if table in names and not (kind == "trigger" and name in OURS)
    ]


def _said(kind: str, name: str, table: str) -> str:
    return f"{kind} {name}" + (f" on {table}" if name != table else "")
