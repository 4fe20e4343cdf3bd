"""Checks of what an environment does: reads, writes, refusals, and doing the same again."""

from collections.abc import AsyncIterator

from spectrace.core.types import Call, Effect, Observation, Opening
from spectrace.testing.conformance import samples
from spectrace.testing.conformance.check import Check, check
from spectrace.testing.conformance.described import FINGERPRINT
from spectrace.testing.conformance.session import Flaw, NotApplicable, Session, Subject, shown

_UNKNOWN = ("no_such_tool", "", "__init__", samples.HOSTILE)
_ROLES = {"user", "assistant", "tool"}
_REFUSE = "refuse with Observation(text, error=True) before anything is changed"


@check
async def a_reset_opens_with_what_somebody_said(subject: Subject) -> AsyncIterator[Flaw]:
    """Look at the messages before the first action."""
    async with subject.session() as session:
        opening = await session.begin()
        if not opening.messages:
            yield Flaw("reset(seed)", "no messages", "open with the user's request: a model answers it")
        elif opening.messages[-1].role != "user":
            yield Flaw("reset(seed)", f"a last message of role {opening.messages[-1].role!r}", "end with the user's")
        for message in opening.messages:
            if message.role not in _ROLES or not isinstance(message.content, str):
                yield Flaw("reset(seed)", f"{message!r:.100}", "a message is text of a user, an assistant or a tool")


@check
async def fingerprints_are_digests_that_stand_still_while_nothing_happens(subject: Subject) -> AsyncIterator[Flaw]:
    """Ask twice."""
    async with subject.session() as session:
        await session.begin()
        first: object = _known(session)
        if not isinstance(first, str) or not FINGERPRINT.fullmatch(first):
            yield Flaw(
                "fingerprint()", f"{first!r:.80}", "return `sha256:` and 64 hex digits of the whole state, or None"
            )
        if session.fingerprint() != first:
            yield Flaw("fingerprint()", "another one when asked again", "leave out times, counters and addresses")


@check
async def reads_leave_the_fingerprint(subject: Subject) -> AsyncIterator[Flaw]:
    """Make every call of a tool that is declared a read."""
    async with subject.session() as session:
        await session.begin()
        before: str | None = _known(session)
        effects = _effects(session)
        made = 0
        for call in _calls(subject, session):
            await session.act(call)
            after = session.fingerprint()
            if effects.get(call.tool) is Effect.READ:
                made += 1
                if after != before:
                    yield Flaw(
                        f"act({shown(call)})", "the state changed", f"declare {call.tool} a write, or change nothing"
                    )
            before = after
        if not made:
            raise NotApplicable("no call of a read is known: give some with calls=")


@check
async def writes_move_the_fingerprint(subject: Subject) -> AsyncIterator[Flaw]:
    """Make the calls that were given, and look at those of writes that succeed."""
    async with subject.session() as session:
        await session.begin()
        before: str | None = _known(session)
        effects = _effects(session)
        made = 0
        for call in subject.calls:
            observation = await session.act(call)
            after = session.fingerprint()
            if effects.get(call.tool) is Effect.WRITE and not observation.error:
                made += 1
                if after == before:
                    do = "let the fingerprint cover what it changes, or declare it a read"
                    yield Flaw(f"act({shown(call)})", "a write that succeeded and changed nothing", do)
            before = after
        if not made:
            raise NotApplicable("no call of a write that succeeds is known: give one with calls=")


@check
async def an_unknown_tool_is_refused_and_changes_nothing(subject: Subject) -> AsyncIterator[Flaw]:
    """Call tools that are not there."""
    async with subject.session() as session:
        await session.begin()
        for name in _UNKNOWN:
            async for flaw in _refused(session, Call(name, "{}")):
                yield flaw


@check
async def arguments_that_do_not_fit_are_refused_and_change_nothing(subject: Subject) -> AsyncIterator[Flaw]:
    """Call every tool with arguments that break its schema, or are no JSON object at all."""
    async with subject.session() as session:
        await session.begin()
        for tool in session.environment.tools():
            for call in samples.misfits(tool):
                async for flaw in _refused(session, call):
                    yield flaw


@check
async def any_text_is_taken_by_a_read(subject: Subject) -> AsyncIterator[Flaw]:
    """Put text with NUL, markup and control characters into every read; it may refuse, and must not break."""
    async with subject.session() as session:
        await session.begin()
        made = [samples.fitting(tool, samples.HOSTILE) for tool in session.environment.tools() if _is_read(tool.effect)]
        calls = [call for call in made if call is not None]
        if not calls:
            raise NotApplicable("no arguments could be made up for any read")
        for call in calls:
            try:
                await session.act(call)
            except Flaw as flaw:
                yield flaw


