from dataclasses import replace

import pytest

from spectrace.core.types import ModelFacts
from spectrace.errors import UsageError
from spectrace.store import overview
from spectrace.store.overview import Wanted, episodes
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.sql import open_store

pytestmark = pytest.mark.slow

BODIES = sample_episode(1, segments=2)
CALM = sample_episode(1, segments=1)
STARTED = BODIES[0]


@pytest.fixture
def store(database_url):
    opened = open_store(database_url)
    for number in range(5):
        models = (ModelFacts("weak", "local", f"Small-{number}"), STARTED.models[1])
        started = replace(
            STARTED,
            project="even" if number % 2 == 0 else "odd",
            labels=(("number", str(number)), ("team", "a")),
            task=replace(STARTED.task, id=f"t{number}"),
            models=models,
            run="first" if number < 3 else None,
        )
        bodies = CALM if number == 4 else BODIES
        writer = opened.create(f"ep{number}", started, EPOCH_US + number)
        writer.append(pending(bodies)[1 : 20 if number == 3 else None], durable=False)
        writer.close()
    opened.create("live", STARTED, EPOCH_US + 9)
    yield opened
    opened.close()


def ids(store, **wanted):
    return [one.row.episode for one in episodes(store, Wanted(**wanted))]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, ["live", "ep4", "ep3", "ep2", "ep1", "ep0"]),
        ({"status": ("completed",)}, ["ep4", "ep2", "ep1", "ep0"]),
        ({"status": ("interrupted",)}, ["ep3"]),
        ({"status": ("running", "interrupted")}, ["live", "ep3"]),
        ({"project": ("odd",)}, ["ep3", "ep1"]),
        ({"task": ("t1", "t4")}, ["ep4", "ep1"]),
        ({"run": ("first",)}, ["ep2", "ep1", "ep0"]),
        ({"model": ("Small-2",)}, ["ep2"]),
        ({"model": ("small-2",)}, []),
        ({"labels": (("number", "3"),)}, ["ep3"]),
        ({"labels": (("number", "3"), ("team", "a"))}, ["ep3"]),
        ({"labels": (("numb", "3"),)}, []),
        ({"rejected": True}, ["ep2", "ep1", "ep0"]),
        ({"env": (STARTED.environment.name,), "protocol": ("specagent",), "task": ("t0",)}, ["ep0"]),
        ({"env": ("elsewhere",)}, []),
        ({"tool": (STARTED.tools[1].name,)}, ["ep4", "ep3", "ep2", "ep1", "ep0"]),
        ({"tool": ("no_such",)}, []),
        ({"since": EPOCH_US + 3, "until": EPOCH_US + 5}, ["ep4", "ep3"]),
        ({"limit": 2}, ["live", "ep4"]),
        ({"limit": 2, "after": "ep4"}, ["ep3", "ep2"]),
        ({"after": "ep0"}, []),
        ({"task": ("a\0b\ud800",)}, []),
    ],
)
def test_each_filter_finds_its_episodes_newest_first(store, wanted, expected):
    assert ids(store, **wanted) == expected


def test_pages_join_without_gaps(store, monkeypatch):
    monkeypatch.setattr(overview, "_PAGE", 2)

    assert ids(store) == ["live", "ep4", "ep3", "ep2", "ep1", "ep0"]


def test_an_ended_episode_tells_what_its_events_counted(store):
    one = next(episodes(store, Wanted(task=("t0",))))

    assert (one.status, one.end_reason, one.reward) == ("completed", "finish", "1")
    assert (one.totals.rejections, one.totals.repairs, one.totals.segments) == (1, 1, 2)
    assert one.row == store.row("ep0")


def test_an_interrupted_episode_is_counted_from_its_events(store):
    one = next(episodes(store, Wanted(task=("t3",))))

    assert one.totals.steps == sum(body.TYPE == "step.drafted" for body in BODIES[:20])


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_is_at_least_one(store, limit):
    with pytest.raises(UsageError, match="--limit is at least 1"):
        ids(store, limit=limit)
