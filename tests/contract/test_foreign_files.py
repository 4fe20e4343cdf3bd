"""A file that is empty, cut, or something else is refused by whoever reads it, and stays as it is."""

import pytest

from spectrace.audit.queries import open_reader
from spectrace.errors import StoreError
from spectrace.store.sql import open_store

FILES = {
    "empty": b"",
    "header alone": b"SQLite format 3\0",
    "no UTF-8": b"\xff\xfe\x00\xff",
    "JSON cut off": b'{"schema": "spectrace',
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_a_file_that_is_no_log_is_never_read_as_nothing_recorded(tmp_path, content):
    path = tmp_path / "log.db"
    path.write_bytes(content)

    with pytest.raises(StoreError, match=r"no log|not a database|other than a log"):
        open_reader(str(path))
    assert {found.name: found.read_bytes() for found in tmp_path.iterdir()} == {"log.db": content}


@pytest.mark.parametrize("content", list(FILES.values())[1:], ids=list(FILES)[1:])
def test_a_file_that_is_something_else_is_never_written_over(tmp_path, content):
    path = tmp_path / "log.db"
    path.write_bytes(content)

    with pytest.raises(StoreError):
        open_store(str(path))
    assert path.read_bytes() == content
