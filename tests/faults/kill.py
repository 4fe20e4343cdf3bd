"""A process that forks once for every job read from stdin; each child records the scene and is killed on the way.

    {"url": ..., "desk": FILE, "kind": "statement", "at": 17}

The faults are made from outside: by hooks into the drivers and around the store's writer, never by switches in the
product. `kind` says what is counted and `at` at which one the child gets SIGKILL: `event` (the n-th event is written),
`append` (before and after each append), `statement` (before and after each statement, BEGIN and COMMIT among them),
`step` (inside SQLite's execution of a statement), `effect` (around each write in the environment), `byte` (no file may
grow over `at` bytes: the kernel stops the process in the middle of that write). `at` 0 counts and kills nobody.
"""

import gc
import json
import os
import resource
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import psycopg

from spectrace.audit.recovery import interrupted, recover
from spectrace.store.sql import SqlEventStore, open_store
from tests.faults.scene import CountingDesk, play

STEP = 25
"""SQLite instructions between two `step` points."""


class Countdown:
    """Counts what happens, by kind; kills this process at the n-th of one kind."""

    def __init__(self, kind: str, at: int) -> None:
        self.kind, self.at = kind, at
        self.counts: dict[str, int] = {}

    def tick(self, kind: str) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if kind == self.kind and self.counts[kind] == self.at:
            os.kill(os.getpid(), signal.SIGKILL)


def hook_sqlite(countdown: Countdown) -> None:
    connect = sqlite3.connect

    def hooked(*args: object, **options: object) -> sqlite3.Connection:
        connection = connect(*args, **options)
        connection.set_trace_callback(lambda _: countdown.tick("statement"))

        def step() -> int:
            countdown.tick("step")
            return 0

        connection.set_progress_handler(step, STEP)
        return connection

    sqlite3.connect = hooked


def hook_postgres(countdown: Countdown) -> None:
    for cls, name in ((psycopg.Cursor, "execute"), (psycopg.Connection, "commit")):
        whole = getattr(cls, name)

        def hooked(self: object, *args: object, whole: object = whole, **options: object) -> object:
            countdown.tick("statement")
            result = whole(self, *args, **options)
            countdown.tick("statement")
            return result

        setattr(cls, name, hooked)


class Watched:
    """A store whose writers tell before and after each append."""

    def __init__(self, store: SqlEventStore, countdown: Countdown) -> None:
        self._store, self._countdown = store, countdown

    def create(self, *args: object) -> "WatchedWriter":
        return WatchedWriter(self._store.create(*args), self._countdown)


class WatchedWriter:
    def __init__(self, writer: object, countdown: Countdown) -> None:
        self._writer, self._countdown = writer, countdown

    def __getattr__(self, name: str) -> object:
        return getattr(self._writer, name)

    def append(self, events: object, *, durable: bool) -> None:
        self._countdown.tick("append")
        self._writer.append(events, durable=durable)
        self._countdown.tick("append")


def child(job: dict) -> dict[str, int]:
    countdown = Countdown(job["kind"], job["at"])
    if job["url"].startswith("sqlite"):
        hook_sqlite(countdown)
    else:
        hook_postgres(countdown)
    if job["kind"] == "byte" and job["at"]:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (job["at"], job["at"]))
    store = open_store(job["url"])
    if job.get("recover"):
        for episode in interrupted(store):
            recover(store, episode)
    else:
        countdown.counts.clear()  # opening is not what is recorded
        desk = CountingDesk(job["desk"], lambda _: countdown.tick("effect"))
        play(Watched(store, countdown), desk, watch=lambda *_: countdown.tick("event"))
        log = Path(job["url"].removeprefix("sqlite:///") + "-wal")
        if log.exists():
            countdown.counts["byte"] = log.stat().st_size
    store.close()
    return countdown.counts


def say(answer: dict) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def run(job: dict, child: Callable[[dict], dict[str, int]] = child) -> dict:
    """Fork a child for a job; return how it ended and, where it lived, what it counted."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        try:
            os.write(writing, json.dumps(child(job)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    say({"pid": pid})
    with os.fdopen(reading) as pipe:
        told = pipe.read()
    status = os.waitpid(pid, 0)[1]
    return {
        "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
        "counts": json.loads(told) if told else None,
    }


if __name__ == "__main__":
    gc.freeze()
    for line in sys.stdin:
        say(run(json.loads(line)))
