"""Ctrl-C in the middle of many replays: what is done is told, and that it is not all."""

import signal
import time

import pytest

from tests.shop_log import STRONG_SCRIPT, WEAK_SCRIPT, script

pytestmark = pytest.mark.slow

DESK = '''
"""A shop whose second beginning of the day never comes to its end."""
import time
from pathlib import Path

from spectrace.environments import shop
from spectrace.environments.functions import FunctionEnvironment
from spectrace.environments.shop_data import new_desk
from spectrace.environments.shop_tasks import TASKS


def begin():
    begun = Path("begun")
    begun.write_text((begun.read_text() if begun.exists() else "") + "x")
    if Path("today").exists() and len(begun.read_text()) == 2:
        time.sleep(60)
    return new_desk()


def env():
    return FunctionEnvironment.from_functions(
        "slow", shop.TOOLS, shop.INSTRUCTIONS, reset=begin, tasks=TASKS, restore="reset"
    )
'''


def test_what_is_done_is_told_and_how_much_that_is(spectrace):
    here = spectrace.directory
    (here / "slow_desk.py").write_text(DESK)
    weak, strong = script(here / "weak.json", WEAK_SCRIPT * 3), script(here / "strong.json", STRONG_SCRIPT * 3)
    models = ("--weak", weak, "--strong", strong)
    ran = spectrace.items("run", "--env", "slow_desk:env", "--task", "cancel-own", "--trials", "3", *models)
    assert len(ran) == 3
    (here / "begun").unlink()
    (here / "today").touch()
    process = spectrace.start("replay", "--all", "--tools", "live", "--env", "slow_desk:env")
    deadline = time.monotonic() + 60
    while not ((here / "begun").exists() and (here / "begun").read_text() == "xx"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    said, complaint = process.communicate(timeout=100)

    assert (process.returncode, "Interrupted: 1 of 3 episodes were replayed." in complaint) == (130, True), complaint
    assert said.count("same") >= 1
