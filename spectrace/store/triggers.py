"""The triggers that make `events` append-only, on both databases, and the check that they are there.

Refused: UPDATE, DELETE, TRUNCATE, and on SQLite an INSERT over an existing key, because INSERT OR REPLACE passes the
other triggers. The one update let through is body -> erased: payload and salt become NULL, all else stays. On
Postgres `episodes.db_user` is the session's user, whatever the client says.

There, too, where many roles may move an episode's row (`grants`), the row only goes on: it never counts fewer events,
its head changes only with their number, an end stays. An administrative log's, which is everybody's, says what its last
event says. A SQLite file has one owner, and `verify` compares every row with its events.
"""

import sqlalchemy as sa

from spectrace.errors import StoreError
from spectrace.store.tables import SEQ_BITS

_FIXED = ("key", "type", "tool", "lane", "version", "at", "effect", "authority", "outcome", "codec", "link")
_REFUSAL = "spectrace: events are append-only"
_BACK = "spectrace: an episode goes on only, its row cannot go back"

_SQLITE = {
    "events_no_update": f"""
CREATE TRIGGER events_no_update BEFORE UPDATE ON events
WHEN NOT (OLD.payload IS NOT NULL AND NEW.payload IS NULL AND NEW.salt IS NULL
          AND {" AND ".join(f'NEW."{name}" IS OLD."{name}"' for name in _FIXED)})
BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END""",
    "events_no_delete": f"""
CREATE TRIGGER events_no_delete BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END""",
    "events_no_overwrite": """
CREATE TRIGGER events_no_overwrite BEFORE INSERT ON events
WHEN EXISTS (SELECT 1 FROM events WHERE "key" = NEW."key")
BEGIN SELECT RAISE(ABORT, 'spectrace: events are append-only'); END""",
}

_POSTGRES_FUNCTIONS = (
    f"""
CREATE FUNCTION spectrace_append_only() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF OLD.payload IS NOT NULL AND NEW.payload IS NULL AND NEW.salt IS NULL
       AND {" AND ".join(f'NEW."{name}" IS NOT DISTINCT FROM OLD."{name}"' for name in _FIXED)} THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION '{_REFUSAL}' USING ERRCODE = 'integrity_constraint_violation';
END $body$""",
    """
CREATE FUNCTION spectrace_session_user() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  NEW.db_user := CASE WHEN TG_OP = 'INSERT' THEN session_user ELSE OLD.db_user END;
  RETURN NEW;
END $body$""",
    f"""
CREATE FUNCTION spectrace_goes_on() RETURNS trigger LANGUAGE plpgsql AS $body$
DECLARE
  said boolean := true;
BEGIN
  IF NEW.events < OLD.events OR (NEW.events = OLD.events AND NEW.head IS DISTINCT FROM OLD.head)
     OR (OLD.ended_at IS NOT NULL AND NEW.ended_at IS NULL) THEN
    RAISE EXCEPTION '{_BACK}' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF NEW.number <= 0 AND NEW.events > OLD.events THEN
    EXECUTE 'SELECT EXISTS (SELECT FROM ' || quote_ident(TG_TABLE_SCHEMA) || '.events WHERE key = $1 AND link = $2)'
      INTO said USING (NEW.number::bigint << {SEQ_BITS}) + NEW.events - 1, NEW.head;
    IF NOT said THEN
      RAISE EXCEPTION '{_BACK}, nor ahead of its events' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
  END IF;
  RETURN NEW;
END $body$""",  # noqa: S608 - our own words
)
_POSTGRES = {
    "events_append_only": """
CREATE TRIGGER events_append_only BEFORE UPDATE OR DELETE ON events
FOR EACH ROW EXECUTE FUNCTION spectrace_append_only()""",
    "events_no_truncate": """
CREATE TRIGGER events_no_truncate BEFORE TRUNCATE ON events
FOR EACH STATEMENT EXECUTE FUNCTION spectrace_append_only()""",
    "episodes_session_user": """
CREATE TRIGGER episodes_session_user BEFORE INSERT OR UPDATE ON episodes
FOR EACH ROW EXECUTE FUNCTION spectrace_session_user()""",
    "episodes_goes_on": """
CREATE TRIGGER episodes_goes_on BEFORE UPDATE ON episodes
FOR EACH ROW EXECUTE FUNCTION spectrace_goes_on()""",
}
OURS = frozenset(_SQLITE) | frozenset(_POSTGRES)
"""The names of all triggers that spectrace makes, in either database."""
_APPEND_ONLY, _SESSION_USER, _GOES_ON = (text.split("$body$")[1].strip() for text in _POSTGRES_FUNCTIONS)
_POSTGRES_TRAITS = {
    "events_append_only": (27, _APPEND_ONLY),
    "events_no_truncate": (34, _APPEND_ONLY),
    "episodes_session_user": (23, _SESSION_USER),
    "episodes_goes_on": (19, _GOES_ON),
}
"""What makes each the trigger that it should be: pg_trigger.tgtype (when and on what), and its function's text."""


def create_triggers(connection: sa.Connection) -> None:
    """Create every trigger; part of the first migration."""
    statements = (
        _SQLITE.values() if connection.dialect.name == "sqlite" else (*_POSTGRES_FUNCTIONS, *_POSTGRES.values())
    )
    for statement in statements:
        connection.exec_driver_sql(statement)


def missing_triggers(connection: sa.Connection) -> list[str]:
    """Return the names of the triggers that are not there, altered or switched off."""
    if connection.dialect.name == "sqlite":
        rows = connection.exec_driver_sql("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
        found = {name: sql.strip() for name, sql in rows}
        return [name for name, sql in _SQLITE.items() if found.get(name) != sql.strip()]
    enabled = connection.exec_driver_sql(
        "SELECT tgname, tgtype, prosrc FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid "
        "WHERE tgenabled IN ('O', 'A') AND tgqual IS NULL AND tgrelid IN ('events'::regclass, 'episodes'::regclass)"
    )
    present = {(name, kind, source.strip()) for name, kind, source in enabled}
    return [name for name, (kind, source) in _POSTGRES_TRAITS.items() if (name, kind, source) not in present]


def restore_triggers(connection: sa.Connection) -> list[str]:
    """Create the triggers anew that are not there, altered or switched off; return their names."""
    missing = missing_triggers(connection)
    sqlite = connection.dialect.name == "sqlite"
    if missing and not sqlite:
        for statement in _POSTGRES_FUNCTIONS:
            connection.exec_driver_sql(statement.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", 1))
    for name in missing:
        on = "" if sqlite else f" ON {name.partition('_')[0]}"
        connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {name}{on}")
        connection.exec_driver_sql((_SQLITE if sqlite else _POSTGRES)[name])
    return missing


def assert_triggers(connection: sa.Connection) -> None:
    """Raise StoreError unless every trigger is there: the end of every migration."""
    missing = missing_triggers(connection)
    if missing:
        raise StoreError(
            f"the triggers {', '.join(missing)} are missing or altered, so this log is not append-only any more. "
            "Find out who removed them; `spectrace verify` tells whether events were changed."
        )
