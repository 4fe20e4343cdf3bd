"""A checkpoint's files: what is read of each, and what is said where the leaves are not those that were signed."""

import os
import threading

import pytest

from spectrace.audit import checkpoint_files
from spectrace.audit.leaves import hashes
from spectrace.audit.signing import Signer
from spectrace.core import merkle
from spectrace.core.notes import BadNote, Checkpoint
from spectrace.errors import UsageError

LEAVES = (b'["a"]', b'["b"]', b'["c"]')
CHECKPOINT = Checkpoint("spectrace/admin-00", 3, merkle.root(hashes(LEAVES)))
NOTE = Signer("log", bytes(range(32))).sign(str(CHECKPOINT))


@pytest.fixture
def path(tmp_path):
    checkpoint_files.write(tmp_path / "log.checkpoint", NOTE, LEAVES)
    return tmp_path / "log.checkpoint"


def test_what_was_written_is_read_again(path):
    assert checkpoint_files.read(path) == checkpoint_files.Held(path, NOTE, CHECKPOINT, LEAVES)


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_the_note_is_for_anybody_and_the_leaves_which_tell_of_episodes_for_their_owner(path):
    held = checkpoint_files.read(path)
    before = os.umask(0o000)
    try:
        checkpoint_files.write(path, held.note, held.leaves)
    finally:
        os.umask(before)

    assert path.stat().st_mode & 0o777 == 0o644
    assert checkpoint_files.leaves_file(path).stat().st_mode & 0o777 == 0o600


def test_leaves_of_a_later_checkpoint_serve_an_earlier_one(path):
    beside = checkpoint_files.leaves_file(path)
    beside.write_bytes(beside.read_bytes() + b'["d"]\n')

    assert checkpoint_files.read(path).leaves == LEAVES


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (None, "is not there"),
        (b"", "altered or cut"),
        (b'["a"]\n["b"]\n', "2 whole lines, the checkpoint is of 3 leaves"),
        (b'["a"]\n["b"]\n["c"]', "altered or cut"),
        (b'["a"]\n["c"]\n["b"]\n', "do not have the signed root"),
    ],
)
def test_leaves_that_are_not_those_that_were_signed_are_named(path, data, said):
    beside = checkpoint_files.leaves_file(path)
    beside.unlink() if data is None else beside.write_bytes(data)
    held = checkpoint_files.read(path)

    assert held.leaves is None
    assert "log.checkpoint.leaves" in held.problem
    assert said in held.problem


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"SQLite format 3\0", str(NOTE).encode()[:-9]])
def test_what_is_no_checkpoint_is_none(path, data):
    path.write_bytes(data)

    with pytest.raises(BadNote):
        checkpoint_files.read(path)


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        checkpoint_files.read(tmp_path / "none")


def signed(size: int, origin: str = "spectrace/admin-00"):
    made = Checkpoint(origin, size, merkle.root(hashes(LEAVES[:size])))
    return Signer("log", bytes(range(32))).sign(str(made)), LEAVES[:size]


def test_a_newer_checkpoint_of_the_log_that_came_between_stays(path):
    checkpoint_files.write(path, *signed(2))

    assert checkpoint_files.read(path).checkpoint == CHECKPOINT


def test_one_of_as_many_leaves_or_of_another_log_is_replaced(path):
    again = Signer("log", bytes(range(1, 33))).sign(str(CHECKPOINT))
    checkpoint_files.write(path, again, LEAVES)
    assert checkpoint_files.read(path).note == again
    checkpoint_files.write(path, *signed(2, "spectrace/admin-01"))

    assert checkpoint_files.read(path).checkpoint.size == 2


def test_two_that_write_at_once_never_leave_files_of_two_trees(tmp_path):
    found = []
    for number in range(20):
        path = tmp_path / f"{number}"
        writers = [threading.Thread(target=checkpoint_files.write, args=(path, *signed(size))) for size in (1, 2, 3)]
        for one in writers:
            one.start()
        for one in writers:
            one.join()
        found.append(checkpoint_files.read(path))

    assert {(one.checkpoint.size, one.leaves) for one in found} == {(3, LEAVES)}
