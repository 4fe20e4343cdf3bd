"""Reading back: loading one episode, and checking many, beside ../shared/bench's m3a_load."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from spectrace.audit.integrity import CONSISTENT
from spectrace.audit.verifying import verify_all
from spectrace.core.events import Event
from spectrace.store.log import Parsed
from spectrace.store.rows import Row
from spectrace.store.sql import SqlEventStore, open_store
from tests.benchmarks.ours import clock
from tests.benchmarks.rounds import Run

LOADS = 60
REPEATS = 50
"""How often the log is checked to compare processes: some 900,000 events, as many as m3a_load has."""


def load(read: Callable[[], object]) -> Run:
    """Load an episode so many times; `n` counts loads."""

    def run() -> dict[str, object]:
        latencies = []
        for _ in range(LOADS):
            begun = clock()
            read()
            latencies.append(clock() - begun)
        return {"n": LOADS, "t": sum(latencies), "lat": latencies}

    return run


def parsed(store: SqlEventStore, episode: str) -> list[Parsed]:
    """Return an episode's events with their bodies as JSON, long texts and messages by reference."""
    return list(store.log.parsed(episode))


def whole(store: SqlEventStore, episode: str) -> list[tuple[Row, object]]:
    """Return an episode's events with their bodies as JSON, every text and every call's whole prompt in its place."""
    return list(store.log.whole(episode))


def typed(store: SqlEventStore, episode: str) -> list[Event]:
    """Return an episode's events as objects with every text; prompts left out, as fold and the audit read them."""
    return list(store.read(episode, prompts=False))


def full(store: SqlEventStore, episode: str) -> list[Event]:
    """Return an episode's events as objects with every text, and every call's whole prompt."""
    return list(store.read(episode))


def verify(database: Path, episodes: Sequence[str], jobs: int = 1) -> Run:
    """Check episodes as `spectrace verify --jobs` does, opening and starting included; `n` counts spectrace's events.

    An episode that is named twice is checked twice, as a longer log would be: only its texts are known by then.
    """

    def run() -> dict[str, object]:
        begun = clock()
        store = open_store(str(database), read_only=True)
        try:
            results = list(verify_all(store, episodes, jobs))
        finally:
            store.close()
        seconds = clock() - begun
        bad = [one for one in results if one.result != CONSISTENT]
        if bad:
            raise ValueError(bad[0])
        return {"n": sum(one.events for one in results), "t": seconds}

    return run


def chain_floor(database: Path, episodes: Sequence[str]) -> Run:
    """Compute the same digests over the same bytes, which lie in memory already: what no verifier can beat."""
    store = open_store(str(database), read_only=True)
    held = [[(one.header, (one.salt or b"") + (one.body or b"")) for one in store.stored(each)] for each in episodes]
    store.close()
    sha = hashlib.sha256

    def run() -> dict[str, object]:
        begun = clock()
        for events in held:
            link = b""
            for header, salted in events:
                link = sha(link + sha(header).digest() + sha(salted).digest()).digest()
        return {"n": sum(map(len, held)), "t": clock() - begun}

    return run
