"""Every branch of SpecAgent by name, and how to see in a recorded episode that it was taken. Counterpart of `claims`.

The dialogues (`tests/dialogues`, `tests/unit/core/test_specagent.py`) play each one; random episodes must come to all.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    EffectObserved,
    ReplyUnusable,
    SegmentClosed,
    StateMoved,
    StepDrafted,
    StepsDiscarded,
)
from spectrace.core.fold import FoldedSegment
from spectrace.core.types import Action, Call, Effect, Finish, Reply
from tests.properties.played import Played

Taken = Callable[[Played], bool]


def _segment(taken: Callable[[FoldedSegment], bool], **options: object) -> Taken:
    """Take a branch of one segment, under these options."""
    return lambda played: _under(played, options) and any(taken(segment) for segment in played.episode.segments)


def _under(played: Played, options: dict[str, object]) -> bool:
    return all(played.options.get(name) == value for name, value in options.items())


def _closed(reason: str, **options: object) -> Taken:
    return _segment(lambda segment: segment.reason == reason, **options)


def _held_accepted(effect: Effect, **options: object) -> Taken:
    return _segment(
        lambda s: s.reason == "held" and _decided(s) == "accept" and s.steps[-1].step.effect is effect, **options
    )


def _decided(segment: FoldedSegment) -> str | None:
    return None if segment.verdict is None else segment.verdict.decision


def _rejected(at: Callable[[int, int], bool], *, held: bool = False) -> Taken:
    """Reject at a step: `at` is told how many were accepted and how many drafted."""

    def taken(segment: FoldedSegment) -> bool:
        verdict = segment.verdict
        if verdict is None or verdict.decision != "reject":
            return False
        return at(verdict.accepted, verdict.drafted) and (segment.reason == "held" or not held)

    return _segment(taken)


def _fused(kind: Callable[[Action], bool]) -> Taken:
    return _segment(lambda s: s.repair is not None and s.repair.kind == "fused" and kind(s.repair.actions[0]))


def _fused_unusable(why: str) -> Taken:
    return _segment(lambda s: s.repair is not None and why in (s.repair.fused_unusable or ""), fused=True)


def _corrective_after(decision: str | None, **options: object) -> Taken:
    """Take a corrective turn where there was no replacement at all."""

    def taken(segment: FoldedSegment) -> bool:
        repair = segment.repair
        if repair is None or repair.kind != "corrective" or repair.fused_unusable is not None:
            return False
        return _decided(segment) == decision

    return _segment(taken, **options)


def ended(status: str, reason: str) -> Taken:
    """End the episode so."""
    return lambda played: (played.recorded.outcome.status, played.recorded.outcome.reason) == (status, reason)


def told(kind: type, **fields: object) -> Taken:
    """Record an event of that kind with these values."""
    return lambda played: any(
        all(getattr(event.body, name) == value for name, value in fields.items()) for event in played.all(kind)
    )


def _again_and_readable(role: str) -> Taken:
    """Ask again after a reply that could not be read, and read the second."""

    def taken(played: Played) -> bool:
        said = [event.body.next for event in played.all(ReplyUnusable) if event.body.role == role]
        return any(one == "asked_again" and other == "asked_again" for one, other in pairwise([*said, "asked_again"]))

    return taken


def _repeats(played: Played) -> bool:
    """Let the third identical read pass."""
    seen = [(event.body.observation.content) for event in played.all(ActCompleted) if event.body.authority == "read"]
    return played.options.get("stall") == "ignore" and any(seen.count(text) > 2 for text in set(seen))


def _dropped(closing: str) -> Taken:
    return lambda played: any(e.body.dropped and e.body.reason == closing for e in played.all(SegmentClosed))


BRANCHES: dict[str, Taken] = {
    "a held write is accepted": _held_accepted(Effect.WRITE),
    "a held final answer is accepted": _held_accepted(Effect.FINISH, finish="held"),
    "hold=writes+replies: a held reply is accepted": _held_accepted(Effect.REPLY, hold="writes+replies"),
    "hold=writes+external: a held look-up is accepted": _held_accepted(Effect.READ, hold="writes+external"),
    "review=every: a held reply is accepted": _held_accepted(Effect.REPLY, review="every"),
    "rejected at the first step": _rejected(lambda accepted, drafted: accepted == 0 and drafted > 1),
    "rejected in the middle": _rejected(lambda accepted, drafted: 0 < accepted < drafted - 1),
    "rejected at the held action": _rejected(lambda accepted, drafted: accepted == drafted - 1 > 0, held=True),
    "a fused call": _fused(lambda action: isinstance(action, Call)),
    "a fused reply": _fused(lambda action: isinstance(action, Reply)),
    "a fused final answer": _fused(lambda action: isinstance(action, Finish)),
    "fused, and no such tool": _fused_unusable("no tool is named"),
    "fused, and against the schema": _fused_unusable("required property"),
    "fused, and not an action here": _fused_unusable("is not an action here"),
    "fused, and the environment objects": _fused_unusable("the world objects"),
    "fused, and the environment cannot tell": _fused_unusable("it could not be checked"),
    "fused, and unreadable": _fused_unusable("the replacement is no action"),
    "fused, and null": _corrective_after("reject", fused=True),
    "fused=false": _corrective_after("reject", fused=False),
    "a corrective turn of several calls with an error in the middle": told(
        StepsDiscarded, reason="after_error", repair=True
    ),
    "no repair": ended("failed", "no_repair"),
    "a verdict is asked for again": _again_and_readable("reviewer"),
    "an unusable verdict, twice": _corrective_after("unusable"),
    "a form that is tolerated": told(ReplyUnusable, next="tolerated"),
    "a draft is asked for again": _again_and_readable("drafter"),
    "an unusable draft, twice": _closed("unusable_draft"),
    "k reads, not reviewed": _segment(lambda s: s.reason == "k_reads" and s.verdict is None),
    "a reply closes": _closed("reply"),
    "finish=free": _closed("finish", finish="free"),
    "stalled": _closed("stalled"),
    "stall=ignore": _repeats,
    "budget: steps": ended("truncated", "max_steps"),
    "budget: strong calls": ended("truncated", "max_strong_calls"),
    "budget: tokens": ended("truncated", "max_tokens"),
    "budget: cost": ended("truncated", "max_cost_usd"),
    "budget: wall time": ended("truncated", "max_wall_s"),
    "the drafter's prompt does not fit": ended("truncated", "context_drafter"),
    "the reviewer's prompt does not fit": ended("truncated", "context_reviewer"),
    "parallel calls with a write inside": _dropped("held"),
    "parallel calls with a look-up that changed the state": _dropped("effect_observed"),
    "review=every": _segment(lambda s: s.reason == "k_reads" and s.verdict is not None, review="every"),
    "max_unreviewed": lambda played: (
        _segment(lambda s: s.reason == "k_reads" and s.verdict is not None, review="held")(played)
        and played.options["max_unreviewed"] is not None
    ),
    "a drafted look-up changed the state": told(EffectObserved, authority="unreviewed"),
    "a repair's look-up changed the state": lambda played: any(
        event.body.authority.startswith("repair:") for event in played.all(EffectObserved)
    ),
    "the state moved": lambda played: bool(played.all(StateMoved)),
    "an indeterminate write": told(ActFailed, effect="write", outcome="indeterminate"),
    "a look-up without an answer": told(ActFailed, effect="read"),
    "never sent": lambda played: any(event.body.objection for event in played.all(StepDrafted)),
    "the user's model fails": ended("failed", "model_user_unreachable"),
    "the weak model fails": ended("failed", "model_weak_unreachable"),
    "the strong model fails": ended("failed", "model_strong_unreachable"),
    "steps that nobody will judge": told(StepsDiscarded, reason="budget"),
    "the environment ends the episode": ended("completed", "environment_done"),
    "acceptance=exact: all equal": _segment(lambda s: _decided(s) == "accept", acceptance="exact"),
    "acceptance=exact: another step": _segment(lambda s: _decided(s) == "reject", acceptance="exact"),
    "acceptance=exact: unreadable": _segment(lambda s: _decided(s) == "unusable", acceptance="exact"),
    "verdict=scored: yes": _segment(lambda s: _decided(s) == "accept", verdict="scored", acceptance="semantic"),
    "verdict=scored: no": _segment(lambda s: _decided(s) == "reject", verdict="scored", acceptance="semantic"),
    "verdict=scored: no scores": _segment(lambda s: _decided(s) == "unusable", verdict="scored", acceptance="semantic"),
    "unreviewed=revisable: all accepted": _segment(lambda s: bool(s.earlier) and _decided(s) == "accept"),
    "unreviewed=revisable: an earlier segment is rejected": _segment(
        lambda s: any(folded.fate == "discarded" for earlier in s.earlier for folded in earlier.steps)
    ),
    "repair_sees=draft": _segment(lambda s: s.repair is not None, repair_sees="draft", fused=False),
    "feedback=reason": _segment(lambda s: _decided(s) == "reject", feedback="reason"),
    "prompts=separate": _segment(lambda s: s.repair is not None, prompts="separate"),
}
"""The dialogue list of the issue, and the options that came later."""


def taken(branches: Mapping[str, Taken], played: Played) -> Iterator[str]:
    """Return the branches that an episode took."""
    return (name for name, is_taken in branches.items() if is_taken(played))
