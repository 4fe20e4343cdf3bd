"""A made-up episode: the weak model guesses three steps and the strong model takes the first. For unit tests."""

from collections.abc import Sequence

from spectrace.core.events import (
    ActCompleted,
    ActRequested,
    Body,
    EpisodeStarted,
    Event,
    SegmentClosed,
    SegmentCommitted,
    SpeculationMatched,
    StepDrafted,
    StepsDiscarded,
    StepSpeculated,
)
from spectrace.core.types import Action, Call, Observation
from spectrace.store.samples import sample_episode

FIND = Call("find_order", '{"id": "W2"}')
OTHER = Call("find_order", '{"id": "W3"}')
CANCEL = Call("cancel_order", '{"id": "W2"}')


def started() -> EpisodeStarted:
    """How the episode begins."""
    first = sample_episode(1)[0]
    assert isinstance(first, EpisodeStarted)
    return first


def guessed(index: int, action: Action, effect: str = "read", *, launched: bool = True) -> StepSpeculated:
    """A guess of the weak model."""
    return StepSpeculated(
        effect=effect,
        tool=getattr(action, "tool", None),
        segment=1,
        index=index,
        position=f"s1.g{index}",
        action=action,
        request=0,
        launched=launched,
    )


def asked(position: str, action: Action, authority: str) -> ActRequested:
    """A read sent to the environment."""
    return ActRequested(
        effect="read",
        authority=authority,
        tool=getattr(action, "tool", None),
        position=position,
        action=action,
        requestor="agent",
        idempotency_key="",
    )


def answered(request: int, position: str, content: str) -> ActCompleted:
    """Its answer."""
    return ActCompleted(
        effect="read",
        authority="speculative",
        outcome="ok",
        tool="find_order",
        request=request,
        position=position,
        observation=Observation(content),
        fingerprint_before="a",
        fingerprint_after="a",
        latency_us=1,
        source="live",
    )


def bodies() -> list[Body]:
    """Two guesses run, one is a write and does not; the strong model's own step is the first of them."""
    drafted = StepDrafted(effect="read", tool="find_order", segment=1, index=1, position="s1.1", action=FIND, request=0)
    return [
        started(),
        guessed(1, FIND),
        asked("s1.g1", FIND, "speculative"),
        guessed(2, OTHER),
        asked("s1.g2", OTHER, "speculative"),
        answered(2, "s1.g1", "pending"),
        answered(4, "s1.g2", "lost"),
        guessed(3, CANCEL, "write", launched=False),
        drafted,
        SpeculationMatched(segment=1, position="s1.1", guess=1),
        SegmentCommitted(segment=1, start=1, end=1, reviewed="not_applicable"),
        StepsDiscarded(segment=1, start=2, end=3, reason="speculation_lost"),
        SegmentClosed(segment=1, steps=1, reason="k_reads"),
    ]


def events(told: Sequence[Body] | None = None) -> list[Event]:
    """The bodies as an episode."""
    return [Event("e", seq, "", 1_000 * seq, body) for seq, body in enumerate(bodies() if told is None else told)]
