"""Checks of the rest of the port: replies, final answers, grading, objections, models it needs, attach and close."""

import json
from collections.abc import AsyncIterator

from spectrace.core.types import Action, Call, Completion, Evaluation, Finish, Message, NeedsModel, Observation, Reply
from spectrace.environments.environment import Attachable
from spectrace.environments.tasks import graded
from spectrace.testing.conformance import samples
from spectrace.testing.conformance.check import Check, check
from spectrace.testing.conformance.session import Flaw, NotApplicable, Session, Subject, shown

_ACTIONS: tuple[Action, ...] = (
    Reply(samples.HOSTILE),
    Finish(samples.HOSTILE),
    Call(samples.HOSTILE, samples.HOSTILE),
    Call("no_such_tool", "{}"),
)


@check
async def a_reply_is_answered_where_the_facts_say_so(subject: Subject) -> AsyncIterator[Flaw]:
    """Reply to the user."""
    async with subject.session() as session:
        await session.begin()
        replies = session.prepare().replies
        await session.begin()
        observation = await session.act(Reply("One moment, please."))
        if replies and observation.error:
            yield Flaw(
                "act(Reply)", f"an error: {observation.content:.80}", "answer for the user, or declare replies=False"
            )
        if not replies and not observation.error:
            yield Flaw("act(Reply)", "an answer", "declare replies=True, or refuse with an error")


@check
async def a_final_answer_ends_the_episode_where_the_facts_say_so(subject: Subject) -> AsyncIterator[Flaw]:
    """Finish, then act once more."""
    async with subject.session() as session:
        finish = session.prepare().finish
        await session.begin()
        observation = await session.act(Finish("Done."))
        if finish and (observation.error or not observation.done):
            yield Flaw(
                "act(Finish)", f"{observation!r:.100}", "end with Observation(text, done=True), or declare finish=False"
            )
        if not finish and (observation.done or not observation.error):
            yield Flaw("act(Finish)", f"{observation!r:.100}", "declare finish=True, or refuse with an error")
        if finish:
            async for flaw in _not_running(session, "after the final answer"):
                yield flaw


@check
async def nothing_is_done_before_the_reset(subject: Subject) -> AsyncIterator[Flaw]:
    """Act in an instance that was prepared only."""
    subject.require_instances()
    async with subject.session() as session:
        session.prepare()
        async for flaw in _not_running(session, "before reset(seed)"):
            yield flaw


@check
async def grading_gives_a_decimal_or_nothing(subject: Subject) -> AsyncIterator[Flaw]:
    """Grade the first state, and what the given calls have made of it."""
    async with subject.session() as session:
        await session.begin()
        for flaw in _wrong(await session.grade()):
            yield flaw
        await session.begin()
        for call in subject.calls:
            await session.act(call)
        for flaw in _wrong(await session.grade()):
            yield flaw


@check
async def an_objection_is_a_text_and_changes_nothing(subject: Subject) -> AsyncIterator[Flaw]:
    """Ask for objections to anything."""
    async with subject.session() as session:
        await session.begin()
        before = session.fingerprint()
        for action in (*subject.calls, *_ACTIONS):
            where = f"check({shown(action)})"
            objection: object = session.check(action)
            if objection is not None and (not isinstance(objection, str) or not objection.strip()):
                yield Flaw(where, f"{objection!r:.80}", "return why not, as text, or None")
            if session.fingerprint() != before:
                yield Flaw(where, "the state changed", "a check looks and does nothing")
                return


@check
async def what_was_not_asked_is_not_taken(subject: Subject) -> AsyncIterator[Flaw]:
    """Give a completion where no question is open."""
    async with subject.session() as session:
        opening = await session.begin()
        if opening.done:
            raise NotApplicable("the task is over when it begins")
        answer = await session.refused(
            "resume(completion)", lambda: session.environment.resume(Completion(Message("assistant", "Well?")))
        )
        if answer is not None:
            yield Flaw(
                "resume(completion)",
                f"{type(answer).__name__} where no question was open",
                "raise EnvironmentFailed('unavailable', ...)",
            )


