"""The killer: a process that forks a child for each kill point, see `kill`."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

HERE = Path(__file__).parent


class Killer:
    """Runs jobs, one after the other."""

    def __init__(self, process: subprocess.Popen) -> None:
        self._process = process

    def __call__(self, *, began: Callable[[int], None] = lambda _: None, **job: object) -> dict:
        """Run one job; `began` is told the child's pid."""
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        began(json.loads(self._process.stdout.readline())["pid"])
        return json.loads(self._process.stdout.readline())

    def counts(self, **job: object) -> dict[str, int]:
        """Return how many points of each kind there are in an episode that nobody kills."""
        done = self(**job, kind="none", at=0)
        assert done["counts"] is not None, "the episode did not come to its end"
        return done["counts"]


@contextmanager
def killing(script: str) -> Iterator[Killer]:
    """Lend a killer that runs a script of this folder."""
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
    with subprocess.Popen(
        [sys.executable, str(HERE / script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        yield Killer(process)
        process.stdin.close()


@pytest.fixture(scope="module")
def killer() -> Iterator[Killer]:
    with killing("kill.py") as found:
        yield found


@pytest.fixture(scope="module")
def rejudger() -> Iterator[Killer]:
    with killing("rejudge.py") as found:
        yield found
