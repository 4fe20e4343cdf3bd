"""Postgres: a connection on which each statement is a transaction, for the one statement that an append is.

It is the driver's own connection, taken from SQLAlchemy's pool: of an append's time on the client, SQLAlchemy would
take a third (it describes the rows that come back anew each time). Parameters are written $1, $2, ...: with psycopg's
usual ones a statement of more than 50 is parsed again at every execution.
"""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from spectrace.errors import StoreError
from spectrace.store.address import LOST, explain

Rows = list[tuple[Any, ...]]


class Autocommit:
    """One connection, opened when it is first used and again after it was lost."""

    def __init__(self, engine: sa.Engine) -> None:
        """Take connections of `engine`, whose isolation is AUTOCOMMIT."""
        self._engine = engine
        self._pooled: sa.Connection | None = None
        self._flushing: bool | None = None

    def run(self, text: str, values: Sequence[object], *, durable: bool) -> Rows:
        """Run one statement, flushed if `durable`, and return its rows.

        Raises psycopg.IntegrityError for a row that the database refuses, StoreError for everything else.
        """
        import psycopg  # noqa: PLC0415 - an extra; who comes here has a Postgres URL

        try:
            connection = self._connection()
            if self._flushing is not durable:
                connection.execute(f"SET synchronous_commit = {'on' if durable else 'off'}")
                self._flushing = durable
            return psycopg.RawCursor(connection).execute(text, values).fetchall()
        except psycopg.IntegrityError:
            raise
        except psycopg.Error as error:
            lost = LOST if self._is_lost() else ""
            raise StoreError(explain(self._engine.url, f"{lost}{error}")) from error
        finally:
            if self._is_lost():
                self.close()

    def close(self) -> None:
        """Give the connection back."""
        lost = self._is_lost()
        pooled, self._pooled, self._flushing = self._pooled, None, None
        if pooled is not None:
            if lost:
                pooled.invalidate()
            pooled.close()

    def _connection(self) -> Any:
        if self._pooled is None:
            from psycopg.types.numeric import Int8Dumper  # noqa: PLC0415 - as above

            self._pooled = self._engine.connect()
            # Numbers of any size are sent alike: each mixture of sizes would be a statement of its own to prepare.
            self._driver(self._pooled).adapters.register_dumper(int, Int8Dumper)
        return self._driver(self._pooled)

    def _is_lost(self) -> bool:
        return self._pooled is not None and bool(self._driver(self._pooled).closed)

    @staticmethod
    def _driver(pooled: sa.Connection) -> Any:
        return pooled.connection.driver_connection
