"""Why a draft was rejected: each review with what led to it and what followed. Pure: events -> WhyItems."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from spectrace.audit.answers import WhyItem, WhyStep
from spectrace.audit.notes import scores
from spectrace.core.events import ActCompleted, ActRequested, EffectObserved, Event, GenerateCompleted
from spectrace.core.fold import Episode, FoldedSegment, FoldedStep, fold


def why_items(events: Sequence[Event]) -> list[WhyItem]:
    """Return one item for each reviewed segment, accepted ones included, in order."""
    episode = fold(events)
    reasoning = {
        event.body.request: event.body.reasoning
        for event in events
        if isinstance(event.body, GenerateCompleted) and event.body.reasoning
    }
    asked = {event.body.position: event.seq for event in events if isinstance(event.body, ActRequested)}
    sources = {e.body.request: (e.body.source, e.body.model) for e in events if isinstance(e.body, GenerateCompleted)}
    known = _Beside(reasoning, _changes(events), asked, scores(episode), sources)
    return [_item(episode, segment, known) for segment in episode.segments if segment.verdict is not None]


@dataclass(frozen=True, slots=True)
class _Beside:
    """What the events say of steps that the fold does not keep."""

    reasoning: Mapping[int, str]
    """Model call -> what the model thought."""
    changed: Mapping[int, bool]
    """act.requested -> whether the state changed."""
    asked: Mapping[str, int]
    """Position -> its act.requested: the fold keeps only those that were answered."""
    scores: Mapping[int, str]
    """step.drafted -> the probability of its scored verdict."""
    sources: Mapping[int, tuple[str, str | None]]
    """Model call -> where its answer came from, and who it says that it is from."""


def _changes(events: Sequence[Event]) -> dict[int, bool]:
    """Return act.requested -> whether the state changed: by the fingerprints, or as it was observed of a read."""
    found: dict[int, bool] = {}
    for event in events:
        match event.body:
            case ActCompleted(request=request, fingerprint_before=str(before), fingerprint_after=str(after)):
                found[request] = before != after
            case EffectObserved(request=request):
                found[request] = True
            case _:
                pass
    return found


def segment_starts(events: Iterable[Event]) -> dict[int, int]:
    """Return segment -> the event that it begins with: its first draft's model call, else its first event."""
    starts: dict[int, int] = {}
    for segment in fold(events).segments:
        asked = [step.request for step in segment.steps[:1] if step.request is not None]
        known = [*asked, *(step.seq for step in segment.steps[:1]), segment.closed, segment.verdict_seq]
        starts[segment.index] = min((seq for seq in known if seq is not None), default=0)
    return starts


def _item(episode: Episode, segment: FoldedSegment, known: _Beside) -> WhyItem:
    verdict = segment.verdict
    if verdict is None or segment.verdict_seq is None:
        msg = f"segment {segment.index} was not reviewed"
        raise ValueError(msg)
    models = {facts.role: f"{facts.provider}:{facts.name}" for facts in episode.started.models}
    held = len(segment.judged) if segment.reason == "held" else None
    source, by = known.sources.get(-1 if segment.review is None else segment.review, ("", None))
    return WhyItem(
        episode=episode.id,
        request=request_of(episode),
        segment=segment.index,
        verdict_seq=segment.verdict_seq,
        review_seq=segment.review,
        drafted=verdict.drafted,
        accepted=verdict.accepted,
        decision=verdict.decision,
        status=verdict.status,
        cause=verdict.cause,
        category=verdict.category,
        reason=verdict.reason,
        raw=verdict.raw,
        weak=models.get("weak"),
        strong=models.get("strong"),
        earlier=len(segment.history.steps),
        closed=segment.reason,
        steps=tuple(_step(number, folded, number == held, known) for number, folded in enumerate(segment.judged, 1)),
        repair_seq=segment.repair.seq if segment.repair else None,
        repair_kind=segment.repair.kind if segment.repair else None,
        fused_unusable=segment.repair.fused_unusable if segment.repair else None,
        repair=tuple(
            _step(number, folded, held=False, known=replace(known, reasoning={}))
            for number, folded in enumerate(segment.repair.steps if segment.repair else (), 1)
        ),
        end_status=episode.ended.outcome if episode.ended else "running",
        end_reason=episode.ended.reason if episode.ended else None,
        reward=episode.ended.reward if episode.ended else None,
        edited_by=(by or "").removeprefix("person:") if source == "edited" else None,
        taken_over=episode.taken.has(segment.verdict_seq, segment.review),
    )


def request_of(episode: Episode) -> str:
    """Return what the user asked for: the opening's last user message, else the task's request."""
    said = [message.content for message in episode.history.opening if message.role == "user"]
    return said[-1] if said else episode.started.task.request


def _step(number: int, folded: FoldedStep, held: bool, known: _Beside) -> WhyStep:  # noqa: FBT001
    step, act = folded.step, folded.act
    if act is None:
        act = known.asked.get(step.position)
    return WhyStep(
        number=number,
        position=step.position,
        action=step.action,
        effect=step.effect.value,
        observation=step.observation,
        held=held,
        fate=folded.fate,
        seq=folded.seq,
        act_seq=act,
        reasoning=known.reasoning.get(folded.request) if folded.request is not None else None,
        objection=folded.objection,
        changed=known.changed.get(act) if act is not None else None,
        probability=known.scores.get(folded.seq),
    )
