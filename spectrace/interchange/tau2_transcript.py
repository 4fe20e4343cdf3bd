"""The events of an imported episode as they are written: one method a question, an answer or a fact.

`tau2_events.py` decides what happened; here it gets its number, its time and its fields.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from spectrace.core.digest import tools_digest
from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ActRequested,
    Body,
    GenerateCompleted,
    GenerateRequested,
    SegmentCommitted,
    StepDrafted,
)
from spectrace.core.facts import tool_of
from spectrace.core.tally import Tally
from spectrace.core.types import Action, Effect, Message, Observation, Outcome, ToolSpec, Usage
from spectrace.interchange import json_text, losses
from spectrace.interchange.tau2_messages import Said
from spectrace.store.event_store import Pending

SOURCE = "import"


@dataclass(frozen=True, slots=True)
class Scene:
    """What a simulation's events are made from, besides its messages."""

    episode: str
    began: int
    seed: int | None
    tools: tuple[ToolSpec, ...]
    effects: Mapping[str, Effect]
    agent_parameters: str
    user_parameters: str
    outcome: Outcome
    grade: str | None
    """The filed reward_info as JSON text, where the episode went to its end and was graded."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An act that waits for its answer."""

    request: int
    action: Action
    effect: Effect
    position: str


@dataclass(slots=True)
class Transcript:
    """The events so far, the conversation so far, and what was found missing."""

    scene: Scene
    messages: Sequence[Said]
    lost: set[str]
    at: int
    pending: list[Pending] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    conversation: list[Message] = field(default_factory=list)
    unfiled: set[int] = field(default_factory=set)
    """Places of messages whose text no event carries as its own."""
    segment: int = 0
    user_acts: int = 0

    def write(self, body: Body, said: Said | None = None) -> int:
        """Add one event, at the message's time, and never before the one before it."""
        if said is not None and said.at is not None:
            if said.at < self.at:
                self.lost.add(losses.TIMES_BACKWARDS)
            self.at = max(self.at, said.at)
        self.pending.append(Pending(len(self.pending) + 1, "", self.at, body))
        self.tally.count(body)
        return len(self.pending)

    def hear(self, *said: Said) -> None:
        """Let messages enter the conversation."""
        self.conversation += [one.message for one in said]

    def effect(self, tool: str) -> Effect:
        """Return a tool's effect; one that nobody knows is a write."""
        return self.scene.effects.get(tool, Effect.WRITE)

    def agent_call(self, said: Said, position: str) -> int:
        """Write the model call that an assistant message came from."""
        if said.usage is None:
            self.lost.add(losses.NO_USAGE)
        digest = tools_digest(self.scene.tools) if self.scene.tools else None
        asked = GenerateRequested(
            role="actor",
            who="strong",
            position=position,
            messages=tuple(self.conversation),
            tools_digest=digest,
            response_schema=None,
            parameters=self.scene.agent_parameters,
        )
        return self._model_call(asked, said)

    def user_call(self, said: Said, position: str) -> int:
        """Write the model call of the simulated user. Its prompt is another one than the conversation, and unknown."""
        asked = GenerateRequested(
            role="user",
            who="user",
            position=position,
            messages=(),
            tools_digest=None,
            response_schema=None,
            parameters=self.scene.user_parameters,
        )
        return self._model_call(asked, said)

    def _model_call(self, asked: GenerateRequested, said: Said) -> int:
        request = self.write(asked)
        answer = GenerateCompleted(
            request=request,
            role=asked.role,
            message=Message("assistant", said.content or "", said.calls),
            reasoning=json_text.string(said.part("reasoning")),
            finish_reason=_first(said, "finish_reason", "stop_reason"),
            model=_first(said, "model"),
            usage=said.usage or Usage(),
            latency_us=None,
            first_token_us=None,
            attempts=(),
            provider_id=_first(said, "id"),
            server=None,
            source=SOURCE,
        )
        self.write(answer, said)
        return request

    def draft(self, action: Action, effect: Effect, number: int, request: int) -> None:
        """Write a step of the current segment."""
        drafted = StepDrafted(
            effect=effect,
            tool=tool_of(action),
            segment=self.segment,
            index=number,
            position=f"s{self.segment}.{number}",
            action=action,
            request=request,
        )
        self.write(drafted)

    def commit(self, number: int) -> None:
        """Let a step of the current segment stay."""
        self.write(SegmentCommitted(segment=self.segment, start=number, end=number, reviewed="not_applicable"))

    def ask(self, action: Action, effect: Effect, position: str, requestor: str) -> Asked:
        """Write that an action reached the environment."""
        requested = ActRequested(
            effect=effect,
            authority="unknown",
            tool=tool_of(action),
            position=position,
            action=action,
            requestor=requestor,
            idempotency_key=f"{self.scene.episode}:{position}",
        )
        return Asked(self.write(requested), action, effect, position)

    def answer(self, asked: Asked, observation: Observation, said: Said | None) -> None:
        """Write what the environment answered, at the time of the message that holds it."""
        completed = ActCompleted(
            effect=asked.effect,
            authority="unknown",
            outcome="error" if observation.error else "ok",
            tool=tool_of(asked.action),
            request=asked.request,
            position=asked.position,
            observation=observation,
            fingerprint_before=None,
            fingerprint_after=None,
            latency_us=None,
            source=SOURCE,
        )
        self.write(completed, said)

    def no_answer(self, asked: Asked, why: str) -> None:
        """Write that the file holds no answer: a write may have happened or not."""
        self.lost.add(why)
        failed = ActFailed(
            effect=asked.effect,
            authority="unknown",
            outcome="error" if asked.effect is Effect.READ else "indeterminate",
            tool=tool_of(asked.action),
            request=asked.request,
            position=asked.position,
            kind="unavailable",
            error=why,
            latency_us=None,
            source=SOURCE,
        )
        self.write(failed)


def _first(said: Said, *names: str) -> str | None:
    """Return the first of the provider's own members that is a string."""
    return next((text for name in names if (text := json_text.string(said.part("raw_data", name))) is not None), None)
