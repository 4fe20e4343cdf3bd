from dataclasses import replace

import pytest

from spectrace.core.events import ActCompleted, GenerateCompleted, Parent, VerdictGiven
from spectrace.core.tally import Tally
from spectrace.store.counting import totals_so_far
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.sql import open_store
from tests.damage import damage

BODIES = sample_episode(3)


@pytest.fixture
def store(database_url):
    opened = open_store(database_url)
    for name in ("other", "ep"):
        writer = opened.create(name, BODIES[0], EPOCH_US)
        writer.append(pending(BODIES)[1:-1], durable=False)
        writer.close()
    yield opened
    opened.close()


def test_rows_are_counted_as_their_events_are(store):
    tally = Tally()
    for body in BODIES[:-1]:
        tally.count(body)
    expected = tally.totals

    assert totals_so_far(store.database, store.log.number("ep")) == expected
    assert 0 not in (expected.steps, expected.rejections, expected.repairs, expected.weak_calls, expected.discarded)


def test_what_cannot_be_read_is_not_counted_and_nothing_is_refused(store):
    if store.database.sqlite:
        damage(store.database.path, "UPDATE events SET payload = x'00' WHERE type = 6")
        found = totals_so_far(store.database, store.log.number("ep"))

        assert (found.weak_calls, found.strong_calls, found.steps > 0) == (0, 0, True)


def test_what_a_resumed_episode_took_over_is_not_counted_again(store):
    resumed = [replace(BODIES[0], parent=Parent("resume", "ep", 9)), *BODIES[1:-1]]
    acts = [n for n, body in enumerate(resumed) if isinstance(body, ActCompleted)]
    for n in acts[::2]:
        resumed[n] = replace(resumed[n], source="record")
    writer = store.create("child", resumed[0], EPOCH_US)
    writer.append(pending(resumed)[1:], durable=False)
    writer.close()
    tally = Tally()
    for body in resumed:
        tally.count(body)
    found = totals_so_far(store.database, store.log.number("child"))

    assert found == tally.totals
    assert found.reads + found.writes < sum(isinstance(body, ActCompleted) for body in BODIES)


@pytest.mark.parametrize("kind", ["fork", "resume"])
def test_the_reviews_that_a_child_took_over_are_its_parents(database_url, kind):
    bodies = [
        replace(body, source="record") if isinstance(body, GenerateCompleted) and seq < 40 else body
        for seq, body in enumerate(BODIES)
    ]
    begun = replace(bodies[0], parent=Parent(kind, "ep", 39))
    opened = open_store(database_url)
    writer = opened.create("child", begun, EPOCH_US)
    writer.append(pending(bodies)[1:-1], durable=False)
    writer.close()
    tally = Tally()
    for body in [begun, *bodies[1:-1]]:
        tally.count(body)
    found = totals_so_far(opened.database, opened.log.number("child"))
    opened.close()

    assert found == tally.totals
    assert 0 < found.reviews < sum(isinstance(body, VerdictGiven) for body in BODIES)
