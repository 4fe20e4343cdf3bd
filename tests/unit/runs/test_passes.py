"""What is left of a run is judged, whatever became of those who began it; nothing is lost, nothing counts twice."""

import asyncio
import gc
import json
from collections import Counter
from datetime import date
from decimal import Decimal

import pytest

from spectrace.audit.passes import read_pass
from spectrace.audit.queries import Reader
from spectrace.core.events import EpisodeStarted, GenerateRequested, OutcomeSettled
from spectrace.core.fold import Episode
from spectrace.core.types import Completion, Message, ModelFacts, Usage
from spectrace.cost.prices import Price
from spectrace.errors import ModelFailed, StoreError
from spectrace.runs.pass_estimate import estimate
from spectrace.runs.pass_plan import Part, Plan
from spectrace.runs.passes import BUSY, judge_shard
from spectrace.runs.purse import Purse
from spectrace.runs.replay import replay_episode
from spectrace.runs.reverify import parent_at
from spectrace.store import runs
from spectrace.store.event_store import Pending
from spectrace.store.sql import open_store
from tests.episodes import CANCEL, DONE, record_shop
from tests.playbook import accept
from tests.verifying import begun, by_prompt, judged, scores, scoring, shop_episodes, verifier, work

PLAN = Plan("again", "scripted:second")
TWICE = Plan("again", "scripted:second", repeat=2)


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "log.db"))
    yield opened
    opened.close()


def table(store, run="again"):
    """What a run says, without the children that said it."""
    found = read_pass(Reader(store), run)
    return [(one.episode, one.repeat, one.segment, one.verdict, one.counterfactual) for one in found.answers]


def children(store, run="again"):
    return [one for one in Reader(store).episodes() if one.run == run]


class Breaking:
    """A verifier that answers so many calls, and then as it is told."""

    def __init__(self, calls, then):
        self._left, self._then = calls, then

    def __call__(self, request):
        self._left -= 1
        return by_prompt(request) if self._left >= 0 else self._then


def test_every_review_of_every_repeat_is_judged_in_its_own_child(store):
    episodes = shop_episodes(store, 3)
    parts = judged(work(store, episodes, TWICE), episodes, concurrency=4)

    assert Counter((one.repeat, one.new, one.left) for one in parts) == {(1, 3, 0): 3, (2, 3, 0): 3}
    assert Counter((one[0], one[1]) for one in table(store)) == {(name, n): 3 for name in episodes for n in (1, 2)}
    firsts = [Reader(store).first(one.episode).body for one in children(store)]
    options = [json.loads(one.options) for one in firsts]
    assert {one.concurrency for one in firsts} == {4}
    assert sorted((one["repeat"], one["segments"]) for one in options) == [(1, [1, 2, 3])] * 3 + [(2, [1, 2, 3])] * 3


def test_what_is_done_is_not_looked_into_again(store):
    episodes = shop_episodes(store, 2)
    judged(work(store, episodes, PLAN), episodes)
    again = judged(work(store, episodes, PLAN, verifier([])), episodes)

    assert again == [Part(name, 1, before=3) for name in episodes]
    assert len(children(store)) == 2


@pytest.mark.parametrize("kind", ["server", "budget"])
def test_going_on_asks_only_what_failed_or_was_not_asked(store, kind):
    episodes = shop_episodes(store, 3)
    whole = table_of_another(store, episodes)
    broken = judged(work(store, episodes, PLAN, verifier(Breaking(4, ModelFailed(kind, "gone")))), episodes)
    after = judged(work(store, episodes, PLAN), episodes)

    assert sum(one.left for one in broken) > 0
    assert broken[-1].why == "gone"
    assert [one.left for one in after] == [0, 0, 0]
    assert table(store) == whole


def table_of_another(store, episodes):
    """Return what a run that nobody interrupts says."""
    judged(work(store, episodes, Plan("whole", "scripted:second")), episodes)
    return table(store, "whole")


def test_a_prompt_that_does_not_fit_is_an_answer_and_keeps_no_other_from_its_own(store):
    (episode,) = shop_episodes(store, 1)
    long = ModelFailed("context", "does not fit")
    first = judged(work(store, [episode], PLAN, verifier([accept(), long, accept()])), [episode])
    again = judged(work(store, [episode], PLAN, verifier([])), [episode])
    (child,) = children(store)
    events = list(store.read(child.episode))

    assert (first[0].new, first[0].left, again[0].before) == (3, 0, 3)
    assert [line[2] for line in table(store)] == [1, 3]
    assert read_pass(Reader(store), "again").too_long == {(episode, 1, 2)}
    assert (child.status, child.end_reason) == ("completed", "reviewed")
    assert asyncio.run(replay_episode(events, parent=list(store.read(episode)))).result == "same"


