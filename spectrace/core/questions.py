"""What is recorded of a question: one form for the driver, which writes it, and for `following`, which expects it."""

import json
from dataclasses import asdict

from spectrace.core.commands import Act, Generate
from spectrace.core.digest import tools_digest
from spectrace.core.events import ActRequested, GenerateCompleted, GenerateRequested
from spectrace.core.facts import tool_of
from spectrace.core.types import Completion, Effect, ModelRequest

EDITED = "edited"
"""The source of an answer that a person gave: in a model's place (its model is `person:NAME`), or in the environment's,
of an action that got none (its authority is)."""


def model_question(command: Generate) -> GenerateRequested:
    """Return the event of a model call."""
    asked = command.request
    return GenerateRequested(
        role=command.role,
        who=command.who,
        position=command.position,
        messages=asked.messages,
        tools_digest=tools_digest(asked.tools) if asked.tools else None,
        response_schema=asked.schema,
        parameters=parameters_of(asked),
    )


def act_question(command: Act, idempotency_key: str) -> ActRequested:
    """Return the event of an action that is about to reach the environment."""
    return ActRequested(
        effect=command.effect,
        authority=command.authority,
        tool=tool_of(command.action),
        position=command.position,
        action=command.action,
        requestor=command.requestor,
        idempotency_key=idempotency_key,
    )


def unanswered(effect: Effect) -> str:
    """Return the outcome of an action that got no answer: only of a read it is known that it changed nothing."""
    return "error" if effect is Effect.READ else "indeterminate"


def parameters_of(asked: ModelRequest) -> str:
    """Return what is recorded of how a model was asked: its sampling parameters, and what it was to score."""
    if asked.scoring is None:
        return asked.parameters
    return json.dumps({**json.loads(asked.parameters), "scoring": asdict(asked.scoring)}, sort_keys=True)


def completion_of(body: GenerateCompleted) -> Completion:
    """Return what a model answered, as it is recorded."""
    return Completion(
        message=body.message,
        reasoning=body.reasoning,
        finish_reason=body.finish_reason,
        model=body.model,
        usage=body.usage,
        latency_us=body.latency_us,
        first_token_us=body.first_token_us,
        attempts=body.attempts,
        provider_id=body.provider_id,
        server=body.server,
    )
