"""Several episodes judged again in one process: in order, so many at once, for so much money."""

import asyncio

import pytest

from spectrace.audit.answers import Filters
from spectrace.audit.queries import Reader
from spectrace.core.rereviews import scope_of
from spectrace.core.types import Completion, Message, ModelFacts, Usage
from spectrace.cost.prices import read_prices
from spectrace.errors import ModelFailed, UsageError
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.pass_plan import Plan
from spectrace.runs.purse import Purse
from spectrace.runs.reverify_all import reverify_all
from spectrace.runs.verifiers import Single
from spectrace.store.memory import MemoryEventStore
from tests.playbook import accept
from tests.shop_log import recorded
from tests.verifying import by_prompt, scoring, verifier

PRICES = read_prices({"scripted:second": {"input": 1, "cached": 1, "output": 1, "since": "2026-01-01"}}, "test")


class Unpriced(ScriptedModel):
    async def facts(self):
        return ModelFacts("", "elsewhere", "m")


@pytest.fixture
def store():
    return MemoryEventStore()


@pytest.fixture
def episodes(store):
    return [recorded(store) for _ in range(3)]


def judged(store, episodes, model, plan, **more):
    return asyncio.run(reverify_all(store, episodes, Single(model), plan, **more))


def places(rows):
    return [(row.episode, row.repeat, row.segment) for row in rows]


@pytest.mark.parametrize("concurrency", [1, 4])
def test_rows_come_by_episode_and_repeat_however_many_are_at_work(store, episodes, concurrency):
    rows = judged(store, episodes, verifier(by_prompt), Plan("again", "m", repeat=2), concurrency=concurrency)

    assert places(rows) == [(one, repeat, n) for one in episodes for repeat in (1, 2) for n in (1, 2, 3)]
    firsts = [next(iter(store.read(child, 0, 1))).body for child in dict.fromkeys(row.child for row in rows)]
    assert [scope_of(one).repeat for one in firsts] == [1, 2] * 3
    assert {one.concurrency for one in firsts} == {concurrency}


def test_once_the_money_is_spent_nothing_more_is_begun(store, episodes):
    dear = Completion(Message("assistant", accept()), usage=Usage(300_000, 0, 0))
    purse = Purse("1", of_run=True)
    rows = judged(store, episodes, verifier(lambda _: dear), Plan("again", "m"), prices=PRICES, purse=purse)
    ends = [list(store.read(child))[-1].body for child in dict.fromkeys(row.child for row in rows)]

    assert places(rows) == [(episodes[0], 1, 1), (episodes[0], 1, 2), (episodes[0], 1, 3), (episodes[1], 1, 1)]
    assert [(one.outcome, one.reason) for one in ends] == [("completed", "reviewed"), ("truncated", "run_max_cost_usd")]


def test_money_without_a_price_is_refused_before_anything_is_recorded(store, episodes):
    before = len(list(Reader(store).iter_episodes(Filters())))
    with pytest.raises(UsageError, match="max_cost_usd needs a price"):
        judged(store, episodes, Unpriced(accept(), repeat=True), Plan("again", "m"), purse=Purse("1"))

    assert len(list(Reader(store).iter_episodes(Filters()))) == before


def test_a_verifier_that_cannot_score_is_refused_before_anything_is_recorded(store, episodes):
    before = len(list(Reader(store).iter_episodes(Filters())))
    with pytest.raises(UsageError, match="the verifier m gives none"):
        judged(store, episodes, verifier(accept()), Plan("again", "m", verdict="scored"))

    assert len(list(Reader(store).iter_episodes(Filters()))) == before


def test_scored_verdicts_are_read_at_the_threshold(store, episodes):
    rows = judged(store, episodes, scoring(lambda _: 1.0), Plan("again", "m", verdict="scored", threshold="0.8"))

    assert {(row.new.decision, row.new.probabilities[:11]) for row in rows} == {("reject", '["0.731059"')}


def test_the_first_that_cannot_be_asked_ends_the_others(store, episodes):
    class Away(Single):
        def client(self, episode):
            if episode == episodes[1]:
                raise ModelFailed("unreachable", "nobody there")
            return super().client(episode)

    pool = Away(verifier(by_prompt))
    with pytest.raises(ModelFailed, match="nobody there"):
        asyncio.run(reverify_all(store, episodes, pool, Plan("again", "m"), concurrency=2))
