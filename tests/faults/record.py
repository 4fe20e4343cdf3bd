"""A process that writes one episode of so many events, and says on stdout how that went.

    {"url": ..., "episode": "e1", "events": 500, "each": 1, "size": 40, "wal": true}

It says `ready`, and waits for a line on stdin before its first append, so that several begin together.
"""

import json
import random
import sqlite3
import sys
import time
import warnings
from collections.abc import Iterator

from spectrace.core.events import ActCompleted, ActRequested, Body, EpisodeEnded, EpisodeStarted
from spectrace.core.types import Call, Observation
from spectrace.store import sqlite_files
from spectrace.store.event_store import Pending
from spectrace.store.samples import sample_episode
from spectrace.store.sql import open_store


def started() -> EpisodeStarted:
    first = sample_episode(1)[0]
    assert isinstance(first, EpisodeStarted)
    return first


def bodies(events: int, size: int) -> Iterator[Body]:
    """Yield what follows event 0 in an episode of `events`: writes and their outcomes of `size` bytes, and the end."""
    text = random.Random(events)  # noqa: S311 - what does not compress
    for seq in range(1, events - 1):
        position = f"s1.{(seq + 1) // 2}"
        if seq % 2:
            yield ActRequested(
                effect="write",
                authority="actor",
                tool="look",
                position=position,
                action=Call("look", json.dumps({"n": seq})),
                requestor="agent",
                idempotency_key=f"key:{position}",
            )
        else:
            yield ActCompleted(
                effect="write",
                authority="actor",
                outcome="ok",
                tool="look",
                request=seq - 1,
                position=position,
                observation=Observation(text.randbytes(size // 2).hex()),
                fingerprint_before=None,
                fingerprint_after=None,
                latency_us=5,
                source="live",
            )
    yield EpisodeEnded(outcome="completed", reason="done", answer=None, reward=None)


def pending(events: int, size: int) -> list[Pending]:
    return [Pending(seq, "", now(), body) for seq, body in enumerate(bodies(events, size), 1)]


def now() -> int:
    return time.time_ns() // 1000


class WithoutWal(sqlite_files.Connection):
    """A connection to where write-ahead logging is refused, as on network shares; locks are the usual ones."""

    def execute(self, sql: str, *parameters: object) -> sqlite3.Cursor:
        return super().execute(sql.replace("journal_mode = WAL", "journal_mode = DELETE"), *parameters)


def refuse_wal() -> None:
    sqlite_files.Connection = WithoutWal
    warnings.simplefilter("ignore", RuntimeWarning)


def main(job: dict) -> dict[str, object]:
    if not job["wal"]:
        refuse_wal()
    store = open_store(job["url"])
    writer = store.create(job["episode"], started(), now())
    events = pending(job["events"], job["size"])
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    longest, began = 0.0, time.monotonic()
    for first in range(0, len(events), job["each"]):
        asked = time.monotonic()
        writer.append(events[first : first + job["each"]], durable=first % 8 == 0)
        longest = max(longest, time.monotonic() - asked)
    writer.close()
    store.close()
    return {"seconds": time.monotonic() - began, "longest": longest}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(json.loads(sys.argv[1]))) + "\n")
