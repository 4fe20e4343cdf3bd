"""A copy that stopped is told from a whole one by the target's own administrative log, on both databases."""

from dataclasses import replace

import pytest

from spectrace.core.admin_events import AdminBegun, AdminCopied, AdminUnpacked, EpochHead
from spectrace.store import admin, runs
from spectrace.store.begun import arrivals, unfinished
from spectrace.store.copying import copy_log
from spectrace.store.process import operator
from spectrace.store.sql import open_store
from tests.transfers import write_episode

WHO = {"by": operator(), "spectrace": admin.VERSION, "source_digest": None}
EPOCH = EpochHead("admin-00112233aabb", 3, "ab" * 32)
BEGUN = AdminBegun(**WHO, what="copied", source="log.db", episodes=2, source_epoch=EPOCH)
COPIED = AdminCopied(**WHO, source="log.db", episodes=2, selection_digest="sha256:00", source_epoch=EPOCH)
UNPACKED = AdminUnpacked(**WHO, source="log.db", episodes=2, selection_digest="sha256:00")


@pytest.fixture
def target(database_url):
    store = open_store(database_url)
    yield store
    store.close()


@pytest.fixture
def source(tmp_path):
    store = open_store(str(tmp_path / "source.db"))
    write_episode(store, "ep1")
    yield store
    store.close()


def left(store):
    with store.database.reading() as connection:
        return [(one.what, one.source.name, one.source.epoch) for one in unfinished(connection)]


OPEN = [("copied", "log.db", EPOCH.episode)]


@pytest.mark.parametrize(
    ("bodies", "open_ones"),
    [
        ([], []),
        ([BEGUN], OPEN),
        ([BEGUN, COPIED], []),
        ([COPIED, BEGUN], OPEN),
        ([BEGUN, BEGUN, COPIED], []),
        ([BEGUN, UNPACKED], OPEN),
        ([BEGUN, replace(COPIED, source="moved.db")], []),
        ([BEGUN, replace(COPIED, source_epoch=None)], []),
        ([BEGUN, replace(COPIED, source="other.db", source_epoch=replace(EPOCH, episode="admin-ffffffffffff"))], OPEN),
        ([replace(BEGUN, source="x" * 9000, source_epoch=None)], [("copied", None, None)]),
    ],
)
def test_what_began_is_open_until_the_same_source_has_come(target, bodies, open_ones):
    for body in bodies:
        admin.record(target, body)

    assert left(target) == open_ones


def test_a_restored_backup_of_an_unfinished_copy_is_unfinished(target):
    admin.record(target, BEGUN)
    with target.database.writing(durable=True) as connection:
        admin.open_epoch(connection, "restored")

    assert left(target) == OPEN


def test_a_beginning_is_on_record_before_the_first_episode(source, target):
    record = arrivals(target, "imported", "log.jsonl", 2, digest="sha256:00")
    record.expect("ep1", source.row("ep1").head)
    arrivals(target, "imported", "moved.jsonl", 2, digest="sha256:00").begin()
    (log,) = admin.episodes(target.database)

    assert [event.type for event in target.read(log)] == ["admin.opened", "admin.begun"]


def test_an_episode_that_is_there_is_no_beginning(target):
    write_episode(target, "ep1")
    record = arrivals(target, "imported", "log.jsonl", 2)
    record.expect("ep1", target.row("ep1").head)
    record.end()
    (log,) = admin.episodes(target.database)

    assert [event.type for event in target.read(log)] == ["admin.opened"]


@pytest.mark.parametrize("what", ["copied", "imported", "unpacked"])
def test_an_end_has_the_type_that_its_beginning_names(target, what):
    record = arrivals(target, what, "here", 1)
    record.begin()
    record.end()
    (log,) = admin.episodes(target.database)

    assert [event.type for event in target.read(log)] == ["admin.opened", "admin.begun", f"admin.{what}"]
    assert left(target) == []


def test_nothing_is_on_record_of_a_copy_that_found_all_there(source, target):
    copy_log(source, target)
    log = admin.episodes(target.database)[-1]
    copy_log(source, target)

    assert [event.type for event in target.read(log)] == ["admin.opened", "admin.begun", "admin.copied"]


def test_a_copy_of_runs_alone_is_on_record(source, target):
    copy_log(source, target)
    runs.begin(source, "later", "reverify", [("ep1", "00")])
    copy_log(source, target)
    log = admin.episodes(target.database)[-1]
    found = [event.body.episodes for event in target.read(log) if event.type == "admin.copied"]

    assert found == [2, 0]
