"""The reviews of a re-verification as the statistics take them: with task, place, and what became of the held write.

A pass that ended early leaves reviews without a new verdict: they are counted as too long or failed, never dropped.
Counterpart of `stats.agreement` and `stats.survival`, which know no log.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from spectrace.audit.answers import Filters
from spectrace.audit.queries import Reader
from spectrace.core.events import EpisodeStarted, VerdictGiven
from spectrace.core.fold import Episode, FoldedSegment, fold, verdict_of
from spectrace.core.prompts import Prompts, written
from spectrace.core.reviews import Review as Recorded
from spectrace.core.reviews import reviews_of
from spectrace.core.sameness import same_action
from spectrace.core.types import Action, Effect, Outcome, Verdict
from spectrace.stats.judgements import Judgement, Kind, Review

REVERIFY = "reverify"


class Rechecked(Protocol):
    """One review, judged again: `runs.reverify.Recheck`."""

    @property
    def episode(self) -> str:
        """The episode that was judged again."""
        ...

    @property
    def segment(self) -> int:
        """Its segment."""
        ...

    @property
    def new(self) -> Verdict:
        """The new verdict."""
        ...


def judged_reviews(
    reader: Reader,
    rechecks: Iterable[Rechecked],
    ended: Mapping[str, Outcome] | None = None,
    *,
    only_rejected: bool = False,
) -> list[Review]:
    """Return every review that was, or was to be, judged again.

    `ended` says how the pass over an episode ended, where it may have ended early.
    """
    verdicts: dict[str, dict[int, Verdict]] = {name: {} for name in ended or {}}
    for one in rechecks:
        verdicts.setdefault(one.episode, {})[one.segment] = one.new
    return [
        review
        for name, new in verdicts.items()
        for review in _of_episode(reader.episode(name), new, (ended or {}).get(name), only_rejected=only_rejected)
    ]


def asked_again(reader: Reader, episodes: Iterable[str]) -> list[Review]:
    """Return what the verifiers that rejected said when they were asked the same again, in whatever run.

    That is how often the same verifier repeats itself: the floor under what another one says of its rejections.
    """
    wanted, found = set(episodes), list[Review]()
    for one in reader.iter_episodes(Filters(protocol=(REVERIFY,), status=("completed",))):
        if one.parent not in wanted:
            continue
        episode, child = reader.episode(one.parent), reader.events(one.episode)
        if _same_question(episode.started, fold(child).started):
            verdicts = {
                event.body.segment: verdict_of(event.body) for event in child if isinstance(event.body, VerdictGiven)
            }
            found += _of_episode(episode, verdicts, None, only_rejected=True)
    return found


def _same_question(first: EpisodeStarted, again: EpisodeStarted) -> bool:
    """Whether a pass asked the recorded reviewer itself, by its own prompts, for what it had been asked."""
    options = json.loads(first.options)
    decoded = (options.get("verdict", "decoded"), options.get("acceptance", "semantic")) == ("decoded", "semantic")
    prompts = Prompts.from_json(first.prompts).to_json() == Prompts.from_json(again.prompts).to_json()
    return decoded and prompts and _reviewers(first) == _reviewers(again)


def _reviewers(started: EpisodeStarted) -> list[tuple[str | bool, ...]]:
    return [
        (one.provider, one.name, one.parameters, one.calls, one.constrained)
        for one in started.models
        if one.role == "strong"
    ]


def _of_episode(
    episode: Episode, verdicts: Mapping[int, Verdict], ended: Outcome | None, *, only_rejected: bool
) -> Iterator[Review]:
    judged, stopped = dict[int, Verdict | Kind](verdicts), _stopped(ended)
    for one in reviews_of(episode) if stopped is not None else ():
        if one.segment not in judged and stopped is not None and (not only_rejected or _is_rejected(one)):
            judged[one.segment], stopped = stopped, "failed"
    return episode_reviews(episode, judged, only_rejected=only_rejected)


def episode_reviews(
    episode: Episode, judged: Mapping[int, Verdict | Kind], *, only_rejected: bool = False
) -> Iterator[Review]:
    """Yield an episode's reviews, by segment: the new verdict, or the kind of judgement that stands in its place.

    A segment that `judged` does not name was not to be judged.
    """
    task = f"{episode.started.environment.name} {episode.started.task_digest}"
    for number, one in enumerate(reviews_of(episode), start=1):
        new = judged.get(one.segment)
        if new is None or (only_rejected and not _is_rejected(one)):
            continue
        repairs = _Repairs.of(episode, one)
        yield Review(
            task=task,
            episode=episode.id,
            number=number,
            drafted=len(one.steps),
            recorded=None if one.recorded is None else repairs.judgement(one.recorded),
            new=repairs.judgement(new) if isinstance(new, Verdict) else Judgement(new),
            writes=bool(one.steps) and one.steps[-1].effect is Effect.WRITE and one.steps[-1].observation is None,
        )


def _is_rejected(one: Recorded) -> bool:
    return one.recorded is not None and one.recorded.decision == "reject"


def _stopped(ended: Outcome | None) -> Kind | None:
    """Return what stands for the verdict that ended a pass early; those after it were never asked for: failed."""
    if ended is None or ended.status == "completed":
        return None
    return "too_long" if (ended.status, ended.reason) == ("truncated", "context_reviewer") else "failed"


@dataclass(frozen=True, slots=True)
class _Repairs:
    """Which action a rejection of one segment leads to, as far as the record knows."""

    fused: bool
    recorded: Action | None
    """The recorded verdict's replacement."""
    refused: bool
    """Whether the environment, or the tool's schema, had an objection to it."""

    @classmethod
    def of(cls, episode: Episode, review: Recorded) -> "_Repairs":
        fused = json.loads(episode.started.options).get("fused", True) is not False
        repair = next((one.repair for one in episode.segments if _gave(one, review)), None)
        replacement = None if review.recorded is None else review.recorded.replacement
        return cls(fused, replacement, repair is not None and repair.fused_unusable is not None)

    def judgement(self, verdict: Verdict) -> Judgement:
        match verdict.decision:
            case "accept":
                return Judgement("accept", verdict.accepted)
            case "reject":
                return Judgement("reject", verdict.accepted, verdict.category, self._action(verdict.replacement))
            case _:
                return Judgement("unusable")

    def _action(self, replacement: Action | None) -> str | None:
        if replacement is None or not self.fused:
            return None
        if self.recorded is not None and same_action(self.recorded, replacement):
            return None if self.refused else written(self.recorded)
        return written(replacement)


def _gave(segment: FoldedSegment, review: Recorded) -> bool:
    return segment.verdict_seq is not None and segment.verdict_seq == review.verdict_seq
