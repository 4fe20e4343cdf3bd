"""An audit by window over 10 million events, of one tool and of all, beside the scan that it replaces.

    python -m tests.benchmarks.audit_scale [--events N] [--postgres URL]

Events are written by SQL (`tests.bulk`), the window is cut so that about 100 deeds lie in it. Printed are medians of
interleaved rounds and their ratio; the goal is one in a thousand for the questions that the ledger asks of the
database. The whole answer of `audit actions` (values made, episodes looked up) is measured beside them, for the tool
(`ledger`), for every tool in that window (`window`), in a day (`day`); with --whole also everything there is (`whole`,
once), with the memory that it took. A plan that reads a table in sequence ends the program.
"""

import argparse
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from spectrace.audit.answers import Filters
from spectrace.audit.queries import Reader
from spectrace.store import ledger, projections
from spectrace.store.sql import SqlEventStore, open_store
from tests import bulk

TOOL, DEEDS, ROUNDS = "tool7", 100, 5
_SCAN = (
    "SELECT count(*) FROM events WHERE type + 0 = 9 AND effect = 'write' AND at + 0 >= {low} AND at + 0 < {high} "
    "AND tool + 0 = (SELECT id FROM tools WHERE name = '{tool}')"
)
"""The same question without an index: what is computed of a column is not in one."""


def window(events: int) -> tuple[int, int]:
    """Return the time, from day 30 on, in which about DEEDS deeds of a tool lie."""
    episodes = events // bulk.EVENTS
    deeds_an_episode = 15 / 3 / bulk.TOOLS * 1.2
    begin = bulk.BEGIN_US + 30 * bulk.DAY_US
    return begin, begin + int(bulk.SPAN_US / episodes * DEEDS / deeds_an_episode)


def questions(between: tuple[int, int]) -> "list[sa.Select[Any]]":
    """Return what the ledger asks, the deeds first."""
    return [query(TOOL, between) for query in (ledger.sent, ledger.never_sent, ledger.writes)] + ledger.unfit(between)


def as_text(store: SqlEventStore, query: "sa.Select[Any]") -> str:
    """Return a query as its database gets it."""
    return str(query.compile(dialect=store.database.dialect, compile_kwargs={"literal_binds": True}))


def measured(store: SqlEventStore, between: tuple[int, int]) -> dict[str, tuple[float, int]]:
    """Return name -> (median seconds, rows)."""
    scan = _SCAN.format(low=between[0], high=between[1], tool=TOOL)

    asked = [as_text(store, query) for query in questions(between)]

    def all_questions(connection: sa.Connection) -> int:
        counts = [len(connection.exec_driver_sql(text).all()) for text in asked]
        return counts[0] + counts[1]

    reader, filters = Reader(store), Filters(tool=(TOOL,), sort="started_at")
    with store.database.reading() as connection:
        ways: dict[str, Callable[[], int]] = {
            "scan": lambda: int(connection.exec_driver_sql(scan).scalar_one()),
            "questions": lambda: all_questions(connection),
            "ledger": lambda: _count(reader, filters, between),
            "window": lambda: _count(reader, replace(filters, tool=()), between),
            "day": lambda: _count(reader, replace(filters, tool=()), (between[0], between[0] + bulk.DAY_US)),
        }
        times: dict[str, list[float]] = {name: [] for name in ways}
        rows = {name: way() for name, way in ways.items()}
        for _ in range(ROUNDS):
            for name, way in ways.items():
                begun = time.perf_counter()
                way()
                times[name].append(time.perf_counter() - begun)
    return {name: (statistics.median(times[name]), rows[name]) for name in ways}


def _count(reader: Reader, filters: Filters, between: ledger.Window | tuple[None, None]) -> int:
    return sum(1 for _ in reader.actions(filters, between=between))


def whole(store: SqlEventStore) -> None:
    """Print how long the ledger of everything takes, and the memory that Python used for it."""
    tracemalloc.start()
    begun = time.perf_counter()
    rows = _count(Reader(store), Filters(sort="started_at"), (None, None))
    seconds, (_, peak) = time.perf_counter() - begun, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(f"  {'whole':10} {seconds * 1e3:10.0f} ms  {rows:6,} rows  {peak / 1e6:.0f} MB at most (time with tracing)")


def require_plans(store: SqlEventStore, between: tuple[int, int]) -> None:
    """End the program where a question reads a table in sequence."""
    explain = "EXPLAIN QUERY PLAN " if store.database.sqlite else "EXPLAIN "
    with store.database.reading() as connection:
        for text in (as_text(store, query) for query in questions(between)):
            plan = "\n".join(str(row[-1]) for row in connection.exec_driver_sql(explain + text))
            if any(_in_sequence(line) for line in plan.splitlines()):
                sys.exit(f"read in sequence:\n{plan}")


def _in_sequence(line: str) -> bool:
    """Whether a line of a plan reads a table whole; `tools` holds a few names."""
    return ("Seq Scan" in line and " tools" not in line) or ("SCAN" in line and "INDEX" not in line)


def report(url: str, events: int, *, everything: bool) -> None:
    """Fill a log, ask, and print a line."""
    store = open_store(url)
    try:
        begun = time.perf_counter()
        with store.database.writing(durable=False) as connection:
            bulk.fill(connection, events // bulk.EVENTS, projections.VERSION)
        print(f"{store.database.dialect.name}: {events:,} events in {time.perf_counter() - begun:.0f} s")
        between = window(events)
        require_plans(store, between)
        found = measured(store, between)
        scan, _ = found["scan"]
        for name, (seconds, rows) in found.items():
            print(f"  {name:10} {seconds * 1e3:10.3f} ms  {rows:6,} rows  1/{scan / seconds:,.0f} of the scan")
        if everything:
            whole(store)
    finally:
        store.close()


def main() -> None:
    """Measure on a SQLite file, and on the Postgres that is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--postgres", metavar="URL", help="An empty database or schema.")
    parser.add_argument("--whole", action="store_true", help="Also ask for everything, once.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        report(str(Path(directory) / "log.db"), given.events, everything=given.whole)
    if given.postgres:
        report(given.postgres, given.events, everything=given.whole)


if __name__ == "__main__":
    main()
