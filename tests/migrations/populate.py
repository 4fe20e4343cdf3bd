"""Make the populated databases of a revision: data/REVISION.{db.xz,sql.xz,json}. Run once, at its last commit.

    git worktree add ../old COMMIT && cd ../old
    PYTHONPATH=. python .../tests/migrations/populate.py .../tests/migrations/data POSTGRES_URL PG_DUMP

It runs with the spectrace and the test helpers of that commit, and its files are never made again: a migration is
tested against what was really written. Postgres holds the rows of the SQLite file, table by table.
"""

import getpass
import hashlib
import json
import lzma
import re
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import sqlalchemy as sa

socket.gethostname = lambda: "host.example"
getpass.getuser = lambda: "auditor"

from spectrace.core.baselines import WeakOnly  # noqa: E402 - the recording names no machine: see above
from spectrace.core.events import (  # noqa: E402
    ActFailed,
    ActionChecked,
    ActRequested,
    Body,
    EvaluateFailed,
    GenerateFailed,
    GenerateRequested,
    ResetFailed,
)
from spectrace.core.types import Message  # noqa: E402
from spectrace.store import admin, runs, sql, tables, transfer  # noqa: E402
from spectrace.store.conformance.contract import AWKWARD  # noqa: E402
from spectrace.store.memory import MemoryEventStore  # noqa: E402
from spectrace.store.process import Process  # noqa: E402
from spectrace.store.samples import EPOCH_US, pending, sample_episode  # noqa: E402
from spectrace.store.sql import open_store  # noqa: E402
from tests.episodes import CANCEL, DONE, FIND, READ  # noqa: E402
from tests.playbook import accept  # noqa: E402
from tests.shop_log import recorded, reverified  # noqa: E402
from tests.stored_episodes import blobs_of, chained, put, told_lines  # noqa: E402

STRAY = (ActFailed, EvaluateFailed, GenerateFailed, ResetFailed)
"""A sample has one of each type, whether or not it answers anything."""

_LEFT_OUT = ("--", "\\", "CREATE SCHEMA", "SET transaction_timeout")
"""Lines that only pg_dump's own client, or only the newest server, understands."""

for module in (admin, sql, transfer):
    module.this_process = lambda: Process("host.example", 4711, "boot/1")


def fill(store: sql.SqlEventStore) -> None:
    """Record runs of every kind that the log knows."""
    first = recorded(store)
    recorded(store, weak=[FIND, READ, CANCEL, DONE], protocol=WeakOnly())
    reverified(store, first, "second-opinion", [accept(), "no verdict at all", accept(), accept(), accept()])
    head = store.row(first).head.hex()
    runs.begin(store, "second-opinion", "reverify", [(first, head)], '{"verifier":"scripted"}')
    for seq in (9, 17):
        runs.record(
            store, "second-opinion", runs.Item(parent=first, verdict_seq=seq, episode=first, at=EPOCH_US, state="done")
        )
    hostile(store)
    interrupted(store)
    later(store)


def hostile(store: sql.SqlEventStore) -> None:
    """Write an ended episode with texts that databases and JSON like to lose, and with large blobs."""
    bodies = sound(3)
    checked = next(body for body in bodies if isinstance(body, ActionChecked))
    asked = next(body for body in bodies if isinstance(body, GenerateRequested))
    odd = [replace(asked, messages=(Message("tool", text, (), text),), position=text) for text in AWKWARD]
    large = [replace(asked, response_schema=text * 60_000) for text in ("a line\n", "\ud800 \0 é")]
    named = [replace(checked, tool=text) for text in AWKWARD]
    writer = store.create("hostile-1", bodies[0], EPOCH_US)
    events = [*bodies[1:-1], *odd, *large, *named, bodies[-1]]
    writer.append(pending(events, 1), durable=True)
    writer.close()


def sound(seed: int) -> list[Body]:
    """Return a sample episode whose every answer has its question."""
    bodies = sample_episode(seed, segments=3)
    checked = next(body for body in bodies if isinstance(body, ActionChecked))
    return [checked if isinstance(body, STRAY) else body for body in bodies]


def interrupted(store: sql.SqlEventStore) -> None:
    """Stop in a write whose outcome nobody knows; the writer never lets go."""
    bodies = sample_episode(4)
    stop = next(n for n, body in enumerate(bodies) if isinstance(body, ActRequested) and body.effect == "write")
    writer = store.create("interrupted-1", bodies[0], EPOCH_US)
    writer.append(pending(bodies[1 : stop + 1], 1), durable=True)


def later(store: sql.SqlEventStore) -> None:
    """Bring in an episode of a later spectrace: events of types that this one does not know, which come with 0003."""
    memory, bodies = MemoryEventStore(), sound(5)
    writer = memory.create("made", bodies[0], EPOCH_US)
    writer.append(pending(bodies[1:], 1), durable=True)
    events = told_lines(memory, "made")
    _, _, lane, _, _, at, *_ = events[9][0]
    events[-1:-1] = [(["", 0, lane, name, 1, at, *lifted], body) for name, lifted, body in LATER]
    lines = chained("later-1", events)
    put(store, lines, blobs_of(memory, lines))


