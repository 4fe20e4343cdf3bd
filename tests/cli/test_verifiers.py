"""Functions and labels as verifiers of the program itself; what they said replays without them."""

import json

import pytest

from tests.shop_log import STRONG_SCRIPT, WEAK_SCRIPT, script

CHECKS = """
import asyncio
from spectrace import Verdict
from spectrace.core.types import Effect

async def judge(request):
    '''Nobody writes before somebody was looked up.'''
    await asyncio.sleep(0)
    print("the function is asked")
    called = [call.name for message in request.history for call in message.calls]
    for number, step in enumerate(request.steps):
        if step.effect is Effect.WRITE and "find_customer" not in called:
            return Verdict(request.drafted, number, category="premature", reason="nobody was looked up")
    return True

def broken(request):
    if request.segment == 1:
        return None
    raise ValueError("what is this?")
"""


@pytest.fixture
def recorded(spectrace, tmp_path):
    """One episode with three reviews: the first is a rejection."""
    weak, strong = script(tmp_path / "weak.json", WEAK_SCRIPT), script(tmp_path / "strong.json", STRONG_SCRIPT)
    (item,) = spectrace.items("run", "--env", "shop", "--task", "cancel-own", "--weak", weak, "--strong", strong)
    (tmp_path / "checks.py").write_text(CHECKS)
    return item["episode"]


@pytest.mark.slow
def test_a_function_judges_and_its_verdicts_replay_without_it(spectrace, recorded, tmp_path):
    done = spectrace("reverify", recorded, "--verifier", "checks:judge", "--name", "rule", "--json")
    items = json.loads(done.stdout)["items"]
    (tmp_path / "checks.py").unlink()
    child = items[0]["child"]
    replayed = spectrace("replay", child)
    (started, *_) = spectrace.items("show", child)

    assert (done.returncode, done.stderr.count("the function is asked")) == (0, 3)
    assert [(one["recorded"]["decision"], one["new"]["decision"], one["agree"]) for one in items] == [
        ("reject", "reject", True),
        ("accept", "accept", True),
        ("accept", "accept", True),
    ]
    assert (replayed.returncode, "the function is asked" in replayed.stdout + replayed.stderr) == (0, False)
    (model,) = started["body"]["models"]
    assert (model["provider"], model["name"]) == ("function", "checks:judge")
    assert json.loads(model["server"])["sources"].startswith("checks sha256:")


@pytest.mark.slow
def test_a_function_that_breaks_never_accepts(spectrace, recorded):
    done = spectrace("reverify", recorded, "--verifier", "checks:broken", "--name", "broken")
    items = spectrace.items("reverify", "--verifier", "checks:broken", "--name", "broken")

    assert done.returncode == 1
    assert [(one["segment"], one["new"]["decision"]) for one in items] == [(1, "unusable")]
    assert "NoneType returned" in items[0]["new"]["cause"]
    assert "checks:broken raised ValueError: what is this? (checks.py, line 19)" in done.stderr


@pytest.mark.slow
def test_labels_judge_and_their_verdicts_replay_without_the_file(spectrace, recorded, tmp_path):
    rows = f"{recorded},1,accept,,\n{recorded},2,reject,1,ann\n"
    (tmp_path / "gold.csv").write_text("episode,segment,decision,accepted,by\n" + rows)
    items = spectrace.items("reverify", recorded, "--verifier", "labels:gold.csv", "--name", "people")
    (tmp_path / "gold.csv").unlink()
    child = items[0]["child"]
    replayed = spectrace("replay", child)
    answers = [one["body"] for one in spectrace.items("show", child) if one["type"] == "generate.completed"]

    assert [(one["segment"], one["new"]["decision"], one["new"]["accepted"]) for one in items] == [
        (1, "accept", 1),
        (2, "reject", 1),
    ]
    assert replayed.returncode == 0
    assert [(one["model"], json.loads(one["server"])["by"]) for one in answers] == [(None, []), ("person:ann", ["ann"])]
