"""`spectrace reverify` as a process of its own: Ctrl-C, cancelled from elsewhere, killed; and going on by its name."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spectrace.store import runs
from spectrace.store.sql import open_store
from tests.verifying import shop_episodes

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

EPISODES, REVIEWS = 12, 3
ALL = EPISODES * REVIEWS
SLOW = """
import time

def judge(request):
    time.sleep(0.15)
    return request.segment != 2
"""


@pytest.fixture
def folder(tmp_path):
    store = open_store(str(tmp_path / "spectrace.db"))
    shop_episodes(store, EPISODES)
    store.close()
    (tmp_path / "slow.py").write_text(SLOW)
    return tmp_path


def start(folder, *arguments):
    names = ("SPECTRACE_DB", "SPECTRACE_CONFIG", "SPECTRACE_DEBUG")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    command = [sys.executable, "-m", "spectrace", *arguments]
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_heed_ctrl_c,  # noqa: PLW1509 - one call, no lock
    )


def _heed_ctrl_c():
    """Undo what a shell does to the jobs it puts in the background: they, and their children, ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def judge(folder, *more):
    return start(folder, "reverify", *more, "--verifier", "slow:judge", "--name", "again", "--json")


def ended(process):
    out, err = process.communicate(timeout=120)
    return process.returncode, out, " ".join(err.split())


def counted(folder):
    store = open_store(str(folder / "spectrace.db"))
    try:
        known = runs.find(store, "again")
        return 0 if known is None else len([one for one in runs.items(store, "again") if one.verdict_seq >= 0])
    finally:
        store.close()


def wait_for(folder, verdicts):
    until = time.monotonic() + 60
    while counted(folder) < verdicts:
        assert time.monotonic() < until, "it does not come to its verdicts"
        time.sleep(0.05)


def goes_on(folder, before):
    """Go on by name alone: everything is judged, and what was judged is not judged again."""
    code, out, said = ended(judge(folder))
    items = json.loads(out)["items"]
    told = re.search(r"36 reviews: judged now (\d+), before (\d+), left 0\.", said)

    assert (code, len(items)) == (0, ALL)
    assert len({(item["episode"], item["segment"]) for item in items}) == ALL
    assert [item["new"]["decision"] for item in items] == ["accept", "reject", "accept"] * EPISODES
    assert told is not None, said
    assert int(told[2]) >= before
    return int(told[1])


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_what_was_judged_stays_when_it_is_interrupted_and_the_name_goes_on(folder, how):
    process = judge(folder, "--all", "--concurrency", "2")
    wait_for(folder, 5)
    process.send_signal(how)
    code, out, said = ended(process)
    before = counted(folder)

    assert (code, out) == (130, "")
    assert re.search(r"36 reviews: judged now \d+, before \d+, left \d+\. Not all is judged \(interrupted\)\.", said)
    assert "`spectrace reverify --name again --verifier slow:judge` goes on." in said
    assert 5 <= before < ALL
    goes_on(folder, before)


def test_a_killed_command_goes_on_by_its_name(folder):
    process = judge(folder, "--all", "--concurrency", "3")
    wait_for(folder, 7)
    process.kill()
    process.communicate(timeout=60)
    before = counted(folder)

    assert goes_on(folder, before) <= ALL - before


def test_a_run_that_is_cancelled_from_elsewhere_stops_before_its_next_verdict(folder):
    (folder / "slow.py").write_text(SLOW.replace("0.15", "1"))
    process = judge(folder, "--all", "--concurrency", "2")
    wait_for(folder, 2)
    code, _, _ = ended(start(folder, "runs", "again", "--cancel"))
    at_once = counted(folder)
    stopped, out, said = ended(process)
    items = json.loads(out)["items"]

    assert (code, stopped) == (0, 1)
    assert len(items) <= at_once + 4, "those under way, and no more"
    assert "Not all is judged (the run was cancelled)." in said
    assert ended(judge(folder))[0] == 2
