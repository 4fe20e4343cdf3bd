"""What an erasure does not reach, so that it can be named: headers, names of runs, copies that were made earlier.

A header holds no free text, but a tool's name, a person's, an episode's id and a project's name stand there, in the
open, because the chain covers them.
"""

from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa

from spectrace.store import tables
from spectrace.store.database import Database
from spectrace.store.matching import Needle

_PLACES = (
    ("ids of episodes", tables.episodes.c.episode),
    ("the projects that episodes are filed under", tables.episodes.c.project),
    ("names of tools", tables.tools.c.name),
    ("authorities in headers", tables.events.c.authority),
    ("names of runs", tables.runs.c.name),
    ("settings of runs", tables.runs.c.settings),
    ("results of runs", tables.run_items.c.result),
    ("leaves of the tree that checkpoints sign", tables.leaves.c.data),
)

POSTGRES = (
    "the server's own write-ahead log, its archives, replicas, base backups and dumps, and old rows of pg_statistic, "
    "hold what was erased until they are recycled or deleted: that is the administrator's to do"
)
SQLITE = "bundles, exports and copies of the database that were made earlier hold what they held then"


def headers_with(database: Database, needle: Needle) -> list[str]:
    """Return where a text stands that no erasure takes away."""
    found = []
    with database.reading() as connection:
        for what, column in _PLACES:
            values = connection.scalars(sa.select(column).where(column.is_not(None)).distinct())
            if any(needle.in_text(_text(value)) for value in values):
                found.append(f"{what} say it: the chain covers them, or work goes on by them; they stay")
    return found


def _text(value: object) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


def kept_beside(database: Database) -> Iterator[str]:
    """Yield the copies that an erasure cannot reach: those that lie beside a SQLite file by name."""
    if not database.sqlite:
        yield POSTGRES
        return
    for path in sorted(_beside(database.path)):
        yield f"{path.name} lies beside the database and holds what it held then: delete it, or keep it knowingly"
    yield SQLITE


def _beside(path: Path) -> list[Path]:
    """Return backups, replaced files and what a restore or upgrade left."""
    prefix = f"{path.name}."
    return [
        one
        for one in path.parent.iterdir()
        if one.is_file() and one.name.startswith(prefix) and one.suffix in {".backup", ".replaced", ".partial", ".wal"}
    ]