LATER = (
    ("tool.approved", (None, "person:Ana", "granted", None), {"by": "Ana"}),
    ("plan.made", (None,) * 4, {"segment": 1, "request": 3, "plan": "find it"}),
    (
        "step.speculated",
        ("read", None, None, "find_order"),
        {
            "segment": 1,
            "index": 1,
            "position": "s1.g1",
            "action": {"kind": "call", "tool": "find_order", "arguments": "{}"},
            "request": 3,
            "launched": True,
        },
    ),
    (
        "progress.judged",
        (None, None, "stagnation", None),
        {"segment": 1, "who": "weak", "request": 3, "reason": None, "failures": 1},
    ),
)
"""(type, header fields, body): what a later version wrote."""


def told(store: sql.SqlEventStore, revision: str) -> dict[str, object]:
    """Return what the commit that wrote the database reads in it."""
    with store.database.reading() as connection:
        runs_only = sa.select(tables.episodes.c.episode).where(tables.episodes.c.number > 0)
        names = list(connection.scalars(runs_only.order_by(tables.episodes.c.episode)))
        rows = {
            t.name: connection.scalar(sa.select(sa.func.count()).select_from(t).where(*ours(t)))
            for t in tables.metadata.sorted_tables
        }
    return {
        "revision": revision,
        "rows": rows,
        "events": {name: [digest(event) for event in store.stored(name)] for name in names},
        "read": {
            name: hashlib.sha256(
                repr([event.body for event in store.read(name)]).encode("utf-8", "surrogatepass")
            ).hexdigest()
            for name in names
        },
    }


def ours(table: sa.Table) -> list[sa.ColumnElement[bool]]:
    """Leave out the administrative log: an upgrade writes to it, and each database has its own."""
    if table.name == "episodes":
        return [tables.episodes.c.number > 0]
    return [tables.events.c.key >= 1 << tables.SEQ_BITS] if table.name == "events" else []


def digest(event: object) -> str:
    """Return the digest of (header, body, salt, link)."""
    parts = (event.header, event.body or b"", event.salt or b"", event.link)
    return hashlib.sha256(b"".join(len(part).to_bytes(8, "big") + part for part in parts)).hexdigest()


def copied_to_postgres(path: Path, url: str, schema: str) -> None:
    """Make the log in a schema of its own and give it the rows of the SQLite file."""
    engine = sa.create_engine(sa.make_url(url).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
    engine.dispose()
    theirs = sa.make_url(url).set(drivername="postgresql").update_query_dict({"options": f"-csearch_path={schema}"})
    store = open_store(theirs.render_as_string(hide_password=False))
    source = sa.create_engine(f"sqlite:///{path}")
    with source.connect() as reading, store.database.writing(durable=True) as connection:
        for table in tables.metadata.sorted_tables:
            connection.execute(table.delete()) if table.name in {"types", "dictionaries"} else None
            rows = [dict(row) for row in reading.execute(table.select().where(*ours(table))).mappings()]
            if rows and table.name != "epochs":
                connection.execute(table.insert(), rows)
        for table, column in (("episodes", "number"), ("tools", "id"), ("runs", "id"), ("run_items", "id")):
            query = f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), max({column})) FROM {table}"  # noqa: S608
            connection.exec_driver_sql(query)
    store.close()


def dumped(url: str, pg_dump: str, schema: str) -> bytes:
    """Return the schema as SQL that one `execute` runs, its name left open as {schema}."""
    options = ["--no-owner", "--no-privileges", "--no-comments", "--rows-per-insert=200", f"--schema={schema}"]
    done = subprocess.run([pg_dump, *options, url], check=True, capture_output=True)
    lines = [line for line in done.stdout.decode().split("\n") if not line.startswith(_LEFT_OUT)]
    return re.sub(rf"\b{schema}\b", "{schema}", "\n".join(lines)).encode()


def main(directory: Path, url: str, pg_dump: str) -> None:
    """Write the three files."""
    with TemporaryDirectory() as temporary:
        path = Path(temporary) / "log.db"
        store = open_store(str(path))
        fill(store)
        with store.database.reading() as connection:
            revision = str(connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar_one())
        (directory / f"{revision}.json").write_text(json.dumps(told(store, revision), indent=1) + "\n")
        store.close()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("VACUUM")
        (directory / f"{revision}.db.xz").write_bytes(lzma.compress(path.read_bytes(), preset=9))
        copied_to_postgres(path, url, f"log{revision}")
        (directory / f"{revision}.sql.xz").write_bytes(lzma.compress(dumped(url, pg_dump, f"log{revision}"), preset=9))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
