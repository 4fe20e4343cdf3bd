"""A row of some kilobytes that unpacks to gigabytes: every reading command answers, and none ever holds them."""

import resource
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
import zstandard

from spectrace.store.compression import LARGEST, ZSTD
from spectrace.store.sql import open_store
from tests.shop_log import recorded

pytestmark = pytest.mark.slow

CHUNK = 1 << 24
ROOM = 1 << 30
"""Bytes of address space: less than the bomb takes, beside Python's own."""
PLACES = {
    "body": "UPDATE events SET payload = ?, codec = ? WHERE key = (1 << 20) + 3",
    "text": "UPDATE blobs SET bytes = ?, codec = ?",
}
LINES = {
    "verify": ("verify {}", 1),
    "check": ("db check", 1),
    "show": ("show {}", None),
    "replay": ("replay {} --check", None),
    "actions": ("audit actions", None),
    "ls": ("ls --grep a", None),
    "pack": ("pack {} -o bundle.zip", None),
    "export": ("export jsonl {} -o log.jsonl", None),
}


def bomb() -> bytes:
    size = 4 * LARGEST
    packer = zstandard.ZstdCompressor(level=1).compressobj(size=size)
    return b"".join(packer.compress(bytes(CHUNK)) for _ in range(size // CHUNK)) + packer.flush()


@pytest.fixture(scope="module")
def packed() -> bytes:
    return bomb()


@pytest.fixture(params=PLACES)
def log(request, tmp_path, packed):
    """Record the shop, and put the bomb where a body or its texts are."""
    with closing(open_store(str(tmp_path / "log.db"))) as store:
        episode = recorded(store)
    with closing(sqlite3.connect(tmp_path / "log.db")) as connection, connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        assert connection.execute(PLACES[request.param], (packed, ZSTD)).rowcount > 0
    return tmp_path, episode


def _bounded() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (4 * ROOM, 4 * ROOM))


def test_every_command_answers_in_words(log):
    folder, episode = log
    wrong = []
    for line, code in LINES.values():
        done = subprocess.run(
            [sys.executable, "-m", "spectrace", *line.format(episode).split(), "--db", "log.db"],
            check=False,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=60,
            preexec_fn=_bounded,
        )
        said = done.stdout + done.stderr
        if done.returncode not in ({code} if code is not None else {0, 1, 2, 3, 125}) or "is a bug" in said:
            wrong.append((line, done.returncode, said[-300:]))

    assert wrong == []
