"""A dialogue as the log that a driver would have written of it, so that what reads logs can be asked of it too."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from spectrace.core.commands import Act, Acted, Asked, Began, Check, CommandFailed, Generate, Reset
from spectrace.core.digest import task_digest, tools_digest
from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ActionChecked,
    ActRequested,
    EpisodeStarted,
    Event,
    GenerateCompleted,
    GenerateFailed,
    GenerateRequested,
    ResetCompleted,
    ResetRequested,
    StartedBy,
    Versions,
)
from spectrace.core.facts import tool_of
from spectrace.core.setup import Setup
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Completion, NeedsModel, Usage
from spectrace.testing.playbook import Playbook
from tests.altered import renumbered

NOW = {"latency_us": None, "source": "live"}


@dataclass
class Logged(Playbook):
    """A playbook that keeps a log: questions, answers and facts, under the numbers that the protocol was told."""

    log: list[tuple[float, Any]] = field(default_factory=list)
    first: EpisodeStarted | None = None
    pending: float = 0
    """The action for which the environment asks its user."""

    def events(self) -> list[Event]:
        """Return the log so far, numbered as a driver numbers it."""
        return renumbered([Event("told", seq, "", 0, body) for seq, body in [(-2, self.first), *self.log]])

    def _run(self, protocol, answer, failure=None):
        told = len(self.facts)
        result = super()._run(protocol, answer, failure)
        new = self.facts[told:]
        self.log += [(self.seq - len(new) + number, body) for number, body in enumerate(new, 1)]
        return result

    def _answer(self, answer, said, failure=None):
        place = self.seq if failure is None else self.seq + 0.25  # a failure has no number of its own here
        match self.command:
            case Generate() as asked:
                self._heard(place, generated(asked), said_by(asked, place, answer, failure))
            case Act() as asked if isinstance(answer, NeedsModel):
                self.pending = self.seq + 0.125
                self.log.append((self.pending, requested(asked)))
            case Act(supplied=Completion()) as asked:  # written down before its user was asked
                self.log.append((place + 0.5, done(asked, self.pending, answer, failure)))
            case Act() as asked:
                self._heard(place, requested(asked), done(asked, place, answer, failure))
            case Check(action=action):
                checked = ActionChecked(tool=tool_of(action), action=action, objection=answer)
                self.log.append((self.seq + 0.75, checked))
            case Reset() if isinstance(answer, Began):
                self._heard(-1, ResetRequested(seed=None), begun(answer))
            case _:
                pass
        return super()._answer(answer, said, failure)

    def _heard(self, place, question, answer):
        self.log += [(place, question), (place + 0.5, answer)]


def started(setup: Setup, protocol: SpecAgent) -> EpisodeStarted:
    return EpisodeStarted(
        project="dialogues",
        labels=(),
        started_by=StartedBy("ana", "here"),
        operator=None,
        task=setup.task,
        task_digest=task_digest(setup.task),
        environment=setup.environment,
        instructions=setup.instructions,
        tools=setup.tools,
        tools_digest=tools_digest(setup.tools),
        protocol=protocol.NAME,
        protocol_revision=setup.revision,
        options=json.dumps(asdict(protocol)),
        prompts=setup.prompts.to_json(),
        models=setup.models,
        seed=None,
        trial=0,
        run=None,
        versions=Versions("0", "3"),
    )


def begun(answer: Began) -> ResetCompleted:
    opening = answer.opening
    return ResetCompleted(
        request=-1, messages=opening.messages, done=opening.done, fingerprint=answer.fingerprint, **NOW
    )


def generated(asked: Generate) -> GenerateRequested:
    tools = asked.request.tools
    return GenerateRequested(
        role=asked.role,
        who=asked.who,
        position=asked.position,
        messages=asked.request.messages,
        tools_digest=tools_digest(tools) if tools else None,
        response_schema=asked.request.schema,
        parameters=asked.request.parameters,
    )


def said_by(asked: Generate, place: float, answer: object, failure: CommandFailed | None):
    both = {"request": place, "role": asked.role, "attempts": (), **NOW}
    if failure is not None or not isinstance(answer, Asked):
        return GenerateFailed(kind=failure.kind if failure else "", error="", partial_text="", usage=Usage(), **both)
    done = answer.completion
    return GenerateCompleted(
        message=done.message,
        reasoning=None,
        finish_reason=None,
        model=None,
        usage=done.usage,
        first_token_us=None,
        provider_id=None,
        server=None,
        **both,
    )


def requested(asked: Act) -> ActRequested:
    return ActRequested(
        effect=asked.effect,
        authority=asked.authority,
        tool=tool_of(asked.action),
        position=asked.position,
        action=asked.action,
        requestor=asked.requestor,
        idempotency_key=f"told:{asked.position}",
    )


def done(asked: Act, place: float, answer: object, failure: CommandFailed | None):
    both = {"effect": asked.effect, "authority": asked.authority, "tool": tool_of(asked.action), **NOW}
    both |= {"request": place, "position": asked.position}
    if failure is not None or not isinstance(answer, Acted):
        outcome = "error" if asked.effect == "read" else "indeterminate"
        return ActFailed(outcome=outcome, kind=failure.kind if failure else "", error="", **both)
    return ActCompleted(
        outcome="error" if answer.observation.error else "ok",
        observation=answer.observation,
        fingerprint_before=answer.before,
        fingerprint_after=answer.after,
        **both,
    )
