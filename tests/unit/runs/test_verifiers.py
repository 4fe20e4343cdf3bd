"""A judge in a model's place: asked by position, recorded and replayed as any other verifier."""

import asyncio
from dataclasses import dataclass, field

import pytest

from spectrace.core.commands import Generate
from spectrace.core.fold import fold
from spectrace.core.review_request import review_requests
from spectrace.core.reviews import rereview, reviews_of
from spectrace.core.roles import Budget, Desk
from spectrace.core.setup import setup_of
from spectrace.core.types import Completion, Message, ModelFacts, ModelRequest, Role
from spectrace.errors import UsageError
from spectrace.models.judge import ACCEPT, rejection
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.replay import replay_episode
from spectrace.runs.reverify import reverify_episode
from spectrace.runs.verifiers import (
    JudgePool,
    Single,
    VerifierSource,
    covers,
    pool_of,
    require_scoring,
    verifier_source,
)
from spectrace.store.memory import MemoryEventStore
from tests.episodes import record_shop, recorded_events


@dataclass
class Cautious:
    """Rejects what has a held step, and knows nothing of the third segment."""

    most: int = 2
    asked: list = field(default_factory=list)
    closed: bool = False

    async def facts(self):
        return ModelFacts("", "function", "cautious")

    def covers(self, request):
        return request.segment <= self.most

    def unused(self):
        return ("It could say more.",)

    async def judge(self, request):
        self.asked.append(request)
        held = request.steps[-1].observation is None
        return Completion(Message("assistant", rejection(0, None, "held") if held else ACCEPT), finish_reason="stop")

    async def close(self):
        self.closed = True


@pytest.fixture
def requests():
    episode = fold(recorded_events())
    return review_requests(episode.id, setup_of(episode.started), reviews_of(episode))


def question(position, content="?"):
    return Generate(Role.REVIEWER, "strong", position, ModelRequest((Message("user", content),)))


def test_a_judge_is_asked_about_the_review_at_the_position_with_the_prompt_that_a_model_gets(requests):
    judge = Cautious()
    source = verifier_source(JudgePool(judge), requests[0].episode, requests)
    answer = asyncio.run(source.generate("", 5, question("s2", "REVIEW")))

    assert isinstance(source, VerifierSource)
    assert ([one.segment for one in judge.asked], judge.asked[0].prompt) == ([2], (Message("user", "REVIEW"),))
    assert (answer.source, '"verdict": "reject"' in answer.completion.message.content) == ("live", True)


def test_a_question_about_no_review_is_refused(requests):
    source = VerifierSource(Cautious(), requests)

    with pytest.raises(UsageError, match=r"event 5.*s1, s2, s3, found 's9'"):
        asyncio.run(source.generate("", 5, question("s9")))


def test_a_judge_answers_no_prompt_without_its_review():
    client = JudgePool(Cautious()).client("e1")

    with pytest.raises(UsageError, match="function:cautious judges recorded reviews"):
        asyncio.run(client.generate(ModelRequest((Message("user", "hi"),))))


def test_a_single_model_answers_for_every_episode(requests):
    model = ScriptedModel([ACCEPT])
    pool = Single(model)
    source = verifier_source(pool, "e1", requests)

    assert (pool.client("e1"), pool.client("e2")) == (model, model)
    assert asyncio.run(source.generate("", 5, question("s1"))).completion.message.content == ACCEPT
    assert asyncio.run(pool.facts()).provider == "scripted"


def test_a_client_is_a_pool_of_one_and_a_pool_stays_itself():
    model, pool = ScriptedModel(), JudgePool(Cautious())

    assert pool_of(model).client("e1") is model
    assert pool_of(pool) is pool


def test_a_pass_asks_a_judge_about_what_it_covers_and_its_child_replays_without_it():
    store = MemoryEventStore()
    parent = asyncio.run(record_shop(store)).episode
    events, judge = list(store.read(parent)), Cautious()
    rows, outcome = asyncio.run(reverify_episode(events, JudgePool(judge), store, "again"))
    child = list(store.read(rows[0].child))
    asked = len(judge.asked)

    assert [(row.segment, row.new.decision) for row in rows] == [(1, "reject"), (2, "reject")]
    assert (outcome.status, child[0].body.models[0].provider) == ("completed", "function")
    assert asyncio.run(replay_episode(child, parent=events)).result == "same"
    assert len(judge.asked) == asked


def test_an_episode_of_which_nothing_is_covered_has_no_child():
    store = MemoryEventStore()
    parent = asyncio.run(record_shop(store)).episode
    judge = Cautious(most=0)

    assert asyncio.run(reverify_episode(list(store.read(parent)), JudgePool(judge), store, "again"))[0] == []
    assert list(store._logs) == [parent]


def test_a_pool_closes_what_it_holds():
    judge = Cautious()
    asyncio.run(JudgePool(judge).close())

    assert judge.closed


def test_a_judge_says_what_it_covers_and_a_model_may_answer_everything(requests):
    assert [covers(Single(ScriptedModel()), one) for one in requests] == [True, True, True]
    assert [covers(JudgePool(Cautious()), one) for one in requests] == [True, True, False]


def test_requests_stand_at_the_positions_that_a_re_verification_asks(requests):
    episode = fold(recorded_events())
    first = next(rereview(Desk(setup_of(episode.started), Budget()), reviews_of(episode)))

    assert first.position == requests[0].position


def test_a_verifier_that_gives_no_probabilities_is_refused_where_a_verdict_is_to_be_scored():
    require_scoring(Single(ScriptedModel(lambda _: "")), "m")
    with pytest.raises(UsageError, match=r"the verifier m:f gives none: it decides by itself.*sglang:NAME@URL"):
        require_scoring(JudgePool(Cautious()), "m:f")
    with pytest.raises(UsageError, match="the verifier m gives none: it only writes"):
        require_scoring(Single(ScriptedModel(ACCEPT)), "m")