@check
async def the_same_actions_after_a_reset_give_the_same_answers(subject: Subject) -> AsyncIterator[Flaw]:
    """Do everything twice in one instance and once in another, where restore=reset says that this can be done."""
    async with subject.session() as session:
        if session.prepare().restore != "reset":
            raise NotApplicable("prepare(task) does not declare restore=reset")
        first = await _told(subject, session)
        for flaw in _compared(first, await _told(subject, session), "after another reset"):
            yield flaw
    if not subject.single:
        async with subject.session() as other:
            for flaw in _compared(first, await _told(subject, other), "in a second instance"):
                yield flaw


@check
async def instances_do_not_see_each_other(subject: Subject) -> AsyncIterator[Flaw]:
    """Act in one instance and look at the other."""
    subject.require_instances()
    async with subject.session() as one, subject.session() as other:
        await one.begin()
        await other.begin()
        if one.prepare().restore == "none":
            raise NotApplicable("prepare(task) declares restore=none: both may act on one and the same thing")
        await one.begin()
        await other.begin()
        before = _known(other)
        for call in subject.calls:
            await one.act(call)
        if other.fingerprint() != before:
            yield Flaw(
                "act(action)", "what one instance did changed another", "make the state in reset, for each instance"
            )


_Told = list[tuple[str, object]]


async def _told(subject: Subject, session: Session) -> _Told:
    """Return all that an environment answers: the opening, observations, fingerprints, the grade, what it asked."""
    opening: Opening = await session.begin()
    told: _Told = [("reset(seed)", opening), ("fingerprint() after reset", session.fingerprint())]
    for call in (*_calls(subject, session), Call("no_such_tool", "{}")):
        where = f"act({shown(call)})"
        told += [(where, await session.act(call)), (f"fingerprint() after {where}", session.fingerprint())]
    told.append(("evaluate()", await session.grade()))
    told.append(("questions to models", tuple(session.asked)))
    return told


def _compared(first: _Told, second: _Told, when: str) -> list[Flaw]:
    """Return the first answer that is another one; all after it follow from it."""
    for (where, one), (_, other) in zip(first, second, strict=False):
        if one != other:
            found = f"{_short(one)}, {when} {_short(other)}"
            return [Flaw(where, found, "draw times, ids and chance from the seed, or declare restore=none")]
    return []


def _short(value: object) -> str:
    text = value.content if isinstance(value, Observation) else str(value)
    return repr(text if len(text) <= 60 else f"{text[:59]}…")  # noqa: PLR2004 - two of them in a line


async def _refused(session: Session, call: Call) -> AsyncIterator[Flaw]:
    where, before = f"act({shown(call)})", session.fingerprint()
    try:
        observation = await session.act(call)
    except Flaw as flaw:
        yield Flaw(where, flaw.found, _REFUSE)
        return
    if not observation.error:
        yield Flaw(where, f"an answer that is no error: {_short(observation)}", _REFUSE)
    if session.fingerprint() != before:
        yield Flaw(where, "the state changed", _REFUSE)


def _calls(subject: Subject, session: Session) -> tuple[Call, ...]:
    """Return the calls that the author gave, and reads that can be made up."""
    return (*subject.calls, *samples.reads(session.environment.tools()))


def _effects(session: Session) -> dict[str, Effect]:
    return {tool.name: tool.effect for tool in session.environment.tools()}


def _is_read(effect: Effect) -> bool:
    return effect is Effect.READ


def _known(session: Session) -> str:
    fingerprint = session.fingerprint()
    if fingerprint is None:
        raise NotApplicable("it has no fingerprint: fingerprint() returns None")
    return fingerprint


CHECKS: tuple[Check, ...] = (
    a_reset_opens_with_what_somebody_said,
    fingerprints_are_digests_that_stand_still_while_nothing_happens,
    reads_leave_the_fingerprint,
    writes_move_the_fingerprint,
    an_unknown_tool_is_refused_and_changes_nothing,
    arguments_that_do_not_fit_are_refused_and_change_nothing,
    any_text_is_taken_by_a_read,
    the_same_actions_after_a_reset_give_the_same_answers,
    instances_do_not_see_each_other,
)
