"""Model calls of made-up episodes with prices, answered, retried or failed: for tests of what they cost."""

from dataclasses import replace

from spectrace.core.events import EpisodeStarted, GenerateCompleted, GenerateFailed, GenerateRequested
from spectrace.core.types import Attempt, Message, ModelFacts, Usage
from spectrace.store.samples import sample_episode

PRICE = '{"input": "3", "cached": "0.3", "output": "15", "since": "2026-01-01", "source": "a list"}'


def started(**prices: str | None) -> EpisodeStarted:
    """Begin with a model for each role, at these prices."""
    first = sample_episode(1)[0]
    assert isinstance(first, EpisodeStarted)
    return replace(first, models=tuple(ModelFacts(role, "openai", role, price=price) for role, price in prices.items()))


def asked(who: str, role: str = "actor") -> GenerateRequested:
    """Ask a model."""
    return GenerateRequested(
        role=role, who=who, position="s1", messages=(), tools_digest=None, response_schema=None, parameters="{}"
    )


def answered(
    request: int, usage: Usage, source: str = "live", role: str = "actor", attempts: tuple[Attempt, ...] = ()
) -> GenerateCompleted:
    """Answer it."""
    return GenerateCompleted(
        request=request,
        role=role,
        message=Message("assistant", ""),
        reasoning=None,
        finish_reason="stop",
        model=None,
        usage=usage,
        latency_us=1,
        first_token_us=None,
        attempts=attempts,
        provider_id=None,
        server=None,
        source=source,
    )


def failed(request: int, kind: str, usage: Usage) -> GenerateFailed:
    """Let it fail."""
    return GenerateFailed(
        request=request,
        role="actor",
        kind=kind,
        error="",
        partial_text="",
        usage=usage,
        latency_us=1,
        attempts=(),
        source="live",
    )
