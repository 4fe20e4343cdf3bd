"""What every environment keeps, whoever wrote it: the port's promises, one by one."""

import asyncio

import pytest
from aio import in_loop
from environment_cases import CASES, HALF_A_PAIR, HOSTILE, SLOW, USER, Case

from spectrace.core.types import (
    Action,
    Call,
    Completion,
    Effect,
    EnvironmentFacts,
    Evaluation,
    Finish,
    Message,
    NeedsModel,
    Observation,
    Opening,
    Reply,
)


@pytest.fixture(params=[pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in CASES])
def case(request) -> Case:
    return CASES[request.param]


class Episode:
    """An environment with somebody beside it who answers when it asks for a model."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.environment = case.open()
        self.asked: list[NeedsModel] = []

    async def begin(self) -> Opening:
        self.task, self.asked = self.environment.tasks()[0], []
        self.facts = self.environment.prepare(self.task)
        opening = await self._answered(await self.environment.reset(1))
        assert isinstance(opening, Opening)
        return opening

    async def act(self, action: Action) -> Observation:
        observation = await self._answered(await self.environment.act(action))
        assert isinstance(observation, Observation)
        return observation

    async def grade(self) -> Evaluation:
        evaluation = await self._answered(await self.environment.evaluate())
        assert isinstance(evaluation, Evaluation)
        return evaluation

    async def _answered(self, answer):
        while isinstance(answer, NeedsModel):
            self.asked.append(answer)
            said = USER[min(len(self.asked), len(USER)) - 1]
            answer = await self.environment.resume(Completion(Message("assistant", said)))
        return answer


async def begun(case: Case) -> Episode:
    episode = Episode(case)
    await episode.begin()
    return episode


@in_loop
async def test_tasks_tools_and_instructions_are_there_and_the_same_in_every_instance(case):
    one, other = case.open(), case.open()
    task = one.tasks()[0]
    one.prepare(task)
    other.prepare(task)

    assert one.tasks() == other.tasks()
    assert one.tools() == other.tools()
    assert one.instructions(task) == other.instructions(task) != ""
    assert len({spec.name for spec in one.tools()}) == len(one.tools())


@in_loop
async def test_the_effects_of_the_calls_are_what_the_tools_declare(case):
    environment = case.open()
    environment.prepare(environment.tasks()[0])
    effects = {spec.name: spec.effect for spec in environment.tools()}

    assert (effects[case.read.tool], effects[case.write.tool]) == (Effect.READ, Effect.WRITE)


@in_loop
async def test_the_facts_hold_the_fingerprint_that_reset_gives(case):
    episode = await begun(case)

    assert isinstance(episode.facts, EnvironmentFacts)
    assert episode.facts.restore == "reset"
    assert episode.facts.fingerprint == episode.environment.fingerprint()
    await episode.environment.close()


@in_loop
async def test_an_opening_is_what_somebody_said(case):
    opening = await Episode(case).begin()

    assert opening.messages
    assert {message.role for message in opening.messages} <= {"user", "assistant"}
    assert opening.messages[-1].role == "user"


@in_loop
async def test_a_read_leaves_the_fingerprint(case):
    episode = await begun(case)
    before = episode.environment.fingerprint()
    observation = await episode.act(case.read)

    assert (observation.error, observation.done) == (False, False)
    assert episode.environment.fingerprint() == before
    await episode.environment.close()


@in_loop
async def test_a_write_moves_the_fingerprint(case):
    episode = await begun(case)
    before = episode.environment.fingerprint()
    observation = await episode.act(case.write)

    assert not observation.error
    assert episode.environment.fingerprint() != before
    await episode.environment.close()


@in_loop
async def test_the_same_actions_after_a_reset_give_the_same_answers_and_fingerprints(case):
    episode = await begun(case)

    async def once():
        seen = []
        for action in (case.read, case.write, case.refused, case.read, case.write):
            observation = await episode.act(action)
            seen.append((observation, episode.environment.fingerprint()))
        return seen, await episode.grade()

    first = await once()
    await episode.begin()

    assert await once() == first
    await episode.environment.close()


@in_loop
async def test_two_instances_do_not_see_each_other(case):
    one, other = await begun(case), await begun(case)
    untouched = other.environment.fingerprint()
    await one.act(case.write)

    assert other.environment.fingerprint() == untouched
    await one.environment.close()
    await other.environment.close()


@in_loop
async def test_a_tools_own_no_is_an_observation_and_changes_nothing(case):
    episode = await begun(case)
    before = episode.environment.fingerprint()
    observation = await episode.act(case.refused)

    assert observation.error
    assert observation.content
    assert "Traceback" not in observation.content
    assert episode.environment.fingerprint() == before
    await episode.environment.close()


@pytest.mark.parametrize("arguments", ["{}", '{"no": "such"}', "not JSON", "[]", '{"a": NaN}', '{"a": 1, "a": 2}', ""])
@in_loop
async def test_arguments_that_do_not_fit_are_an_observation_and_change_nothing(case, arguments):
    episode = await begun(case)
    before = episode.environment.fingerprint()
    observation = await episode.act(Call(case.write.tool, arguments))

    assert observation.error
    assert episode.environment.fingerprint() == before
    await episode.environment.close()


@pytest.mark.parametrize("name", ["drop_table", "", "__init__", "tools", HOSTILE])
@in_loop
async def test_an_unknown_tool_is_an_observation(case, name):
    episode = await begun(case)
    observation = await episode.act(Call(name, "{}"))

    assert (observation.error, observation.done) == (True, False)
    await episode.environment.close()


@in_loop
async def test_hostile_text_goes_in_and_comes_out_as_it_was(case):
    episode = await begun(case)
    observation = await episode.act(case.hostile(HOSTILE))

    assert HOSTILE in case.read_back(observation.content)
    assert episode.environment.fingerprint().startswith("sha256:")
    await episode.environment.close()


@in_loop
async def test_half_a_surrogate_pair_is_done_or_refused_but_never_raises(case):
    episode = await begun(case)
    observations = [await episode.act(case.hostile(HALF_A_PAIR)), await episode.act(Call(HALF_A_PAIR, "{}"))]

    assert observations[0].error or HALF_A_PAIR in case.read_back(observations[0].content)
    assert observations[1].error
    assert episode.environment.fingerprint().startswith("sha256:")
    assert (await episode.grade()).reward != "1.0"
    await episode.environment.close()


@in_loop
async def test_a_question_for_a_model_is_put_through_the_port_and_never_asked_by_itself(case):
    episode = await begun(case)

    assert bool(episode.asked) == episode.facts.replies
    await episode.environment.close()


@in_loop
async def test_a_reply_is_answered_where_somebody_is_there_to_answer(case):
    episode = await begun(case)
    observation = await episode.act(Reply("One moment."))

    if episode.facts.replies:
        assert observation == Observation(USER[1], done=True)
    else:
        assert observation.error
    await episode.environment.close()


@in_loop
async def test_a_final_answer_ends_the_episode_where_it_is_an_action(case):
    episode = await begun(case)
    observation = await episode.act(Finish("Done."))

    assert observation.done == episode.facts.finish
    assert observation.error != episode.facts.finish
    await episode.environment.close()


@in_loop
async def test_check_has_no_objection_to_what_was_read(case):
    episode = await begun(case)
    await episode.act(case.read)

    assert episode.environment.check(case.read) is None
    await episode.environment.close()


@in_loop
async def test_check_changes_nothing(case):
    episode = await begun(case)
    before = episode.environment.fingerprint()
    for action in (case.read, case.write, case.refused, Reply(HOSTILE), Finish(HOSTILE), Call(HOSTILE, HOSTILE)):
        episode.environment.check(action)

    assert episode.environment.fingerprint() == before
    await episode.environment.close()


@in_loop
async def test_the_loop_runs_on_while_two_instances_work(case):
    episodes = await asyncio.gather(*(begun(case) for _ in range(2)))
    observations = await asyncio.gather(*(episode.act(case.read) for episode in episodes))

    assert observations[0] == observations[1]
    for episode in episodes:
        await episode.environment.close()
