import pytest

from spectrace.core.rereviews import REVERIFY
from spectrace.store import run_offers, runs
from spectrace.store.sql import open_store
from tests.shop_log import recorded, reverified

ACCEPT = '{"verdict": "accept"}'


@pytest.fixture
def store(database_url):
    store = open_store(database_url)
    yield store
    store.close()


def test_runs_are_offered_until_they_are_cancelled(store):
    for name in ("a", "b", "c"):
        runs.begin(store, name, "reverify", [("e", "00")], f'{{"verifier": "{name}"}}')
    runs.begin(store, "d", "run", [], "{}")
    runs.cancel(store, "b")

    assert run_offers.uncancelled(store, "reverify") == [("a", '{"verifier": "a"}'), ("c", '{"verifier": "c"}')]


def test_the_first_child_of_a_run_is_found(store):
    episode = recorded(store)
    before = run_offers.first_episode(store, "again", REVERIFY)
    reverified(store, episode, "again", [ACCEPT] * 3)
    first = run_offers.first_episode(store, "again", REVERIFY)
    reverified(store, episode, "again", [ACCEPT] * 3)

    assert before is None
    assert next(iter(store.read(first))).body.run == "again"
    assert run_offers.first_episode(store, "again", REVERIFY) == first
