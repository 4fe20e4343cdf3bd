"""Reading back: loading one episode, and checking many, beside ../shared/bench's m3a_load."""

import hashlib
import multiprocessing
from collections.abc import Callable, Sequence
from pathlib import Path

from spectrace.audit.integrity import CONSISTENT, Verifier
from spectrace.core.events import Event
from spectrace.store.log import Parsed
from spectrace.store.rows import Row
from spectrace.store.sql import SqlEventStore, open_store
from tests.benchmarks.ours import clock
from tests.benchmarks.rounds import Run

LOADS = 60


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


def verify(database: Path, episodes: Sequence[str]) -> Run:
    """Check episodes in this process; `n` counts spectrace's events."""

    def run() -> dict[str, object]:
        begun = clock()
        events = verified(database, episodes)
        return {"n": events, "t": clock() - begun}

    return run


def verify_with(processes: int, database: Path, episodes: Sequence[str]) -> Run:
    """Check episodes in so many processes, which are there already."""

    def run() -> dict[str, object]:
        parts = [(database, episodes[first::processes]) for first in range(processes)]
        with multiprocessing.get_context("spawn").Pool(processes) as pool:
            pool.starmap(verified, [(database, part[:2]) for _, part in parts])
            begun = clock()
            events = sum(pool.starmap(verified, parts, chunksize=1))
            seconds = clock() - begun
        return {"n": events, "t": seconds}

    return run


def verified(database: Path, episodes: Sequence[str]) -> int:
    """Check episodes; return how many events they have, all of which must be well."""
    store = open_store(str(database), read_only=True)
    try:
        verifier = Verifier(store)
        results = [verifier.verify(episode) for episode in episodes]
    finally:
        store.close()
    bad = [one for one in results if one.result != CONSISTENT]
    if bad:
        raise ValueError(bad[0])
    return sum(one.events for one in results)


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
