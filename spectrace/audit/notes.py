"""What an episode tells beside its steps, and where: plans, judgements, who drove, replies that broke the form.

Pure: a folded episode -> notes by segment, scores by step. A note about a reply belongs to the segment whose events it
stands among; any other goes in front of the segment that begins after it. Shown by `story` and by the viewer.
"""

import json
from collections.abc import Iterator, Mapping
from typing import assert_never

from spectrace.audit.lines import counted
from spectrace.core.events import ControlPassed, PlanMade, ProgressJudged, ReplyUnusable
from spectrace.core.fold import Episode, FoldedSegment, Note

_READ = {
    "tolerated": "was read although it breaks the form",
    "asked_again": "could not be read and was asked for again",
    "gave_up": "could not be read, and no other was asked for",
}
_TAKES = {"planned": "drives", "stagnation": "takes over", "budget_spent": "drives again", "progress": "drives again"}


def seqs(segment: FoldedSegment) -> Iterator[int]:
    """Yield the events that a segment is told by, in no order."""
    for step in (*segment.steps, *segment.guesses):
        yield step.seq
        yield from (seq for seq in (step.request, step.act) if seq is not None)
    yield from (seq for seq in (segment.closed, segment.review, segment.verdict_seq) if seq is not None)
    if segment.repair is not None:
        yield segment.repair.seq
        yield from (step.act for step in segment.repair.steps if step.act is not None)


def first_seq(segment: FoldedSegment) -> int:
    """Return the event that a segment begins with."""
    return min(seqs(segment), default=0)


def inside(episode: Episode) -> dict[int, list[Note]]:
    """Return segment -> the notes about replies that were asked for in it."""
    spans = [(segment.index, first_seq(segment), max(seqs(segment), default=0)) for segment in episode.segments]
    found: dict[int, list[Note]] = {}
    for note in episode.notes:
        if isinstance(note.body, ReplyUnusable):
            of = [index for index, first, last in spans if first <= note.body.request <= last]
            if of:
                found.setdefault(of[0], []).append(note)
    return found


def between(episode: Episode) -> list[list[Note]]:
    """Return the other notes: those in front of each segment, in order, and in the last place those behind them all."""
    within = {note.seq for notes in inside(episode).values() for note in notes}
    begun = [first_seq(segment) for segment in episode.segments]
    places: list[list[Note]] = [[] for _ in range(len(begun) + 1)]
    for note in episode.notes:
        if note.seq not in within:
            place = next((number for number, first in enumerate(begun) if first > note.seq), len(begun))
            places[place].append(note)
    return places


def driver(episode: Episode, index: int) -> str | None:
    """Return weak or strong: who drove at a segment; None under a protocol in which nobody passes control."""
    passed = [
        note.body.to for note in episode.notes if isinstance(note.body, ControlPassed) and note.body.segment <= index
    ]
    return passed[-1] if passed else None


def headline(note: Note) -> str:
    """Say what happened, in the words of a heading."""
    match note.body:
        case PlanMade():
            return "Plan of the strong model"
        case ProgressJudged(who=who, outcome=outcome, failures=failures):
            again = f", {failures} times in a row" if failures > 1 else ""
            judged = "a judgement that cannot be read" if outcome == "unusable" else outcome
            return f"The {who} model judges itself after segment {note.body.segment}: {judged}{again}"
        case ControlPassed(to=to, reason=reason, steps=steps, segment=segment):
            span = "" if steps is None else f" for {counted(steps, 'step')}"
            why = "as planned" if reason == "planned" else f"after {reason.replace('_', ' ')}"
            return f"From segment {segment} on the {to} model {_TAKES.get(reason, 'drives')}{span}, {why}"
        case ReplyUnusable(role=role, next=then):
            return f"A reply of the {role} {_READ.get(then, then.replace('_', ' '))}"
        case _:
            assert_never(note.body)


def words(note: Note) -> str | None:
    """Return the recorded text that belongs to it: the plan, the reason, the cause."""
    match note.body:
        case PlanMade(plan=text) | ReplyUnusable(cause=text):
            return text
        case ProgressJudged(reason=reason):
            return reason
        case ControlPassed():
            return None
        case _:
            assert_never(note.body)


def scores(episode: Episode) -> dict[int, str]:
    """Return step.drafted -> the probability that a scored verdict gave the step, as it was recorded."""
    found: dict[int, str] = {}
    for segment in episode.segments:
        said = segment.verdict.probabilities if segment.verdict is not None else None
        if said is not None:
            found |= {step.seq: score for step, score in zip(segment.judged, _texts(said), strict=False)}
    return found


def _texts(probabilities: str) -> list[str]:
    """Return the decimal strings; a foreign log may hold anything in their place."""
    try:
        told = json.loads(probabilities)
    except (ValueError, RecursionError):
        return []
    return [one for one in told if isinstance(one, str)] if isinstance(told, list) else []


def taken_guesses(episode: Episode) -> Mapping[int, str]:
    """Return act.requested -> where it was guessed: what a step took instead of being sent itself."""
    guesses = [guess for segment in episode.segments for guess in segment.guesses]
    return {guess.act: guess.step.position for guess in guesses if guess.fate == "committed" and guess.act is not None}
