"""A dialogue of OpenAI chat messages as the events of a one-model episode, in the order of the messages.

Each assistant message is one segment of a protocol without review: a model call, then its tool calls or its reply, on
the authority `unknown`. What comes before the first of them is the opening; a user's message that follows a reply
answers it. Messages are neither merged nor dropped. Counterpart of `openai_chat_export`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from spectrace.core.events import EpisodeEnded, ReplyUnusable, ResetCompleted, ResetRequested
from spectrace.core.types import Call, Effect, Observation, Reply
from spectrace.interchange import losses
from spectrace.interchange.tau2_messages import Said, paired, results_after
from spectrace.interchange.tau2_transcript import SOURCE, Scene, Transcript

OPENING = "opening:"
"""Before the place of a message that the opening holds."""


@dataclass(slots=True)
class Chat:
    """The events, and which of them holds each message: `opening:0`, `s3` (an assistant's), `s3.1` (what answers)."""

    script: Transcript
    held: dict[int, str] = field(default_factory=dict)
    """Place of a message -> where its text is; one that no event holds is missing."""


def transcribe(scene: Scene, messages: Sequence[Said], lost: set[str]) -> Chat:
    """Return the events after `episode.started`."""
    chat = Chat(Transcript(scene, messages, lost, scene.began))
    place = _open(chat)
    while place < len(messages):
        if messages[place].role == "assistant":
            place = _turn(chat, place)
        else:
            lost.add(losses.STRAY_MESSAGE)
            chat.script.hear(messages[place])
            place += 1
    chat.script.write(
        EpisodeEnded(
            outcome=scene.outcome.status,
            reason=scene.outcome.reason,
            answer=None,
            reward=None,
            totals=chat.script.tally.totals,
        )
    )
    return chat


def _open(chat: Chat) -> int:
    script, place = chat.script, 0
    request = script.write(ResetRequested(seed=None))
    while place < len(script.messages) and script.messages[place].role != "assistant":
        script.hear(script.messages[place])
        chat.held[place] = f"{OPENING}{place}"
        place += 1
    script.write(
        ResetCompleted(
            request=request,
            messages=tuple(script.conversation),
            done=False,
            fingerprint=None,
            latency_us=None,
            source=SOURCE,
        )
    )
    return place


def _turn(chat: Chat, place: int) -> int:
    """Write one assistant message with all that follows from it. Return the next place."""
    script, said = chat.script, chat.script.messages[place]
    script.segment += 1
    chat.held[place] = f"s{script.segment}"
    request = script.agent_call(said, f"s{script.segment}")
    script.hear(said)
    if said.calls:
        return _calls(chat, said, request)
    if said.speaks:
        return _reply(chat, said, request)
    script.write(ReplyUnusable(role="actor", request=request, cause="neither text nor tool calls", next="gave_up"))
    return place + 1


def _calls(chat: Chat, said: Said, request: int) -> int:
    script, results = chat.script, results_after(chat.script.messages, said.place)
    for number, (call, result) in enumerate(zip(said.calls, paired(said.calls, results, script.lost), strict=True), 1):
        action, position = Call(call.name, call.arguments), f"s{script.segment}.{number}"
        script.draft(action, script.effect(call.name), number, request)
        asked = script.ask(action, script.effect(call.name), position, "agent")
        if result is None:
            script.no_answer(asked, losses.CALL_WITHOUT_RESULT)
        else:
            script.answer(asked, Observation(result.content or "", error=result.error), result)
            chat.held[result.place] = position
        script.commit(number)
    script.hear(*results)
    return said.place + 1 + len(results)


def _reply(chat: Chat, said: Said, request: int) -> int:
    """Write a reply and what the user answered: nothing, where the next message is no user's."""
    script, position, following = chat.script, f"s{chat.script.segment}.1", said.place + 1
    action = Reply(said.content or "")
    script.draft(action, Effect.REPLY, 1, request)
    asked = script.ask(action, Effect.REPLY, position, "agent")
    if following < len(script.messages) and script.messages[following].role == "user":
        answer = script.messages[following]
        script.hear(answer)
        script.answer(asked, Observation(answer.content or ""), answer)
        chat.held[following] = position
        following += 1
    else:
        script.answer(asked, Observation("", done=following == len(script.messages)), None)
    script.commit(1)
    return following
