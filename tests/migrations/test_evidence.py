"""The commands that read, asked of an older log: they answer, say the file's digest, and leave the file as it is."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import urllib.request

import pytest
from click.testing import CliRunner

from spectrace.cli import main
from tests.migrations.populated import REVISIONS, sqlite_file, told

SHOP_EVENTS = 46


@pytest.fixture(params=REVISIONS)
def case(request, tmp_path, monkeypatch):
    """A directory that holds one older log, not writable, and the id of a shop episode in it."""
    for name in ("SPECTRACE_DB", "SPECTRACE_CONFIG", "SPECTRACE_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    directory = tmp_path / "case"
    directory.mkdir()
    monkeypatch.chdir(tmp_path)
    path = sqlite_file(request.param, directory / "log.db")
    path.chmod(0o400)
    directory.chmod(0o500)
    events = told(request.param)["events"]
    yield path, next(name for name, digests in events.items() if len(digests) == SHOP_EVENTS)
    directory.chmod(0o700)


def seen(path):
    """Everything that an examiner could notice, the time of last reading apart."""
    files = {one.name: (one.read_bytes(), one.stat().st_mtime_ns, one.stat().st_ino) for one in path.parent.iterdir()}
    return {**files, ".": path.parent.stat().st_mtime_ns}


QUICK = ["ls", "show EP", "verify --all", "why EP"]
SLOW = [
    "ls --grep cancel",
    "show EP:10",
    "verify EP",
    "audit actions",
    "rejections",
    "replay EP",
    "runs",
    "db check",
    "db stats",
    "db upgrade --dry-run",
    "db copy copy.db",
]


@pytest.mark.parametrize("command", [*QUICK, *(pytest.param(command, marks=pytest.mark.slow) for command in SLOW)])
def test_a_command_that_reads_leaves_an_older_log_as_it_is(case, command):
    path, episode = case
    before = seen(path)
    result = CliRunner().invoke(main, [*command.replace("EP", episode).split(), "--json", "--db", str(path)])

    # A later spectrace's event of a type that nobody here knows is in no account, which says that it is not whole.
    unknown = command == "audit actions" and "tool.approved" in result.stderr
    assert result.exit_code == (3 if unknown else 0), result.output
    assert json.loads(result.stdout)["items"]
    assert seen(path) == before


def test_the_files_digest_is_said_on_stderr(case):
    path, _ = case
    result = CliRunner().invoke(main, ["ls", "--db", str(path)])

    assert hashlib.sha256(path.read_bytes()).hexdigest() in result.stderr
    assert "temporary copy" in result.stderr


def test_whoever_wants_to_write_is_told_to_upgrade(case):
    path, _ = case
    result = CliRunner().invoke(main, ["db", "rebuild", "--db", str(path)])

    assert result.exit_code == 2
    assert "run `spectrace db upgrade" in result.stderr


@pytest.mark.slow
def test_the_viewer_shows_an_older_log_and_leaves_it_as_it_is(case, tmp_path):
    path, episode = case
    before = seen(path)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with subprocess.Popen(
        [sys.executable, "-m", "spectrace", "view", episode, "--no-browser", "--json", "--db", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    ) as viewer:
        text = ""
        while not text.endswith("}\n") or text.count("{") != text.count("}"):
            text += viewer.stdout.readline()
        port = json.loads(text)["items"][0]["port"]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health") as answer:
            assert answer.read() == b"ok"
        viewer.send_signal(signal.SIGTERM)
        _, said = viewer.communicate(timeout=30)

    assert seen(path) == before
    assert hashlib.sha256(path.read_bytes()).hexdigest() in said
    assert not list(temporary.glob("spectrace-evidence-*"))
