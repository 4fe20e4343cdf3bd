"""The contract of the EventStore port, over every implementation: the checks that `spectrace conformance` runs too."""

from collections.abc import Callable, Iterator

import pytest

from spectrace.store.conformance import CHECKS, NotApplicable
from spectrace.store.event_store import EventStore
from spectrace.store.memory import MemoryEventStore
from spectrace.store.sql import open_store
from tests.conftest import empty_schema


@pytest.fixture(scope="module", params=["memory", "sqlite", "postgres"])
def open_log(request, tmp_path_factory) -> Iterator[Callable[[], EventStore]]:
    """A function that opens one log for all checks: each writes episodes of its own, as in a database that is tried."""
    match request.param:
        case "memory":
            memory = MemoryEventStore()
            yield lambda: memory
        case "sqlite":
            path = str(tmp_path_factory.mktemp("checks") / "log.db")
            yield lambda: open_store(path)
        case _:
            with empty_schema(request.getfixturevalue("postgres")) as url:
                yield lambda: open_store(url)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: f"{check.id} {check.claim}")
def test_every_store_keeps_the_contract(check, open_log):
    opened: list[EventStore] = []

    def open_again() -> EventStore:
        opened.append(open_log())
        return opened[-1]

    try:
        check(open_again)
    except NotApplicable:  # no database may say so
        assert isinstance(open_log(), MemoryEventStore)
    finally:
        for store in opened:
            store.close()
