"""One τ²-bench simulation as the events of a one-model episode, in the order in which things happened.

Each assistant message is one segment of a protocol without review: a model call, then its tool calls or its reply, on
the authority `unknown`. The simulated user answers inside the reply, with their own model call where the file counts
its tokens. Nothing is dropped: what no field holds goes to `extra`.
"""

from collections.abc import Sequence

from spectrace.core.events import (
    EpisodeEnded,
    EvaluateCompleted,
    EvaluateRequested,
    ReplyUnusable,
    ResetCompleted,
    ResetRequested,
    StepsDiscarded,
)
from spectrace.core.types import Call, Effect, Message, Observation, Reply
from spectrace.interchange import losses
from spectrace.interchange.tau2_messages import Said, paired, results_after
from spectrace.interchange.tau2_transcript import SOURCE, Scene, Transcript

_STOPS = ("###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###")
"""What the simulated user writes to end the dialogue; the words stay in the text."""


def transcribe(scene: Scene, messages: Sequence[Said], lost: set[str]) -> Transcript:
    """Return the events after `episode.started`."""
    script = Transcript(scene, messages, lost, scene.began)
    place = _open(script)
    while place < len(messages):
        if messages[place].role == "assistant":
            place = _turn(script, place)
        else:
            lost.add(losses.STRAY_MESSAGE)
            script.unfiled.add(place)
            script.hear(messages[place])
            place += 1
    _end(script)
    return script


def _open(script: Transcript) -> int:
    """Write the opening: a greeting that no model wrote, then the user's first words. Return the next place."""
    messages, place = script.messages, 0
    request = script.write(ResetRequested(seed=script.scene.seed))
    greeted = [one.role for one in messages[:2]] == ["assistant", "user"] and messages[0].speaks
    if greeted and messages[0].usage is None:
        script.hear(messages[0])
        place = 1
    opening = script.conversation[:]
    said, place = _user_turn(script, place, "s0")
    opening += [Message("user", said.content or "")] if said is not None else []
    answer = ResetCompleted(
        request=request,
        messages=tuple(opening),
        done=said is not None and ends(said.content),
        fingerprint=None,
        latency_us=None,
        source=SOURCE,
    )
    script.write(answer, said)
    return place


def _turn(script: Transcript, place: int) -> int:
    """Write one assistant message with all that follows from it. Return the next place."""
    said = script.messages[place]
    script.segment += 1
    request = script.agent_call(said, f"s{script.segment}")
    script.hear(said)
    if said.calls:
        return _calls(script, said, request)
    if said.speaks:
        return _reply(script, said, request)
    script.write(ReplyUnusable(role="actor", request=request, cause="neither text nor tool calls", next="gave_up"))
    return place + 1


def _calls(script: Transcript, said: Said, request: int) -> int:
    results = results_after(script.messages, said.place)
    for number, (call, result) in enumerate(zip(said.calls, paired(said.calls, results, script.lost), strict=True), 1):
        action = Call(call.name, call.arguments)
        script.draft(action, script.effect(call.name), number, request)
        _tool_act(script, action, f"s{script.segment}.{number}", "agent", result)
        script.commit(number)
    return _heard(script, said, results)


def _tool_act(script: Transcript, action: Call, position: str, requestor: str, result: Said | None) -> None:
    asked = script.ask(action, script.effect(action.tool), position, requestor)
    if result is None:
        script.no_answer(asked, losses.CALL_WITHOUT_RESULT)
    else:
        script.answer(asked, Observation(result.content or "", error=result.error), result)


def _heard(script: Transcript, said: Said, results: Sequence[Said]) -> int:
    """Let results enter the conversation in the file's order; those that answer no call are kept whole."""
    script.hear(*results)
    answered = {result.place for result in paired(said.calls, results, set()) if result is not None}
    script.unfiled |= {result.place for result in results} - answered
    return said.place + 1 + len(results)


def _reply(script: Transcript, said: Said, request: int) -> int:
    """Write a reply and what the user answered."""
    action, position, last = Reply(said.content or ""), f"s{script.segment}.1", said.place + 1 == len(script.messages)
    script.draft(action, Effect.REPLY, 1, request)
    if last and script.scene.outcome.status == "truncated":  # the harness stopped before the user was asked
        script.write(StepsDiscarded(segment=script.segment, start=1, end=1, reason="budget"))
        return said.place + 1
    asked = script.ask(action, Effect.REPLY, position, "agent")
    answer, place = _user_turn(script, said.place + 1, position)
    if answer is not None:
        script.answer(asked, Observation(answer.content or "", done=ends(answer.content)), answer)
    elif last and script.scene.outcome.reason == "agent_stop":
        script.answer(asked, Observation("", done=True), None)
    else:
        script.no_answer(asked, losses.REPLY_WITHOUT_ANSWER)
    script.commit(1)
    return place


def _user_turn(script: Transcript, place: int, position: str) -> tuple[Said | None, int]:
    """Write what the user does before they answer; return the message that answers, if any, and the next place."""
    while place < len(script.messages) and script.messages[place].role == "user":
        said = script.messages[place]
        if said.usage is not None:
            script.user_call(said, position)
        script.hear(said)
        if not said.calls:
            return said, place + 1
        if said.usage is None:
            script.unfiled.add(place)
        results = results_after(script.messages, place)
        for call, result in zip(said.calls, paired(said.calls, results, script.lost), strict=True):
            script.user_acts += 1
            acting = f"{position.partition('.')[0]}.u{script.user_acts}"
            _tool_act(script, Call(call.name, call.arguments), acting, "user", result)
        place = _heard(script, said, results)
    return None, place


def ends(text: str | None) -> bool:
    """Whether a user's text ends the dialogue."""
    return any(word in (text or "") for word in _STOPS)


def _end(script: Transcript) -> None:
    outcome, grade = script.scene.outcome, script.scene.grade
    if grade is not None:
        request = script.write(EvaluateRequested())
        answer = EvaluateCompleted(
            request=request, reward=outcome.reward, detail=grade, fingerprint=None, latency_us=None, source=SOURCE
        )
        script.write(answer)
    ended = EpisodeEnded(
        outcome=outcome.status, reason=outcome.reason, answer=None, reward=outcome.reward, totals=script.tally.totals
    )
    script.write(ended)
