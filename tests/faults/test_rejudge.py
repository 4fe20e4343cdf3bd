"""kill -9 of a re-verification, again and again: no verdict is lost and none counts twice, on both databases."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from spectrace.audit.passes import read_pass
from spectrace.audit.queries import Reader
from spectrace.core.events import VerdictGiven
from spectrace.runs.pass_plan import Plan
from spectrace.store import runs
from spectrace.store.sql import open_store
from tests.conftest import empty_schema
from tests.verifying import begun, judged, shop_episodes, work

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

EPISODES, REVIEWS, REPEATS = 60, 3, 2
WHOLE = Plan("whole", "scripted:second", repeat=REPEATS)
HERE = Path(__file__).parent


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def log(request, tmp_path_factory):
    """A log with episodes, and a run that judged them without a fault; tests add runs of their own."""
    with ExitStack() as lent:
        url = f"sqlite:///{tmp_path_factory.mktemp('rejudged') / 'log.db'}"
        if request.param == "postgres":
            url = lent.enter_context(empty_schema(request.getfixturevalue("postgres")))
        store = open_store(url)
        episodes = shop_episodes(store, EPISODES)
        judged(work(store, episodes, WHOLE), episodes, concurrency=4)
        found = table(store, "whole")
        store.close()
        assert len(found) == EPISODES * REVIEWS * REPEATS
        yield url, episodes, found


def table(store, run):
    found = read_pass(Reader(store), run)
    return [(one.episode, one.repeat, one.segment, one.verdict, one.counterfactual) for one in found.answers]


def begin(url, episodes, run):
    store = open_store(url)
    begun(store, episodes, Plan(run, "scripted:second", repeat=REPEATS))
    store.close()


def require_whole(log, run):
    """Every selected review of every repeat has exactly one counted verdict, and it is the one of the whole run."""
    url, _, whole = log
    store = open_store(url)
    items = [(one.parent, one.verdict_seq, one.repeat) for one in runs.items(store, run) if one.verdict_seq >= 0]
    found = table(store, run)
    given = sum(
        isinstance(event.body, VerdictGiven)
        for child in Reader(store).episodes()
        if child.run == run
        for event in store.read(child.episode, prompts=False)
    )
    store.close()

    assert Counter(items).most_common(1)[0][1] == 1
    assert len(items) == EPISODES * REVIEWS * REPEATS
    assert found == whole
    return given


@pytest.mark.parametrize(("kind", "mean"), [("any", 150), ("count", 60), ("statement", 1500)])
def test_a_run_killed_again_and_again_comes_to_the_table_of_one_that_never_was(rejudger, log, kind, mean):
    url, episodes, _ = log
    run, draw = f"killed-{kind}", random.Random(f"{kind} {url[:6]}")  # noqa: S311 - where to kill
    begin(url, episodes, run)
    kills = 0
    while rejudger(url=url, run=run, kind=kind, at=draw.randint(1, 2 * mean))["signal"] == signal.SIGKILL:
        kills += 1
    rejudger(url=url, run=run)

    given = require_whole(log, run)
    print(f"{kind}: {kills} kills, {given} verdicts given for {EPISODES * REVIEWS * REPEATS}")  # noqa: T201 - with -s
    assert kills >= 6


def test_a_verdict_whose_writer_was_killed_before_it_counted_is_counted_and_not_given_again(rejudger, log):
    url, episodes, _ = log
    begin(url, episodes, "between")
    for at in (1, 9, 17):  # the first of two points around a count: the verdict is in the log, its item is not
        assert rejudger(url=url, run="between", kind="count", at=at, concurrency=1)["signal"] == signal.SIGKILL
    done = rejudger(url=url, run="between", concurrency=1)

    assert done["signal"] == 0
    assert require_whole(log, "between") == EPISODES * REVIEWS * REPEATS


def start(url, run):
    job = {"url": url, "run": run, "pause_s": 0.002, "concurrency": 3}
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
    command = [sys.executable, str(HERE / "rejudge.py"), json.dumps(job)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)


def test_two_processes_at_once_give_each_verdict_once(log):
    url, episodes, _ = log
    begin(url, episodes, "both")
    both = [start(url, "both") for _ in range(2)]
    told = [json.loads(one.communicate(timeout=240)[0]) for one in both]
    left = start(url, "both")
    left.communicate(timeout=240)

    given = require_whole(log, "both")
    assert all(one["new"] > 0 for one in told)
    assert given == EPISODES * REVIEWS * REPEATS


def test_of_two_processes_one_is_killed_and_the_other_loses_nothing(log):
    url, episodes, _ = log
    begin(url, episodes, "one-of-two")
    killed, other = start(url, "one-of-two"), start(url, "one-of-two")
    time.sleep(3)
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=240)
    other.communicate(timeout=240)
    start(url, "one-of-two").communicate(timeout=240)

    require_whole(log, "one-of-two")
