import os
import shutil
import stat
from contextlib import closing, contextmanager

import pytest

from spectrace.store import private, soundness
from spectrace.store.backup import copied, take
from spectrace.store.sql import open_store
from tests.shop_log import recorded

MASKS = [0o000, 0o022, 0o077, 0o777]


@contextmanager
def umask(mask):
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def modes(folder) -> dict[str, str]:
    return {path.name: f"{stat.S_IMODE(path.stat().st_mode):o}" for path in folder.iterdir()}


def access(path):
    (found,) = [one for one in soundness.check(str(path), blobs=False) if one.check == "access"]
    return found


@pytest.mark.parametrize("mask", MASKS)
def test_a_new_log_and_all_that_lies_beside_it_is_its_owner_s_alone_whatever_the_umask(tmp_path, mask):
    with umask(mask), closing(open_store(str(tmp_path / "log.db"))) as store:
        recorded(store)
        beside = modes(tmp_path)

    assert beside == dict.fromkeys(("log.db", "log.db-wal", "log.db-shm", "log.db.lock"), "600")


def test_a_log_that_its_owner_shares_stays_shared_and_what_comes_beside_it_is_too(tmp_path):
    path = tmp_path / "log.db"
    open_store(str(path)).close()
    (tmp_path / "log.db.lock").unlink()
    path.chmod(0o660)

    with umask(0o077), closing(open_store(str(path))) as store:
        recorded(store)
        beside = modes(tmp_path)
        take(store.database, "0001")

    assert set(beside.values()) == {"660"}
    assert set(modes(tmp_path).values()) == {"660"}


def test_an_empty_file_that_is_there_keeps_its_mode(tmp_path):
    path = tmp_path / "log.db"
    path.touch(0o640)
    path.chmod(0o640)

    open_store(str(path)).close()

    assert modes(tmp_path) == {"log.db": "640", "log.db.lock": "640"}


def test_a_copy_is_private_before_it_holds_a_byte(tmp_path):
    (tmp_path / "source").write_bytes(b"x")

    with umask(0):
        copied(tmp_path / "source", tmp_path / "target")

    assert modes(tmp_path)["target"] == "600"


def test_nothing_is_made_behind_a_link_that_leads_nowhere(tmp_path):
    (tmp_path / "log.db.lock").symlink_to(tmp_path / "elsewhere")

    private.make(tmp_path / "log.db.lock")

    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("mode", "problem", "note"),
    [
        (0o600, None, None),
        (0o640, None, "others than its owner may read log.db (640)"),
        (0o660, None, "others than its owner may read and write log.db (660)"),
        (0o644, None, "others than its owner may read log.db (644)"),
        (0o666, "anybody on this machine may write log.db (666)", None),
    ],
)
def test_a_check_says_who_else_may_read_or_write_the_file(tmp_path, mode, problem, note):
    path = tmp_path / "log.db"
    open_store(str(path)).close()
    path.chmod(mode)

    found = access(path)

    assert ((found.problem or "").partition(":")[0] or None) == problem
    assert ((found.note or "").partition(";")[0] or None) == note


def test_a_folder_in_which_anybody_may_replace_the_file_is_a_problem(tmp_path):
    folder = tmp_path / "open"
    folder.mkdir()
    shutil.copystat(tmp_path, folder)
    open_store(str(folder / "log.db")).close()
    folder.chmod(0o777)

    assert f"the directory {folder} (777)" in access(folder / "log.db").problem
    folder.chmod(0o1777)

    assert access(folder / "log.db").problem is None