def test_an_answer_that_breaks_the_api_leaves_its_review_and_no_other(store):
    (episode,) = shop_episodes(store, 1)
    odd = ModelFailed("invalid", "no JSON")
    first = judged(work(store, [episode], PLAN, verifier([odd, accept(), accept()])), [episode])
    again = judged(work(store, [episode], PLAN, verifier([accept()])), [episode])

    assert (first[0].new, first[0].left) == (2, 1)
    assert (again[0].new, again[0].left) == (1, 0)
    assert [line[2] for line in table(store)] == [1, 2, 3]


def test_an_episode_with_nothing_to_review_is_done_and_has_no_child(store):
    episode = asyncio.run(record_shop(store, strong=[accept()] * 2, weak=[CANCEL, DONE])).episode
    plan = Plan("again", "scripted:second", only_rejected=True)
    first = judged(work(store, [episode], plan), [episode])

    assert first == [Part(episode, 1)]
    assert children(store) == []
    assert read_pass(Reader(store), "again").ended[episode, 1].reason == "nothing_to_review"


def test_a_verdict_whose_count_was_lost_is_counted_from_its_log(store):
    episodes = shop_episodes(store, 2)
    lost = begun(store, episodes, PLAN)
    lost.count = lambda item: True  # a process that was killed each time before it counted
    judged(work(store, episodes, PLAN, arbiter=lost), episodes)
    before = table(store)
    after = judged(work(store, episodes, PLAN, verifier([])), episodes)

    assert [(one.before, one.new) for one in after] == [(3, 0), (3, 0)]
    assert table(store) == before
    assert len([one for one in runs.items(store, "again") if one.verdict_seq >= 0]) == 6


def test_a_part_that_somebody_else_works_on_is_left_to_them(store):
    (episode,) = shop_episodes(store, 1)
    inside = []

    async def looks(request):
        if not inside:
            other = work(store, [episode], PLAN, verifier([]))
            inside.extend(await judge_shard(other, [episode]))
        return by_prompt(request)

    parts = judged(work(store, [episode], PLAN, verifier(looks)), [episode])

    assert [(one.why, one.left) for one in inside] == [(BUSY, 3)]
    assert parts[0].new == 3
    assert len(children(store)) == 1


def test_of_two_that_begin_at_once_one_gives_way_and_each_verdict_counts_once(store):
    episodes = shop_episodes(store, 4)
    begun(store, episodes, PLAN)

    async def both():
        two = [work(store, episodes, PLAN) for _ in range(2)]
        return await asyncio.gather(*(judge_shard(one, episodes, concurrency=4) for one in two))

    parts = [part for those in asyncio.run(both()) for part in those]

    assert sum(one.new for one in parts) == 12
    assert len(table(store)) == 12
    assert len([one for one in runs.items(store, "again") if one.verdict_seq >= 0]) == 12


def test_a_run_that_is_cancelled_stops_before_its_next_verdict(store):
    episodes = shop_episodes(store, 3)

    def cancels(request):
        runs.cancel(store, "again")
        return accept()

    at_work = work(store, episodes, PLAN, verifier(cancels))
    parts = judged(at_work, episodes)

    assert [(one.new, one.left, one.why, one.then) for one in parts] == [(1, 2, "run_cancelled", "stop")]
    assert at_work.stopped == "run_cancelled"
    assert [one.end_reason for one in children(store)] == ["run_cancelled"]


def test_a_purse_that_is_empty_leaves_the_rest_for_a_larger_one(store):
    episodes = shop_episodes(store, 2)
    price = Price(Decimal(1), Decimal(1), Decimal(1), date(2026, 1, 1), "test")
    prices = {"scripted:second": [price]}

    def paid(request):
        return Completion(Message("assistant", accept()), usage=Usage(600_000, 0, 0))

    short = work(store, episodes, PLAN, verifier(paid), prices=prices, purse=Purse("1", of_run=True))
    parts = judged(short, episodes)
    more = judged(work(store, episodes, PLAN, verifier(paid), prices=prices, purse=Purse("9", of_run=True)), episodes)

    assert [(one.new, one.why, one.then) for one in parts] == [(2, "run_max_cost_usd", "stop")]
    assert [(one.before, one.new) for one in more] == [(2, 1), (0, 3)]


def test_a_verifier_that_is_gone_for_all_is_not_asked_for_every_episode(store):
    episodes = shop_episodes(store, 24)
    at_work = work(store, episodes, PLAN, verifier(Breaking(0, ModelFailed("unreachable", "nobody there"))))
    parts = judged(at_work, episodes)

    assert len(parts) == 20
    assert at_work.stopped == "the strong model failed 20 times in a row: nobody there"


