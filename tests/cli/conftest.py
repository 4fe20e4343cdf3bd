"""The program itself, as a process of its own in an empty directory."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from spectrace.store.sql import open_store
from tests.command_line import Line, in_a_directory
from tests.shop_log import recorded

PROGRAM = [sys.executable, "-m", "spectrace"]


class Program:
    """`spectrace` run in one directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("SPECTRACE_")}

    def __call__(self, *arguments: object, **given) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*PROGRAM, *map(str, arguments)],
            cwd=self.directory,
            env=self.environment | given.pop("env", {}),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            **given,
        )

    def items(self, *arguments: object) -> list[dict]:
        return json.loads(self(*arguments, "--json").stdout)["items"]

    def start(self, *arguments: object) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*PROGRAM, *map(str, arguments)],
            cwd=self.directory,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_heed_ctrl_c,  # noqa: PLW1509 - one call, no lock
        )


def _heed_ctrl_c() -> None:
    """Undo what a shell does to the jobs it puts in the background: they, and their children, ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def spectrace(tmp_path) -> Program:
    return Program(tmp_path)


@pytest.fixture
def line(monkeypatch, tmp_path) -> Line:
    """The program in this process, for what needs no other."""
    return in_a_directory(monkeypatch, tmp_path)


@pytest.fixture
def logged(line) -> str:
    """The id of the shop's episode, recorded in the directory's spectrace.db."""
    store = open_store("spectrace.db")
    episode = recorded(store)
    store.close()
    return episode
