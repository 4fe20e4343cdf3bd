"""How much the strong model's prompts have in common, in the tokens that its own server makes of them.

With shared prompts (PROTOCOL section 5) review, repair and action begin with one system prompt and one history, so that
a prefix cache reads them once. A chat template can undo that: by rewriting earlier turns, or by what it puts first.
Where the history ends among the tokens is found by letting its last words go on, whatever the template is.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from spectrace.core.prompts import Prompts
from spectrace.core.reviewing import review_messages
from spectrace.core.roles import Budget, Desk, Shown, context, repair_messages
from spectrace.core.setup import Setup
from spectrace.core.types import (
    Call,
    Effect,
    EnvironmentFacts,
    History,
    Message,
    ModelFacts,
    ModelRequest,
    Observation,
    Role,
    Step,
    Task,
    ToolSpec,
)
from spectrace.models.client import Tokenizing

_ORDER = '{"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}'
_TOOLS = (
    ToolSpec("get_order", "Read an order.", _ORDER, Effect.READ),
    ToolSpec("cancel_order", "Cancel an order.", _ORDER, Effect.WRITE),
)
_REQUEST = "Cancel my orders W1 and W2."


@dataclass(frozen=True, slots=True)
class Shared:
    """Tokens that the three prompts have in common, of a history that they all hold, and of each prompt."""

    common: int
    history: int
    prompts: tuple[int, ...]
    """Of review, repair and action."""

    @property
    def holds(self) -> bool:
        """Whether the history is read once."""
        return self.common >= self.history


async def shared_prefix(client: Tokenizing, model: ModelFacts) -> Shared:
    """Render the strong model's three prompts over a sample history and compare their tokens."""
    desk = _desk(replace(model, role="strong"))
    history = _history("W1 is cancelled")
    segment = (
        _step(3, "get_order", "W2", Effect.READ, "W2 is open"),
        _step(4, "cancel_order", "W2", Effect.WRITE, None),
    )
    prompts = (
        review_messages(desk, history, segment),
        repair_messages(desk, history, Shown("W2 was never read.")),
        _action(desk, history),
        _action(desk, _history("W1 is cancelled and paid back")),
    )
    *ids, longer = [await client.prompt_ids(_request(desk, messages)) for messages in prompts]
    return Shared(
        common=min(_common(ids[0], other) for other in ids[1:]),
        history=_common(ids[-1], longer),
        prompts=tuple(len(prompt) for prompt in ids),
    )


def _desk(model: ModelFacts) -> Desk:
    environment = EnvironmentFacts("sample", "spectrace", "0", replies=True)
    instructions = "You run the order desk of a shop."
    setup = Setup(Task("sample", _REQUEST), environment, instructions, _TOOLS, Prompts(), (model,))
    return Desk(setup, Budget())


def _history(outcome: str) -> History:
    read = _step(1, "get_order", "W1", Effect.READ, "W1 is open")
    return History((Message("user", _REQUEST),), (read, _step(2, "cancel_order", "W1", Effect.WRITE, outcome)))


def _step(number: int, tool: str, order: str, effect: Effect, observed: str | None) -> Step:
    observation = None if observed is None else Observation(observed)
    return Step(f"s1.{number}", Call(tool, json.dumps({"order_id": order})), effect, observation)


def _action(desk: Desk, history: History) -> tuple[Message, ...]:
    return context(desk.setup, desk.setup.model("strong"), desk.template(Role.ACTOR), history, ())


def _request(desk: Desk, messages: tuple[Message, ...]) -> ModelRequest:
    model = desk.setup.model("strong")
    return ModelRequest(messages, desk.setup.tools if model.calls == "native" else (), None, model.parameters)


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
