"""A run that is killed or interrupted in the middle: what is in the log, and what it says of itself."""

import json
import signal
import time
from contextlib import suppress

import pytest

from spectrace.audit.queries import open_reader
from spectrace.errors import StoreError
from spectrace.models.script_file import read_script
from tests.shop_log import STRONG_SCRIPT, WEAK_SCRIPT, script

pytestmark = pytest.mark.slow

SLOW = '''
"""A shop whose second read takes a minute: an episode that stays in the middle."""
import time

from spectrace.environments import shop
from spectrace.environments.functions import FunctionEnvironment, tool
from spectrace.environments.shop_data import Desk, new_desk
from spectrace.environments.shop_tasks import TASKS


@tool(effect="read")
def get_order(state: Desk, order_id: str) -> str:
    """Read an order, slowly."""
    time.sleep(60)
    return "never"


def env():
    tools = [get_order if one.__name__ == "get_order" else one for one in shop.TOOLS]
    return FunctionEnvironment.from_functions("slow", tools, shop.INSTRUCTIONS, reset=new_desk, tasks=TASKS)
'''


def _reached(database, events, timeout_s=60):
    """Wait until the one episode has so many events; return its id."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        with suppress(StoreError), open_reader(str(database)) as reader:
            for found in reader.episodes():
                if found.events == events:
                    return found.episode
        time.sleep(0.05)
    raise TimeoutError


@pytest.fixture
def running(spectrace, request):
    """A run that hangs in its first read, after a rejection and its repair: the process and the episode."""
    tasks = getattr(request, "param", "cancel-own")
    (spectrace.directory / "slow.py").write_text(SLOW)
    weak = script(spectrace.directory / "weak.json", WEAK_SCRIPT)
    strong = script(spectrace.directory / "strong.json", STRONG_SCRIPT)
    process = spectrace.start("run", "--env", "slow:env", "--task", tasks, "--weak", weak, "--strong", strong, "--json")
    yield process, _reached(spectrace.directory / "spectrace.db", 20)
    process.kill()
    process.communicate()


def test_an_episode_in_the_middle_is_running_and_its_prefix_is_consistent(spectrace, running):
    _, episode = running
    (listed,), (verified,) = spectrace.items("ls"), spectrace.items("verify", episode)

    assert (listed["status"], listed["rejections"]) == ("running", 1)
    assert (verified["result"], verified["covered_to"]) == ("consistent", 19)
    assert verified["detail"].startswith("still being written")


def test_a_killed_run_leaves_an_interrupted_episode_whose_prefix_is_consistent(spectrace, running):
    process, episode = running
    process.kill()
    process.wait()
    (listed,), (verified,) = spectrace.items("ls"), spectrace.items("verify", episode)

    assert (listed["status"], listed["end_reason"], listed["events"]) == ("interrupted", None, 20)
    assert (verified["result"], verified["covered_to"], verified["first_bad_seq"]) == ("consistent", 19, None)
    assert verified["detail"] == "its writer is gone: a prefix without an end; never answered: event 19 (act.requested)"


def test_what_a_killed_run_left_can_be_read_replayed_and_explained(spectrace, running):
    process, episode = running
    process.kill()
    process.wait()

    assert spectrace.items("replay", episode)[0]["result"] == "same"
    assert spectrace.items("why", episode)[0]["repair_outcome"] == "ok"
    assert [item["outcome"] for item in spectrace.items("audit", "actions")] == ["never"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_writes_the_end_and_says_so_in_a_line(spectrace, running, number):
    process, episode = running
    process.send_signal(number)
    output, said = process.communicate(timeout=30)
    (listed,), (verified,) = spectrace.items("ls"), spectrace.items("verify", episode)

    assert (process.returncode, output, said.splitlines()[-1]) == (130, "", "Interrupted.")
    assert f"Recorded as interrupted: {episode}." in said
    assert "Traceback" not in said
    assert (listed["status"], listed["end_reason"]) == ("interrupted", "cancelled")
    assert verified["result"] == "consistent"


@pytest.mark.parametrize("running", ["cancel-own,voucher-late,address-open"], indirect=True)
def test_an_interrupted_run_says_how_many_episodes_had_not_begun(running):
    process, episode = running
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)

    assert f"Recorded as interrupted: {episode}." in said
    assert "Not begun: 2 of 3 episodes." in said


def test_an_interrupted_run_shows_what_was_done_and_says_how_to_go_on(spectrace):
    (spectrace.directory / "slow.py").write_text(SLOW)
    weak = script(spectrace.directory / "weak.json", [{"action": {"finish": "no"}}, *WEAK_SCRIPT[1:]])
    process = spectrace.start(
        "run", "--env", "slow:env", "--task", "cancel-own,voucher-late", "--protocol", "weak-only", "--weak", weak,
        "--name", "n",
    )  # fmt: skip
    done = _reached(spectrace.directory / "spectrace.db", 12)
    _reached(spectrace.directory / "spectrace.db", 7)
    process.send_signal(signal.SIGINT)
    output, said = process.communicate(timeout=30)

    assert process.returncode == 130
    assert (output.split()[0], output.splitlines()[-1].split()[0]) == ("episode", done)
    assert "The same command with --name 'n' goes on where it stopped." in said


def test_following_shows_what_a_running_episode_does_until_it_ends(spectrace, running):
    process, episode = running
    follower = spectrace.start("show", episode, "--follow")
    process.kill()
    output, _ = follower.communicate(timeout=60)

    assert (follower.returncode, output.splitlines()[-1]) == (0, "Its state is interrupted.")
    assert output.count("verdict.given") == 1


def test_the_scripts_of_these_tests_can_be_read(spectrace):
    name = script(spectrace.directory / "weak.json", WEAK_SCRIPT)

    assert json.loads((spectrace.directory / "weak.json").read_text())["replies"] == WEAK_SCRIPT
    assert read_script(name.partition(":")[2]).name == "weak"
