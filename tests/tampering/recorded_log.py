"""The shop's recorded log that is tampered with: episodes of several kinds, a run, a judged pass.

Recorded through the driver like any other, once a test session (all workers of pytest-xdist share the file).
"""

import asyncio
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
import sqlalchemy as sa
from filelock import FileLock

from spectrace.audit.checkpoints import Created, create
from spectrace.audit.signing import Signer
from spectrace.runs.live import Labels
from spectrace.store import admin, runs
from spectrace.store.arbiter import Item
from spectrace.store.copying import copy_log
from spectrace.store.erasing import Order, erase
from spectrace.store.erasing_plan import Named
from spectrace.store.sql import SqlEventStore, open_store
from tests.episodes import CANCEL, DONE, FIND, READ, call, record_shop
from tests.playbook import accept, reject
from tests.shop_log import reverified
from tests.tampering.trust import Trusted

EPISODES = 1000
ERASED = 16
"""The third to the sixteenth have events that were erased."""
OWNER = Signer("desk.example/log", b"o" * 32)
RUN, PASS = "nightly", "second opinion"

SHAPES = (
    {},
    {"weak": [READ, DONE], "strong": [accept()]},
    {"weak": [FIND, READ, CANCEL, DONE], "strong": [accept(), accept()], "task": "cancel-foreign"},
    {"weak": [CANCEL, READ, DONE], "strong": [reject(1, FIND, reason="who is it?"), accept()]},
)
"""What the scripted models do: each shape is recorded over and over."""
RARE = {"weak": ["hm", call("list_orders", customer_id="C1"), DONE], "strong": [accept()]}
"""A tool and an event type (`reply.unusable`) that one episode alone has."""


def record_log(store: SqlEventStore, episodes: int) -> list[str]:
    """Record so many episodes, the last of them judged once more."""
    made = [
        asyncio.run(record_shop(store, **SHAPES[n % len(SHAPES)], labels=Labels(project="desk", run=RUN))).episode
        for n in range(episodes - 2)
    ]
    made.append(asyncio.run(record_shop(store, **RARE, labels=Labels(project="attic"))).episode)
    pairs = [(episode, store.row(episode).head.hex()) for episode in made]
    runs.begin(store, RUN, "run", pairs)
    for episode in made[:3]:
        runs.record(
            store, RUN, Item(parent=episode, episode=episode, at=store.now(), state="done", result='{"reward":"1"}')
        )
    before = set(made)
    reverified(store, made[0], PASS, [accept()] * 3)
    made += [one for one in _every(store) if one not in before]
    return made


def _every(store: SqlEventStore) -> list[str]:
    with store.database.reading() as connection:
        found = connection.exec_driver_sql("SELECT episode FROM episodes WHERE number > 0 ORDER BY number")
        return list(found.scalars())


@dataclass(frozen=True)
class Kept:
    """A log, and what is kept of it elsewhere."""

    url: str
    trusted: Trusted | None

    def engine(self) -> sa.Engine:
        url = sa.make_url(self.url)
        driver = url.set(drivername="postgresql+psycopg") if url.drivername.startswith("postgresql") else url
        return sa.create_engine(driver, poolclass=sa.NullPool)

    def copy(self, path: Path) -> "Kept":
        """Copy the SQLite file."""
        shutil.copy(self.url.removeprefix("sqlite:///"), path)
        return Kept(f"sqlite:///{path}", self.trusted)

    def copied_to(self, url: str, note: Path) -> "Kept":
        """Copy the log into another database, which has a checkpoint of its own."""
        source, target = open_store(self.url, read_only=True), open_store(url)
        copy_log(source, target)
        trusted = signed(target, note)
        source.close()
        target.close()
        return Kept(url, trusted)


def kept(factory: pytest.TempPathFactory, episodes: int) -> Kept:
    """Return a log of so many episodes, recorded by whichever worker asks first."""
    base = factory.getbasetemp()
    directory = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / f"log-{episodes}"
    with FileLock(base.parent / f"log-{episodes}.lock"):
        if not directory.exists():
            building = directory.with_suffix(".part")
            building.mkdir()
            _build(building, episodes)
            building.rename(directory)
    return Kept(f"sqlite:///{directory / 'log.db'}", Trusted(directory / "note", str(OWNER.key)))


def _build(directory: Path, episodes: int) -> None:
    store = open_store(str(directory / "log.db"))
    made = record_log(store, episodes)
    erase(store, Named(tuple((episode, 5) for episode in made[2:ERASED])), Order("ana", "asked for"))
    with store.database.writing(durable=True) as connection:
        admin.open_epoch(connection, "restored")
    signed(store, directory / "note")
    store.close()


def signed(store: SqlEventStore, path: Path) -> Trusted:
    """Let the owner sign how the log stands."""
    assert isinstance(create(store, OWNER, path), Created)
    return Trusted(path, str(OWNER.key))


def more(log: Kept, path: Path) -> tuple[list[str], Trusted]:
    """Record three more episodes; return them, and a checkpoint made after them."""
    store = open_store(log.url)
    made = [asyncio.run(record_shop(store)).episode for _ in range(3)]
    trusted = signed(store, path)
    store.close()
    return made, trusted
