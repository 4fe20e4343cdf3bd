"""A checkpoint made after an upgrade, beside the file from before it: an old backup, not the log that was signed."""

import shutil
import sqlite3
from contextlib import closing

import pytest

from tests.command_line import in_a_directory
from tests.migrations.populated import REVISIONS, sqlite_file

PROOF = ("--checkpoint", "cp", "--key", "k.pub")


@pytest.fixture
def line(monkeypatch, tmp_path):
    return in_a_directory(monkeypatch, tmp_path)


@pytest.fixture(params=REVISIONS)
def upgraded(request, line, tmp_path):
    """A database that was upgraded and then signed; beside it, old.db, the file as it was before."""
    shutil.copy(sqlite_file(request.param, tmp_path / "old.db"), tmp_path / "spectrace.db")
    assert line("db", "upgrade").exit_code == 0
    line("checkpoint", "key", "log", "-o", "k")
    assert line("checkpoint", "create", "-o", "cp", "--key", "k").exit_code == 0
    return line


def test_what_was_upgraded_is_valid_and_the_backup_from_before_is_said_to_be_older(upgraded):
    now = upgraded.items("verify", "--all", *PROOF, "--jobs", "1")
    before = upgraded.items("verify", "--all", *PROOF, "--jobs", "1", "--db", "old.db", code=1)

    assert {one["result"] for one in now} == {"valid"}
    assert [one["episode"] for one in before] == [one["episode"] for one in now]
    told = [one["detail"] for one in before if one["result"] != "valid"]
    words = ("from before the checkpoint (an old backup)", "its end is missing", "removed: the checkpoint has it")
    assert told != []
    assert [detail for detail in told if not any(said in detail for said in words)] == []


def test_an_index_that_somebody_dropped_changes_nothing_that_is_signed_or_verified(upgraded, monkeypatch):
    monkeypatch.setattr("spectrace.store.leaf_rows._FEW", 1)  # as in a log of many episodes: by the index of writes
    with closing(sqlite3.connect("spectrace.db")) as connection:
        connection.execute("DROP INDEX ix_events_writes")
    database, *others = sorted(
        upgraded.items("verify", "--all", *PROOF, "--jobs", "1", code=1), key=lambda one: one["episode"]
    )

    assert (database["episode"], "missing: index ix_events_writes" in database["detail"]) == ("(database)", True)
    assert {one["result"] for one in others} == {"valid"}
    assert "(0 new)" in upgraded("checkpoint", "create", "-o", "cp2", "--key", "k").stdout
