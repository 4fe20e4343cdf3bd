"""What a run will take, counted before anything is asked."""

import asyncio
from dataclasses import replace

import pytest

from spectrace.core.events import GenerateRequested, VerdictGiven
from spectrace.core.prompts import Prompts
from spectrace.core.types import Completion, Message, ModelFacts, Usage
from spectrace.errors import ModelFailed
from spectrace.runs.fork import Edit
from spectrace.runs.pass_estimate import estimate
from spectrace.runs.pass_plan import Plan
from spectrace.runs.verifiers import JudgePool
from spectrace.store import runs
from spectrace.store.sql import open_store
from tests.episodes import DONE, STRONG, record_shop
from tests.forks import first, fork
from tests.playbook import accept
from tests.resumes import cut
from tests.verifying import judged, shop_episodes, verifier, work

ANN = Edit('{"verdict": "accept"}', "person:Ann")
PLAN = Plan("again", "scripted:second", repeat=2)
FACTS = ModelFacts("strong", "scripted", "second", price='{"input": "2", "cached": "1", "output": "4"}')


@pytest.fixture
def store(tmp_path):
    opened = open_store(str(tmp_path / "log.db"))
    yield opened
    opened.close()


def test_without_counts_a_token_is_four_characters_of_the_prompts_that_are_then_asked(store):
    (episode,) = shop_episodes(store, 1)
    at_work = work(store, [episode], replace(PLAN, repeat=1), verifier([accept()] * 3))
    found = estimate(at_work, FACTS, [episode])
    judged(at_work, [episode])
    (child,) = at_work.arbiter.children(episode)
    asked = [event.body.messages for event in store.read(child) if isinstance(event.body, GenerateRequested)]

    assert (found.reviews, found.calls, found.counted) == (3, 3, 0)
    assert found.prompt_tokens == sum(-(-sum(len(one.content) for one in messages) // 4) for messages in asked)
    assert found.micro_usd(FACTS) == 2 * found.prompt_tokens
    assert found.micro_usd(replace(FACTS, price=None)) is None


def test_recorded_counts_are_taken_where_the_prompts_are_the_recorded_ones(store):
    strong = [Completion(Message("assistant", reply), usage=Usage(1000, 0, 50)) for reply in STRONG]
    episode = asyncio.run(record_shop(store, strong=strong)).episode
    recorded = estimate(work(store, [episode], PLAN), FACTS, [episode])
    other = estimate(work(store, [episode], replace(PLAN, run="new"), prompts=Prompts()), FACTS, [episode])

    assert (recorded.calls, recorded.counted, recorded.prompt_tokens, recorded.output_tokens) == (6, 6, 6000, 300)
    assert recorded.micro_usd(FACTS) == 2 * 6000 + 4 * 300
    assert (other.calls, other.counted, other.written) == (6, 0, 0)


def test_what_is_judged_already_is_not_counted_again(store):
    episodes = shop_episodes(store, 2)
    replies = [accept(), accept(), accept(), accept(), ModelFailed("budget", "stop")]
    judged(work(store, episodes, PLAN, verifier(replies)), episodes)
    found = estimate(work(store, episodes, PLAN), FACTS, episodes)
    judged(work(store, episodes, PLAN), episodes)
    whole = estimate(work(store, episodes, PLAN), FACTS, episodes)

    assert (found.reviews, found.before, found.calls) == (12, 4, 8)
    assert (whole.reviews, whole.before, whole.calls, whole.prompt_tokens) == (12, 12, 0, 0)


def test_an_episode_that_is_not_the_selected_one_is_told_and_hides_no_other(store):
    odd, good = shop_episodes(store, 2)
    runs.begin(store, "again", "reverify", [(odd, "00" * 32), (good, store.row(good).head.hex())], PLAN.to_json())
    found = estimate(work(store, [odd, good], PLAN), FACTS, [odd, good])

    assert (list(found.unread), found.calls) == ([odd], 6)


class OneLabel:
    """Somebody who has labelled the first segment of everything."""

    async def facts(self):
        return ModelFacts("", "labels", "people")

    def covers(self, request):
        return request.segment == 1

    def unused(self):
        return ()

    async def judge(self, request):
        return Completion(Message("assistant", accept()))

    async def close(self):
        pass


def test_what_nobody_labelled_is_left_out_and_labels_read_no_prompt(store):
    episodes = shop_episodes(store, 2)
    at_work = work(store, episodes, PLAN)
    at_work.pool = JudgePool(OneLabel())
    facts = asyncio.run(at_work.pool.facts())
    found = estimate(at_work, facts, episodes)
    judge = judged(at_work, episodes)
    again = estimate(at_work, facts, episodes)

    assert (found.reviews, found.left_out, found.calls, found.prompt_tokens) == (12, 8, 4, 0)
    assert [(one.new, one.left_out) for one in judge] == [(1, 2)] * 4
    assert (again.before, again.left_out, again.calls) == (4, 8, 0)


def test_scored_verdicts_decode_nothing_but_the_reasons_of_what_is_rejected(store):
    strong = [Completion(Message("assistant", reply), usage=Usage(1000, 0, 50)) for reply in STRONG]
    episode = asyncio.run(record_shop(store, strong=strong)).episode
    plan = replace(PLAN, verdict="scored")
    found = estimate(work(store, [episode], plan), FACTS, [episode])

    assert (found.calls, found.reasons, found.counted, found.written) == (6, 2, 6, 6)
    assert (found.prompt_tokens, found.output_tokens) == (2 * (2000 + 1000 + 1000), 2 * 50)


def test_what_a_scored_rejection_will_write_is_unknown_where_nobody_counted(store):
    (episode,) = shop_episodes(store, 1)
    found = estimate(work(store, [episode], replace(PLAN, verdict="scored")), FACTS, [episode])

    assert (found.calls, found.reasons, found.written, found.output_tokens) == (6, 2, 4, 0)


def test_a_review_that_a_fork_took_over_is_judged_once_with_its_parent_and_told(store):
    (episode,) = shop_episodes(store, 1)
    events = list(store.read(episode))
    child = fork(events, first(events, VerdictGiven), weak=[DONE], strong=[accept()], edit=ANN)
    again = cut(store, child, len(child) - 1)
    at_work = work(store, [episode, again], replace(PLAN, repeat=1), verifier([accept()] * 5))
    found = estimate(at_work, FACTS, [episode, again])
    other = cut(store, fork(events, first(events, VerdictGiven, 1), weak=[DONE], strong=[accept()]), 30, "other")
    told = estimate(work(store, [other], replace(PLAN, run="new"), verifier([])), FACTS, [other])

    assert (found.reviews, found.parents, told.parents) == (5, 0, 2)


class NoLabel(OneLabel):
    """Somebody who has labelled nothing yet."""

    def covers(self, request):
        return False


def test_what_was_left_out_is_judged_once_somebody_has_labelled_it(store):
    episodes = shop_episodes(store, 2)
    at_work = work(store, episodes, PLAN)
    at_work.pool = JudgePool(NoLabel())
    nothing = judged(at_work, episodes)
    at_work.pool = JudgePool(OneLabel())
    found = estimate(at_work, asyncio.run(at_work.pool.facts()), episodes)
    filled = judged(at_work, episodes)

    assert [(one.new, one.left_out) for one in nothing] == [(0, 3)] * 4
    assert (found.reviews, found.left_out, found.calls) == (12, 8, 4)
    assert [(one.new, one.left_out) for one in filled] == [(1, 2)] * 4
