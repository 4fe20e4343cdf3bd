from dataclasses import replace

import pytest
from aio import in_loop
from broken_environments import ASKED, CALLS, Sound

from spectrace.core.types import Call, Message, ModelRequest, Observation, Reply
from spectrace.errors import EnvironmentFailed
from spectrace.testing.conformance.session import Flaw, NotApplicable, Subject, saying, shown


def subject(made=Sound, *, single=False, user=("Hello.", "Go on."), timeout_s=60.0):
    return Subject("sound", made, single, CALLS, None, saying(user), timeout_s)


@in_loop
async def test_a_session_answers_what_the_environment_asks_of_models():
    async with subject().session() as session:
        opening = await session.begin()
        reply = await session.act(Reply("One moment."))

    assert [message.content for message in opening.messages] == ["Hello."]
    assert (reply.content, session.asked) == ("Go on.", [ASKED, ASKED])


@in_loop
async def test_what_was_done_is_kept():
    async with subject().session() as session:
        await session.begin()
        await session.act(CALLS[0])

    assert session.done == [(CALLS[0], Observation("1"))]


def of(base=Sound, **methods):
    return type("Odd", (base,), methods)


async def endless(self, completion):
    return ASKED


async def crashed(self, action, requestor="agent"):
    raise EnvironmentFailed("crashed", "no disk")


async def nothing(self, action, requestor="agent"):
    return None


async def silent(self, seed):
    return replace(ASKED, request=ModelRequest(()))


@pytest.mark.parametrize(
    ("made", "where", "found"),
    [
        (of(resume=endless), "reset(seed)", "20 questions to models and no answer"),
        (of(reset=silent), "reset(seed)", "a question for a model: role user, 0 messages"),
        (of(act=crashed), 'act({"tool": "look"', "EnvironmentFailed: no disk"),
        (of(act=nothing), 'act({"tool": "look"', "NoneType in place of Observation"),
        (of(prepare=lambda self, task: None), "prepare(task)", "NoneType in place of EnvironmentFacts"),
    ],
)
@in_loop
async def test_what_the_port_does_not_allow_is_a_flaw_that_names_the_method(made, where, found):
    async def used():
        async with subject(made).session() as session:
            await session.begin()
            await session.act(CALLS[0])

    with pytest.raises(Flaw) as raised:
        await used()

    assert raised.value.where.startswith(where)
    assert raised.value.found == found


@in_loop
async def test_what_has_no_answer_is_refused_by_the_error_of_the_port_alone():
    async with subject().session() as session:
        session.prepare()
        refused = await session.refused("act", lambda: session.environment.act(CALLS[0]))
        with pytest.raises(Flaw, match="int in place of a coroutine"):
            await session.refused("act", lambda: 7)

    assert refused is None


def _cannot(self, action):
    raise EnvironmentFailed("crashed", "I cannot say.")


@in_loop
async def test_an_action_that_cannot_be_judged_is_one_that_is_objected_to():
    async with subject(of(check=_cannot)).session() as session:
        await session.begin()
        objection = session.check(CALLS[0])

    assert objection == "I cannot say."


def test_a_second_instance_must_be_to_be_had():
    subject().require_instances()
    with pytest.raises(NotApplicable, match="give a function that returns a fresh one"):
        subject(single=True).require_instances()


def test_somebody_says_texts_in_order_and_the_last_ever_after():
    say = saying(["one", "two"])

    assert [say(ModelRequest((Message("user", "?"),)), number) for number in (1, 2, 3)] == ["one", "two", "two"]


def test_an_action_is_shown_in_a_line():
    assert len(shown(Call("look", "x" * 200))) == 80
