"""H23 of the anchors: edits, swaps, truncation, a rewritten chain, a lost checkpoint: each answer and its place.

Every case runs on SQLite and on Postgres. What is valid with the checkpoint is only consistent without it.
"""

import pytest
import sqlalchemy as sa

from spectrace.audit.signing import make_key
from spectrace.core.events import ActCompleted
from spectrace.store import tables
from spectrace.store.copying import copy_log
from spectrace.store.sql import open_store
from spectrace.store.upkeep import rebuild
from tests.command_line import Line, in_a_directory
from tests.shop_log import recorded
from tests.tampering import forgery
from tests.tampering.operations import with_triggers, without_triggers

EVENTS = tables.events.c
VERIFY = ("--checkpoint", "log.checkpoint", "--key", "log.key.pub")


class Log:
    """A recorded log with a checkpoint, and the command line in the directory where that lies."""

    def __init__(self, line: Line, url: str, directory) -> None:
        self.line, self.url, self.directory = line, url, directory
        store = open_store(url)
        self.episodes = [recorded(store) for _ in range(3)]
        self.victim = self.episodes[1]
        self.observed = next(one.seq for one in store.read(self.victim) if isinstance(one.body, ActCompleted))
        self.first_key = store.log.number(self.victim) << tables.SEQ_BITS
        store.close()
        make_key("log", directory / "log.key")
        self.sign()

    def sign(self) -> None:
        made = self.line("checkpoint", "create", "-o", "log.checkpoint", "--key", "log.key", "--db", self.url)
        assert made.exit_code == 0, made.output

    def answers(self, *options: str, code: int) -> dict[str, tuple[str, int | None]]:
        items = self.line.items("verify", "--all", "--db", self.url, *options, code=code)
        return {one["episode"]: (one["result"], one["first_bad_seq"]) for one in items}

    def bad(self) -> dict[str, int | None]:
        """Return what is invalid, the database's missing triggers apart."""
        found = self.answers(*VERIFY, code=1)
        return {name: seq for name, (result, seq) in found.items() if result == "invalid" and name != "(database)"}

    def tamper(self, work) -> None:
        engine = sa.create_engine(_driver(self.url), poolclass=sa.NullPool)
        with engine.connect() as connection:
            without_triggers(connection)
            work(connection, self)
            with_triggers(connection)
            connection.commit()
        rebuild(self.url)  # a forger who knows that lists are compared as well


def _driver(url: str) -> sa.URL:
    made = sa.make_url(url if "://" in url else f"sqlite:///{url}")
    return made.set(drivername="postgresql+psycopg") if made.drivername.startswith("postgresql") else made


@pytest.fixture
def log(database_url, tmp_path, monkeypatch) -> Log:
    return Log(in_a_directory(monkeypatch, tmp_path), database_url, tmp_path)


def of(seq: int, log: Log) -> sa.ColumnElement[bool]:
    return EVENTS.key == log.first_key + seq


def edited(connection, log):
    """One byte of an observation's body, in place."""
    row = connection.execute(tables.events.select().where(of(log.observed, log))).one()
    salt = bytes([row.salt[0] ^ 1]) + bytes(row.salt[1:])
    connection.execute(tables.events.update().where(of(log.observed, log)).values(salt=salt))


def swapped(connection, log):
    for old, new in ((9, 1 << 19), (10, 9), (1 << 19, 10)):
        connection.execute(tables.events.update().where(of(old, log)).values(key=log.first_key + new))


def last_three_gone(connection, log):
    forgery.cut(connection, log.victim, 43)


def rewritten(connection, log):
    forgery.rewrite(connection, log.victim, lambda _, body: {**body, "raw": "{}"} if "raw" in body else body)


def rewritten_with_leaf(connection, log):
    rewritten(connection, log)
    forgery.leaf_anew(connection, log.victim)


def version_changed(connection, log):
    connection.execute(tables.events.update().where(of(7, log)).values(version=2))


def removed(connection, log):
    forgery.remove(connection, log.victim, leaves=True)


@pytest.mark.parametrize(
    ("work", "first_bad"),
    [
        (edited, "observed"),
        (swapped, 9),
        (last_three_gone, 43),
        (rewritten, 0),
        (rewritten_with_leaf, 0),
        (removed, None),
    ],
)
def test_each_edit_is_found_with_its_place_and_nothing_else_is_misreported(log, work, first_bad):
    log.tamper(work)

    assert log.bad()[log.victim] == (log.observed if first_bad == "observed" else first_bad)
    assert log.bad().keys() == {log.victim} or work is removed


def test_a_version_that_a_later_spectrace_could_have_written_is_never_valid(log):
    log.tamper(version_changed)
    answers = log.answers(*VERIFY, code=1)

    assert answers[log.victim] == ("invalid", 7)


@pytest.mark.parametrize("work", [last_three_gone, rewritten, removed])
def test_what_only_a_checkpoint_shows_is_consistent_without_one_and_never_valid(log, work):
    log.tamper(work)

    assert {result for result, _ in log.answers(code=0).values()} == {"consistent"}


def test_an_untouched_log_is_valid_and_what_is_recorded_later_is_consistent(log):
    assert {result for result, _ in log.answers(*VERIFY, code=0).values()} == {"valid"}
    store = open_store(log.url)
    added = recorded(store)
    store.close()
    answers = log.answers(*VERIFY, code=0)

    assert {name for name, (result, _) in answers.items() if result == "consistent"} == {added}
    log.sign()
    assert {result for result, _ in log.answers(*VERIFY, code=0).values()} == {"valid"}


def test_a_lost_checkpoint_leaves_everything_unknown(log):
    (log.directory / "log.checkpoint").unlink()
    answers = log.answers(*VERIFY, code=3)

    assert {result for result, _ in answers.values()} == {"unknown"}


def test_another_s_key_leaves_everything_unknown(log):
    make_key("log", log.directory / "another.key")
    answers = log.answers("--checkpoint", "log.checkpoint", "--key", "another.key.pub", code=3)

    assert {result for result, _ in answers.values()} == {"unknown"}


def test_the_checkpoint_of_another_log_is_no_proof_of_this_one(log, tmp_path):
    other = str(tmp_path / "other.db")
    store = open_store(other)
    recorded(store)
    store.close()
    log.line("checkpoint", "create", "-o", "other.checkpoint", "--key", "log.key", "--db", other)
    answers = log.answers("--checkpoint", "other.checkpoint", "--key", "log.key.pub", code=1)

    assert "valid" not in {result for result, _ in answers.values()}


def test_an_episode_that_was_removed_is_told_by_its_name(log):
    log.tamper(removed)
    (item,) = log.line.items("verify", log.victim, "--db", log.url, *VERIFY, code=1)

    assert (item["result"], item["detail"][:7]) == ("invalid", "removed")


def test_a_copy_in_another_database_is_valid_by_the_same_checkpoint(log, tmp_path):
    source, target = open_store(log.url, read_only=True), open_store(str(tmp_path / "copy.db"))
    copy_log(source, target)
    source.close()
    target.close()
    items = log.line.items("verify", "--all", "--db", str(tmp_path / "copy.db"), *VERIFY)
    results = {one["episode"]: one["result"] for one in items}

    assert {results[name] for name in log.episodes} == {"valid"}
    assert (
        log.line("checkpoint", "create", "-o", "log.checkpoint", "--key", "log.key", "--db", "copy.db").exit_code == 0
    )
    assert list(results.values()).count("consistent") == 1  # the copy's own administrative log
