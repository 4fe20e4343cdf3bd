"""The port has no behaviour of its own: tests/contract runs the conformance checks over every implementation."""

from typing import get_type_hints

from spectrace.store.event_store import EpisodeWriter, EventStore
from spectrace.store.memory import MemoryEventStore, MemoryWriter
from spectrace.store.sql import SqlEventStore, SqlWriter

PORTS = [(EventStore, (MemoryEventStore, SqlEventStore)), (EpisodeWriter, (MemoryWriter, SqlWriter))]


def test_every_store_takes_what_the_port_says():
    for port, stores in PORTS:
        names = [name for name in vars(port) if not name.startswith("_")]
        for store in stores:
            for name in names:
                asked, given = (get_type_hints(getattr(cls, name)) for cls in (port, store))
                del asked["return"], given["return"]

                assert given == asked, f"{store.__name__}.{name}"
