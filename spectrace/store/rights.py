"""What each job of `grants` may do to each table, and the policies of a role that sees one project only.

Every table is named here, so that a new one is a decision (a test compares). Beside SELECT, which every job has:
columns for UPDATE, never a table. A project's texts: a blob belongs to no project, and which events name it is told by
packed bodies alone, so such a role may not select from `blobs` at all. It asks a function for the texts whose digests
it gives. To have a digest it must have read an event that names it, or know the text already: it can find out that a
text which it knows is recorded somewhere, and nothing else.

What stays visible whatever the project: names of tools and types, runs (with the ids that they selected and their
settings), administrative logs, the tree's leaves (ids, projects, times, counts) and checkpoints.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from spectrace.store import tables
from spectrace.store.queue_schema import quoted


@dataclass(frozen=True, slots=True)
class Allowed:
    """What may be done to the rows of a table, beside reading them."""

    insert: bool = False
    update: tuple[str, ...] = ()
    delete: bool = False

    def text(self) -> str:
        """As a GRANT says it."""
        columns = ", ".join(map(quoted, self.update))
        said = ["INSERT"] * self.insert + [f"UPDATE ({columns})"] * bool(columns) + ["DELETE"] * self.delete
        return ", ".join(said)


def _columns(table: str) -> tuple[str, ...]:
    return tuple(one.name for one in tables.metadata.tables[table].columns if not one.primary_key)


TABLES = (*tables.metadata.tables, "alembic_version")
_MADE_ANEW = {name: Allowed(insert=True, delete=True) for name in ("segments", "actions", "search")}

RECORDER: Mapping[str, Allowed] = MappingProxyType(
    {
        "episodes": Allowed(
            insert=True,
            update=(
                *("events", "head", "ended_at"),
                *("writer_host", "writer_pid", "writer_started", "lease_until"),
            ),
        ),
        "tools": Allowed(insert=True),
        "events": Allowed(insert=True),
        "blobs": Allowed(insert=True),
        "runs": Allowed(insert=True, update=("settings", "cancelled_at")),
        "run_items": Allowed(insert=True),
        "summaries": Allowed(insert=True, update=_columns("summaries")),
        **_MADE_ANEW,
    }
)
"""No erasures: a row without a body has its proof from an eraser only. No leaves: what a checkpoint signs is not said
by those whom it is to hold. No epochs, types, dictionaries: copies and imports of what they need are the owner's."""

ERASER: Mapping[str, Allowed] = MappingProxyType(
    {
        "episodes": Allowed(update=("events", "head", "lease_until")),
        "events": Allowed(insert=True, update=("payload", "salt")),
        "blobs": Allowed(insert=True, delete=True),
        "erasures": Allowed(insert=True, update=("proof",)),
        "summaries": Allowed(insert=True, update=_columns("summaries"), delete=True),
        **_MADE_ANEW,
    }
)
"""Of events only body and salt, which their trigger lets nobody set to anything but NULL; its own are records."""

NUMBERED = ("episodes", "tools", "runs", "run_items")
"""Tables in which a recorder's rows get their number from a sequence."""
CLEANED = ("episodes", "events", "blobs", "summaries", "segments", "actions", "search")
"""Tables that an eraser locks, or writes anew."""

EVERYBODY = "spectrace_everybody"
POLICIES = ("project", "records")
SHOWN = "project "
"""What a policy's comment begins with; the name of the project, which may be empty, follows."""
_SHIFT = tables.SEQ_BITS
_OF_EPISODE: Mapping[str, str] = MappingProxyType(
    {
        "events": f"e.number = events.key >> {_SHIFT}",
        "erasures": f"e.number = erasures.key >> {_SHIFT}",
        **{name: f"e.number = {name}.number" for name in ("summaries", "segments", "actions", "search")},
        "run_items": "e.episode = run_items.parent",
    }
)
"""Which episode a row belongs to."""
ROWS = ("episodes", *_OF_EPISODE)
"""Tables whose rows a policy may hide."""


def policy(role: str, kind: str) -> str:
    """Return a policy's name, one for each role: names have 63 bytes, roles too."""
    return f"spectrace_{kind}_{hashlib.sha256(role.encode()).hexdigest()[:16]}"


def restricted(schema: str, role: str, project: str) -> Iterator[str]:
    """Yield the policies of a role that sees and writes one project only, and administrative logs.

    Restrictive ones: others' rights are as before, and a second policy can only take more away.
    """
    name, to, at = policy(role, "project"), quoted(role), quoted(schema)
    rule = f"project = {literal(project)} OR number <= 0"
    yield f"CREATE POLICY {name} ON {at}.episodes AS RESTRICTIVE TO {to} USING ({rule}) WITH CHECK ({rule})"
    # So that whoever reads can be told which project the role sees; Postgres takes an empty comment for none.
    yield f"COMMENT ON POLICY {name} ON {at}.episodes IS {literal(SHOWN + project)}"
    for table, same in _OF_EPISODE.items():
        seen = f"EXISTS (SELECT FROM {at}.episodes AS e WHERE {same})"
        yield f"CREATE POLICY {name} ON {at}.{table} AS RESTRICTIVE TO {to} USING ({seen}) WITH CHECK ({seen})"


def records_only(schema: str, role: str) -> str:
    """Return the policy of an eraser, whose events are those of administrative logs."""
    return (
        f"CREATE POLICY {policy(role, 'records')} ON {quoted(schema)}.events AS RESTRICTIVE FOR INSERT "
        f"TO {quoted(role)} WITH CHECK (key < {1 << _SHIFT})"
    )


def function_of(schema: str) -> str:
    """Return the name of the function that gives texts by their digests, as a GRANT says it."""
    return f"{quoted(schema)}.spectrace_blobs(bytea[])"


def text_function(schema: str) -> str:
    """Return what makes the function; it runs as its owner, and names nothing that a caller could put in its way."""
    at = quoted(schema)
    query = f"SELECT b.* FROM {at}.blobs AS b WHERE b.digest = ANY (wanted)"  # noqa: S608 - quoted
    return (
        f"CREATE OR REPLACE FUNCTION {at}.spectrace_blobs(wanted bytea[]) RETURNS SETOF {at}.blobs LANGUAGE sql STABLE "
        f"SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS {literal(query)}"
    )


def literal(text: str) -> str:
    """Return a text as SQL says it, printable and whole whatever is in it, however the server reads backslashes."""
    escaped = "".join(map(_escaped, text))
    return f"E'{escaped}'" if "\\" in escaped else f"'{escaped}'"


def _escaped(character: str) -> str:
    if character in "\\'":
        return character * 2
    return character if character.isprintable() else f"\\U{ord(character):08x}"