def settle(store, episode):
    writer, row = store.reopen(episode), store.row(episode)
    body = OutcomeSettled(authority="person:ana", outcome="ok", request=3, evidence="a later word")
    writer.append([Pending(row.events, "", 1, body)], durable=True)
    writer.close()


def test_a_parent_that_grew_since_is_judged_as_it_was(store):
    (episode,) = shop_episodes(store, 1)
    arbiter = begun(store, [episode], PLAN)
    events = store.row(episode).events
    settle(store, episode)
    judged(work(store, [episode], PLAN, arbiter=arbiter), [episode])
    (child,) = children(store)
    started = Reader(store).first(child.episode).body

    assert store.row(episode).events == events + 1
    assert isinstance(started, EpisodeStarted)
    assert started.parent.seq == events - 1
    assert len(table(store)) == 3


def test_a_parent_that_was_never_so_is_refused_and_the_others_are_judged(store):
    odd, good = shop_episodes(store, 2)
    runs.begin(store, "again", "reverify", [(odd, "00" * 32), (good, store.row(good).head.hex())], PLAN.to_json())
    parts = judged(work(store, [odd, good], PLAN), [odd, good])

    assert [(one.new, one.why is None) for one in parts] == [(0, False), (3, True)]
    assert f"episode {odd} is not the one that the run selected" in parts[0].why
    with pytest.raises(StoreError, match="no event of its"):
        parent_at(store, odd, "00" * 32)


def test_a_pass_that_is_cancelled_ends_its_children_and_goes_on_later(store):
    episodes = shop_episodes(store, 3)
    whole = table_of_another(store, episodes)
    asked, both = [], asyncio.Event()

    async def stalls(request):
        asked.append(request)
        if len(asked) == 6:
            both.set()
        if len(asked) > 4:
            await asyncio.sleep(60)
        return by_prompt(request)

    async def interrupted():
        going = asyncio.create_task(judge_shard(work(store, episodes, PLAN, verifier(stalls)), episodes, concurrency=2))
        await both.wait()
        going.cancel()
        await asyncio.gather(going, return_exceptions=True)

    asyncio.run(interrupted())
    states = sorted(one.status for one in children(store))
    judged(work(store, episodes, PLAN), episodes)

    assert set(states) <= {"completed", "interrupted"}
    assert "interrupted" in states
    assert table(store) == whole


def test_the_question_of_every_repeat_is_the_recorded_one(store):
    (episode,) = shop_episodes(store, 1)
    judged(work(store, [episode], TWICE), [episode])

    def asked(name):
        return [
            event.body.messages
            for event in store.read(name)
            if isinstance(event.body, GenerateRequested) and event.body.role == "reviewer"
        ]

    firsts = [[one for one in asked(child.episode) if one[-1].role == "user"] for child in children(store)]
    recorded = asked(episode)
    assert [[one for one in those if one in recorded] for those in firsts] == [recorded] * 2


def test_of_a_large_selection_no_more_episodes_are_held_than_are_judged_at_once(store):
    episodes = shop_episodes(store, 8)
    at_once = []

    def held():
        return {id(one): one for one in gc.get_objects() if type(one) is Episode}

    def counts(request):
        at_once.append(len(held().keys() - others.keys()))
        return by_prompt(request)

    others = held()  # what other tests left, kept here so that none of it goes meanwhile

    at_work = work(store, episodes, PLAN, verifier(counts))
    estimate(at_work, ModelFacts("strong", "scripted", "second"), episodes)
    judged(at_work, episodes, concurrency=3)

    assert 1 <= max(at_once) <= 3


@pytest.mark.parametrize(("kind", "left"), [("server", 1), ("context", 0)])
def test_a_scored_rejection_whose_reason_is_not_given_has_no_verdict_yet_unless_it_never_fits(store, kind, left):
    (episode,) = shop_episodes(store, 1)
    plan = Plan("again", "scripted:second", verdict="scored")
    replies = [scores(-1.0), ModelFailed(kind, "no"), scores(1.0, 1.0), scores(1.0)]
    if kind == "server":
        del replies[2:]  # trouble of the provider ends a pass
    first = judged(work(store, [episode], plan, verifier(replies)), [episode])
    again = judged(work(store, [episode], plan, scoring(lambda _: 1.0)), [episode])
    children_ = [list(store.read(one.episode)) for one in children(store)]
    replays = [asyncio.run(replay_episode(one, parent=list(store.read(episode)))).result for one in children_]

    assert (first[0].left, again[0].left) == (3 * left, 0)
    assert [line[2] for line in table(store)] == ([1, 2, 3] if left else [2, 3])
    assert read_pass(Reader(store), "again").too_long == (frozenset() if left else {(episode, 1, 1)})
    assert replays == ["same"] * (1 + left)
