"""Roles of a real Postgres server, for tests of what they may do: made, granted, and gone again."""

import itertools
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager

import sqlalchemy as sa

from spectrace.store.grants import Grant, Job, apply, statements
from spectrace.store.sql import open_store

_NUMBERS = itertools.count(1)


class Roles:
    """Roles that exist as long as this does."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.made: list[str] = []
        self._engine = sa.create_engine(
            sa.make_url(url).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT", poolclass=sa.NullPool
        )

    def run(self, text: str) -> None:
        """Run a statement as the log's owner."""
        with self._engine.connect() as connection:
            connection.exec_driver_sql(text)

    def make(self, options: str = "") -> str:
        """Make a role that may log in and nothing else; return its name."""
        name = f"r{os.getpid()}_{next(_NUMBERS)}"
        self.run(f"CREATE ROLE {name} LOGIN {options}")
        self.made.append(name)
        return name

    def granted(self, job: Job, *, project: str | None = None) -> str:
        """Make a role and grant it a job; return the log's URL for it."""
        name = self.make()
        grant(self.url, name, job, project=project)
        return self.of(name)

    def of(self, name: str) -> str:
        """Return the log's URL for a role."""
        return sa.make_url(self.url).set(username=name, password=None).render_as_string(hide_password=False)

    def close(self) -> None:
        for name in self.made:
            self.run(f"DROP OWNED BY {name}")
            self.run(f"DROP ROLE {name}")
        self._engine.dispose()


def grant(url: str, name: str, job: Job, *, project: str | None = None, revoke: bool = False) -> None:
    """Grant a role a job, as the owner."""
    with closing(open_store(url)) as store:
        apply(store.database, statements(store.database, [Grant(name, job)], project=project, revoke=revoke))


@contextmanager
def roles_of(url: str) -> Iterator[Roles]:
    """Lend roles of the server at a URL; a log is made there."""
    open_store(url).close()
    roles = Roles(url)
    try:
        yield roles
    finally:
        roles.close()


@contextmanager
def connected(url: str) -> Iterator[sa.Connection]:
    """Lend a connection that writes at once, as whoever the URL names."""
    engine = sa.create_engine(
        sa.make_url(url).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT", poolclass=sa.NullPool
    )
    with engine.connect() as connection:
        yield connection


def refusal(connection: sa.Connection, text: str) -> str | None:
    """Return what Postgres says against a statement; None where it runs it."""
    try:
        connection.exec_driver_sql(text.replace("%", "%%"))
    except sa.exc.DBAPIError as error:
        return str(error.orig)
    return None