@check
async def what_it_asks_of_models_is_asked_again_after_a_reset(subject: Subject) -> AsyncIterator[Flaw]:
    """Begin twice: a question that depends on what was said before the reset would not be recorded with its episode."""
    async with subject.session() as session:
        await session.begin()
        first = list(session.asked)
        if not first:
            raise NotApplicable("it asks no model when it begins")
        await session.act(Reply("One moment, please."))
        await session.begin()
        if session.asked != first:
            do = "forget the dialogue in reset, and draw nothing at random"
            yield Flaw("reset(seed)", "another question to a model than at the first reset", do)


@check
async def a_task_is_taken_up_where_another_instance_left_it(subject: Subject) -> AsyncIterator[Flaw]:
    """Attach a second instance to what the first has begun, where the environment can."""
    subject.require_instances()
    async with subject.session() as one, subject.session() as other:
        taking = other.environment
        if not isinstance(taking, Attachable):
            raise NotApplicable("it has no attach(task, seed, done)")
        await one.begin()
        for call in subject.calls:
            await one.act(call)
        left = one.fingerprint()
        other.prepare()
        task = other.task()
        found = await other.refused("attach(task, seed, done)", lambda: taking.attach(task, 1, one.done))
        if found != left or one.fingerprint() != left:
            found_is = "nothing, or EnvironmentFailed" if found is None else str(found)[:19]
            do = "find the state as it stands, and execute nothing"
            yield Flaw("attach(task, seed, done)", f"fingerprint {found_is}, left with {str(left)[:19]}", do)
        await other.act(Call("no_such_tool", "{}"))


@check
async def it_can_be_closed_at_any_time_and_twice(subject: Subject) -> AsyncIterator[Flaw]:
    """Close instances that were just opened, prepared, running; each twice."""
    try:
        if subject.single:
            await _closed_twice(subject, begin=True)
        else:
            await _closed_twice(subject, begin=False)
            await _closed_twice(subject, begin=True)
            async with subject.session() as prepared:
                prepared.prepare()
    except Flaw as flaw:
        yield flaw


async def _closed_twice(subject: Subject, *, begin: bool) -> None:
    async with subject.session() as session:
        if begin:
            await session.begin()
        await session.close()
        await session.close()


async def _not_running(session: Session, when: str) -> AsyncIterator[Flaw]:
    """Yield what is wrong with an answer where no episode runs: there is none, or it is an error."""
    where = f"act({shown(_ACTIONS[3])}) {when}"
    answer = await session.refused(where, lambda: session.environment.act(_ACTIONS[3]))
    if answer is None or (isinstance(answer, Observation) and answer.error):
        return
    what = "a question for a model" if isinstance(answer, NeedsModel) else f"{answer!r:.80}"
    yield Flaw(where, what, "raise EnvironmentFailed('unavailable', ...), or refuse with an error")


def _wrong(evaluation: Evaluation) -> list[Flaw]:
    try:
        graded(evaluation)
        json.loads(evaluation.detail)
    except (TypeError, ValueError) as error:
        return [Flaw("evaluate()", str(error), "reward is a decimal string or None, detail is JSON text")]
    return []


CHECKS: tuple[Check, ...] = (
    a_reply_is_answered_where_the_facts_say_so,
    a_final_answer_ends_the_episode_where_the_facts_say_so,
    nothing_is_done_before_the_reset,
    grading_gives_a_decimal_or_nothing,
    an_objection_is_a_text_and_changes_nothing,
    what_was_not_asked_is_not_taken,
    what_it_asks_of_models_is_asked_again_after_a_reset,
    a_task_is_taken_up_where_another_instance_left_it,
    it_can_be_closed_at_any_time_and_twice,
)
