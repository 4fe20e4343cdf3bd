"""kill -9 of a real process in mid-read and mid-write, on a state that outlives it: every write runs exactly once."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.lasting_desk import changes
from tests.shop_log import script

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

HERE = Path(__file__).parents[2]
NIGHT = """
import os, signal
from pathlib import Path
from tests.lasting_desk import changes, open_lasting

def die(moment):
    at = Path("die")
    if at.exists() and at.read_text() == f"{moment} {len(changes('desk.db'))}":
        at.unlink()
        os.kill(os.getpid(), signal.SIGKILL)

def desk():
    return open_lasting("desk.db", die)
"""
ACTIONS = [
    {"tool": "look", "arguments": {"id": "A"}},
    {"tool": "change", "arguments": {"id": "A"}},
    {"tool": "look", "arguments": {"id": "B"}},
    {"tool": "change", "arguments": {"id": "B"}},
    {"finish": "done"},
]
REVIEWED = (1, 3, 4)
"""The drafts that a review follows."""


class Night:
    """A working directory with a desk that kills its process when the file `die` says so."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "night.py").write_text(NIGHT)

    def __call__(self, *arguments: str, code: int = 0, die: str | None = None) -> list[dict]:
        if die is not None:
            (self.folder / "die").write_text(die)
        done = subprocess.run(
            [sys.executable, "-m", "spectrace", *arguments, "--json"],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(HERE), "SPECTRACE_DB": "sqlite:///spectrace.db"},
        )
        assert done.returncode == (-signal.SIGKILL if die else code), done.stderr
        return json.loads(done.stdout)["items"] if done.stdout else []

    def models(self, drafted: int = 0, reviewed: int = 0) -> tuple[str, ...]:
        """Return the environment and the models, of which so many answers are in the record already."""
        weak = script(self.folder / "weak.json", [{"action": action} for action in ACTIONS[drafted:]])
        strong = script(self.folder / "strong.json", [{"verdict": "accept"}] * (3 - reviewed))
        return "--env", "night:desk", "--weak", weak, "--strong", strong

    def killed(self, moment: str) -> str:
        """Run an episode that is killed at that moment; return its id."""
        self("run", *self.models(), "--task", "t1", "--protocol", "specagent", die=moment)
        return self("recover", "--all")[0]["episode"]

    def resumed(self, episode: str, drafted: int, *more: str, die: str | None = None) -> list[dict]:
        """Go on with models that answer from so many drafts on."""
        return self("resume", episode, *self.models(drafted, sum(n < drafted for n in REVIEWED)), *more, die=die)

    def settled(self, episode: str, outcome: str) -> None:
        (action,) = self("recover", episode)[0]["indeterminate"]
        where = f"{episode}:{action['seq']}"
        self("audit", "settle", where, "--outcome", outcome, "--evidence", f"it is {outcome}", "--by", "Ann")

    @property
    def done(self) -> list[str]:
        return changes(self.folder / "desk.db")

    def ledger(self) -> list[tuple[str, str]]:
        """Return every change that ran, by the ledger over all episodes."""
        listed = self("audit", "actions", "--tool", "change", "--outcome", "ok")
        return [json.loads(one["arguments"])["id"] for one in listed]


@pytest.fixture
def night(tmp_path) -> Night:
    return Night(tmp_path)


def require_whole(night: Night, episodes: Sequence[str]) -> None:
    """Each change is there once and is listed once; every episode is intact and replays."""
    assert night.done == night.ledger() == ["A", "B"]
    assert [one["result"] for one in night("verify", *episodes)] == ["consistent"] * len(episodes)
    assert [one["result"] for one in night("replay", *episodes)] == ["same"] * len(episodes)


@pytest.mark.parametrize(("moment", "drafted"), [("look 0", 1), ("look 1", 3)])
def test_killed_in_mid_read_it_goes_on_by_itself(night, moment, drafted):
    episode = night.killed(moment)
    (item,) = night.resumed(episode, drafted)

    assert (item["reward"], item["writes"]) == ("1.0", 2 - int(moment[-1]))
    require_whole(night, [episode, item["episode"]])


@pytest.mark.parametrize(
    ("moment", "outcome", "drafted"),
    [("change 0", "never", 2), ("changed 1", "ok", 2), ("change 1", "never", 4), ("changed 2", "ok", 4)],
)
def test_killed_in_mid_write_it_waits_for_a_persons_word_and_goes_on_by_it(night, moment, outcome, drafted):
    episode = night.killed(moment)
    before = night.done
    night("resume", episode, *night.models(), code=3)
    assert night.done == before

    night.settled(episode, outcome)
    (item,) = night.resumed(episode, drafted)

    assert item["reward"] == "1.0"
    require_whole(night, [episode, item["episode"]])


def test_killed_again_and_again_every_write_happens_once_over_the_chain(night):
    first = night.killed("changed 1")
    night.settled(first, "ok")
    night.resumed(first, 2, die="look 1")
    (second,) = [one["episode"] for one in night("ls") if one["parent"] == first]
    night("recover", second)
    night.resumed(second, 3, die="change 1")
    (third,) = [one["episode"] for one in night("ls") if one["parent"] == second]
    night("resume", third, *night.models(), code=3)
    night.settled(third, "never")
    (item,) = night.resumed(third, 4)

    assert item["reward"] == "1.0"
    require_whole(night, [first, second, third, item["episode"]])
