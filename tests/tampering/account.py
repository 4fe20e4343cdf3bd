"""What a database says, read with SQL and nothing of what verifies: the matrix's own account, before and after.

Two accounts differ exactly where somebody tampered with evidence: in an event of an episode, in another row of it, or
in what belongs to the database as a whole. `verify` has to name the same.
"""

# ruff: noqa: S608 - names come from the schema, values are bound

import hashlib
from collections import defaultdict

import sqlalchemy as sa

from spectrace.core.digest import text_digest
from spectrace.core.events import TYPE_NUMBERS
from spectrace.errors import StoreError
from spectrace.store.blobs import references
from spectrace.store.compression import unpack
from spectrace.store.decoding import parse
from spectrace.store.names import is_episode_id
from tests.tampering.operations import SEQ_BITS, Shape, shapes

DATABASE = "(database)"
EVENT = "event"
SEQ_MASK = (1 << SEQ_BITS) - 1

NOT_EVIDENCE = {
    "alembic_version.version_num": "which revision the file is of: another one is refused before anything is read",
    "checkpoints.id": "a copy of each note is kept for convenience; what counts is the file outside the database",
    "checkpoints.at": "the same",
    "checkpoints.body": "the same",
    "episodes.writer_host": "who holds an episode that is being written; nothing recorded says it",
    "episodes.writer_pid": "the same",
    "episodes.writer_started": "the same",
    "episodes.lease_until": "until when its writer holds it",
    "episodes.db_user": "on Postgres a trigger writes it; `episode.started` says who started it",
    **{
        f"{table}.{column}": "what a run still has to do; every verdict that counts is an event of its own episode"
        for table, columns in {
            "runs": ("id", "name", "kind", "created_at", "cancelled_at", "settings"),
            "run_items": ("id", "run", "parent", "verdict_seq", "repeat", "episode", "at", "state", "result"),
        }.items()
        for column in columns
    },
}

UNREADABLE = b"cannot be unpacked"
_KNOWN = {cls.TYPE for cls in TYPE_NUMBERS}
BELONGS_TO_ALL = {"epochs", "summaries.projection"}
"""What is named as the database's, though it has an episode."""

Account = dict[tuple[str, str, int], object]
"""(episode or `(database)`, table, seq or 0) -> what stands there."""


def account(connection: sa.Connection) -> Account:
    """Return everything that is evidence."""
    found: Account = {}
    rows = {shape.name: _rows(connection, shape) for shape in shapes(connection)}
    names = {row["number"]: str(row["episode"]) for row in rows["episodes"]}
    types = {row["number"]: row["name"] for row in rows["types"]}
    tools = {row["id"]: row["name"] for row in rows["tools"]}
    blobs = {_hex(row["digest"]): _text(row) for row in rows["blobs"]}
    used: set[str] = set()
    for row in rows.pop("events"):
        number, seq = row["key"] >> SEQ_BITS, row["key"] & SEQ_MASK
        body = None if row["payload"] is None else _text({"codec": row["codec"], "bytes": row["payload"]})
        texts = [hashlib.sha256(blobs.get(name, b"missing")).hexdigest() for name in _names(body)]
        told = [row[name] for name in ("lane", "version", "at", "effect", "authority", "outcome", "salt", "link")]
        place = names.get(number, f"number {number}")
        found[(place, EVENT, seq)] = (types.get(row["type"]), tools.get(row["tool"], row["tool"]), body, texts, *told)
        used |= set(_names(body))
    per_version: list[object] = []
    in_order: list[object] = []
    for table, its in rows.items():
        per: dict[str, list[object]] = defaultdict(list)
        for row in its:
            said = {name: value for name, value in row.items() if f"{table}.{name}" not in NOT_EVIDENCE}
            if table == "tools" or (table == "types" and row["name"] not in _KNOWN):
                continue  # told by the events that have them; what none has tells nothing
            if table == "summaries":  # of another version it is not compared: the database is said to need a rebuild
                per_version.append((row["number"], said.pop("projection")))
            if table == "leaves":
                in_order.append((said.pop("place"), row["episode"], row["data"]))
            if table == "episodes" and row["number"] <= 0:
                said.pop(
                    "started_at"
                )  # of an administrative log its first event says it; the row may be a moment older
            if table == "runs":
                said = {"kept": text_digest(str(row["selection"])) == row["selection_digest"]}
            if table == "blobs":  # the text is told by the events
                misfit = _hex(row["digest"]) in used and len(_text(row)) != row["length"] and _text(row) != UNREADABLE
                said = {"misfit": row["length"]} if misfit else {}
            if said and said != {"kept": True}:
                per[_place(row, table, names)].append(said)
        for place, all_ in per.items():
            found[(place, table, 0)] = sorted(map(repr, all_)) if table != "leaves" else all_
    found[(DATABASE, "summaries.projection", 0)] = per_version
    found[(DATABASE, "leaves", 0)] = in_order
    return found


def changed(before: Account, after: Account) -> dict[str, dict[str, int]]:
    """Return of each place which tables differ, and the first event or row that does."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for place, table, seq in sorted(before.keys() | after.keys(), key=lambda key: (str(key[0]), *key[1:])):
        if before.get((place, table, seq)) != after.get((place, table, seq)):
            found[place].setdefault(table, seq)
    return dict(found)


def to_be_named(changes: dict[str, dict[str, int]], after: Account) -> dict[str, int | None]:
    """Return what `verify` has to name, and of an episode that is still there the first event that differs."""
    named: dict[str, int | None] = {}
    for place, which in changes.items():
        if place == DATABASE and which.keys() == {"leaves"} and len(changes) > 1:
            continue  # an episode's own leaf is another: that the others moved up need not be said
        if place.startswith("number ") or which.keys() <= BELONGS_TO_ALL:
            named[DATABASE] = None
        else:
            gone = (place, "episodes", 0) not in after or not is_episode_id(place)
            named[place] = None if place == DATABASE or gone else which.get(EVENT)
    return named


def _rows(connection: sa.Connection, shape: Shape) -> list[dict[str, object]]:
    order = ", ".join(f'"{name}"' for name in shape.key) or "1"
    return [
        dict(row) for row in connection.exec_driver_sql(f'SELECT * FROM "{shape.name}" ORDER BY {order}').mappings()
    ]


def _place(row: dict[str, object], table: str, names: dict[int, str]) -> str:
    if table in {"types", "tools", "blobs", "dictionaries", "runs", "run_items"}:
        return DATABASE
    if "episode" in row:
        return str(row["episode"])
    number = row["number"] if "number" in row else row["key"] >> SEQ_BITS if "key" in row else None
    return DATABASE if number is None else names.get(number, f"number {number}")


def _hex(digest: object) -> str:
    return bytes(digest).hex() if isinstance(digest, bytes | memoryview) else ""


def _text(row: dict[str, object]) -> bytes:
    try:
        return unpack(row["codec"], bytes(row["bytes"]))
    except (StoreError, TypeError, ValueError):
        return UNREADABLE


def _names(body: bytes | None) -> list[str]:
    try:
        return [name.removeprefix("sha256:") for name in references(parse(body or b"null"))]
    except (StoreError, ValueError):
        return []
