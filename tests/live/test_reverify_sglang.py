"""500 shop segments put to a real SGLang server, while who asks is killed: no verdict is lost, and none counts twice.

The model has random weights and its replies a schema; at temperature 1 it accepts some and says nothing readable of
the others. What is tested is the bookkeeping under a real server's timing, not the model.
"""

import signal
import subprocess
import sys

import pytest
from live.sglang_server import server

from spectrace.audit.passes import read_pass
from spectrace.audit.queries import open_reader
from spectrace.runs.pass_plan import Plan
from spectrace.store.jobs import queue_key
from tests import workers
from tests.workers import REVIEWS, RUN, WorkerProcess, until

pytestmark = [pytest.mark.live, pytest.mark.timeout(1500)]

EPISODES = 167
"""Of three reviews each: 501."""
AT_ONCE = 8
_MODELS = """
[models.tiny]
provider = "sglang"
name = "tiny"
url = "{url}"

[models.tiny.parameters]
max_tokens = 40
temperature = 1
"""


@pytest.fixture(scope="module")
def tiny_url(can_serve):
    with server.running(name=server.TINY) as url:
        yield url


@pytest.fixture
def folder(tmp_path, tiny_url):
    """A folder whose spectrace.toml names the server."""
    (tmp_path / "spectrace.toml").write_text(_MODELS.format(url=tiny_url))
    return tmp_path


class Reverifying:
    """`spectrace reverify` over all shop episodes, in a process of its own."""

    def __init__(self, url, folder):
        command = [sys.executable, "-m", "spectrace", "reverify", "--all", "--protocol", "specagent", "--db", url]
        command += ["--verifier", "tiny", "--name", RUN, "--concurrency", str(AT_ONCE)]
        self._process = subprocess.Popen(
            command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    def kill(self):
        self._process.kill()
        self._process.communicate()

    def wait(self):
        said, _ = self._process.communicate(timeout=900)
        return self._process.returncode, said


def standing(url):
    """Return how many verdicts count, of how many reviews, and how many were given without being counted."""
    with open_reader(url) as reader:
        answers = read_pass(reader, RUN).answers
    given = workers.given(url, RUN)
    keys = {(one.episode, one.segment, one.repeat) for one in answers}
    return len(answers), len(keys), len(given), sum(given.values()) - len(given), answers


def test_reverify_is_killed_twice_and_goes_on_without_losing_a_verdict(folder):
    url = f"sqlite:///{folder / 'log.db'}"
    workers.record(url, EPISODES)
    asked_again = 0
    for share in (3, 2):
        running = Reverifying(url, folder)
        until(lambda share=share: workers.counted(url, RUN) > EPISODES * REVIEWS // share, 600)
        running.kill()
        asked_again += AT_ONCE
    before = workers.counted(url, RUN)
    code, said = Reverifying(url, folder).wait()
    answers, keys, given, twice, found = standing(url)

    assert code == 0, said
    assert EPISODES * REVIEWS // 2 < before < EPISODES * REVIEWS
    assert answers == keys == given == EPISODES * REVIEWS
    assert twice <= asked_again  # under way when it was killed
    assert {one.verdict.decision for one in found} >= {"accept", "unusable"}


def test_one_of_two_workers_is_killed_and_the_other_loses_no_verdict(folder, postgres_url):
    try:
        episodes = workers.record(postgres_url, EPISODES)
        workers.begin(postgres_url, Plan(RUN, "tiny"), episodes, 16)
        options = ("--concurrency", str(AT_ONCE // 2), "--silent-s", "5")
        dying, living = (WorkerProcess(postgres_url, folder, *options, verifier="tiny") for _ in range(2))
        until(lambda: workers.counted(postgres_url, RUN) > EPISODES * REVIEWS // 3, 600)
        dying.send(signal.SIGKILL)
        dying.wait()
        left_behind = workers.standings(postgres_url)[queue_key(RUN)].doing
        code, items, said = living.wait(900)
        answers, keys, given, twice, _ = standing(postgres_url)

        assert code == 0, said
        assert left_behind >= 1
        assert {item["state"] for item in items} == {"done"}
        assert answers == keys == given == EPISODES * REVIEWS
        assert twice <= AT_ONCE
        assert workers.standings(postgres_url) == {}
    finally:
        workers.drop_queue(postgres_url)
