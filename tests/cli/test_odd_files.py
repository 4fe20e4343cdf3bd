"""What is no file in the place of a log or a bundle: refused at once, never waited for or read without end."""

import os
import subprocess
import sys

import pytest

COMMANDS = {
    "ls": ("ls", "--db", "{}"),
    "check": ("db", "check", "--db", "{}"),
    "verify": ("verify", "{}"),
    "unpack": ("unpack", "{}", "--db", "new.db"),
    "restore": ("db", "restore", "{}", "--db", "new.db"),
    "upgrade": ("db", "upgrade", "--db", "{}"),
}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("place", ["pipe", "/dev/zero", "folder"])
def test_a_pipe_a_device_or_a_folder_is_refused_at_once(tmp_path, command, place):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    arguments = [part.format(place) for part in COMMANDS[command]]

    done = subprocess.run(
        [sys.executable, "-m", "spectrace", *arguments],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
    )

    assert (done.returncode, "is a bug" in done.stderr, done.stderr.startswith("Error")) == (2, False, True)
