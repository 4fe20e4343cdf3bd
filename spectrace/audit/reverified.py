"""One or two re-verification runs as `compare`, `reverify` and the viewer tell them: the pairs that stand side by side.

One run stands against the record; two also against each other, on the reviews that both judged, derived ones among
them. Everything is sorted by episode and place, so that the order of rows in a database changes no digit.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from spectrace.audit import passes
from spectrace.audit.agreement_figures import Figure, Pair, figures
from spectrace.audit.derived import DerivedReview, derived_reviews
from spectrace.audit.floor import Again, answers, asked_again, repeated
from spectrace.audit.near_threshold import steps_near
from spectrace.audit.passes import Pass
from spectrace.audit.queries import Reader
from spectrace.errors import UsageError
from spectrace.stats.bootstrap import TaskBootstrap
from spectrace.stats.judgements import Review
from spectrace.stats.repeats import paired

_MOST = 2


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One run with its reviews, each as often as it was to be judged."""

    found: Pass
    reviews: tuple[Review, ...]
    derived: tuple[DerivedReview, ...]

    @property
    def run(self) -> str:
        """Its name."""
        return self.found.run

    @cached_property
    def answers(self) -> Mapping[tuple[str, int], list[str]]:
        """What it said of each review in all repeats."""
        return answers(self.reviews)

    @cached_property
    def scored_steps(self) -> Sequence[tuple[str, bool]]:
        """The steps that its scored verdicts judged, in all repeats: (task, whether near the threshold)."""
        tasks = {review.episode: review.task for review in self.reviews}
        return [
            (tasks[one.episode], near)
            for one in self.found.answers
            if one.threshold is not None
            for near in steps_near([one.verdict], one.threshold)
        ]


@dataclass(frozen=True, kw_only=True)
class Reverified:
    """What is told of one run, or of two."""

    runs: tuple[Judged, ...]
    pairs: tuple[Pair, ...]
    bootstrap: TaskBootstrap
    passing: float

    @cached_property
    def figures(self) -> list[tuple[Pair, list[Figure]]]:
        """The figures of each pair; drawn once."""
        return [(pair, figures(pair, self.bootstrap)) for pair in self.pairs]


def read_reverified(
    reader: Reader, runs: Sequence[str], bootstrap: TaskBootstrap | None = None, passing: float = 1.0
) -> Reverified:
    """Read one re-verification run, or two to set side by side."""
    names = list(dict.fromkeys(runs))
    if not 1 <= len(names) <= _MOST:
        raise UsageError(f"one re-verification, or two, can be set side by side; {len(names)} were named.")
    judged = tuple(_judged(reader, run, passing) for run in names)
    asked = {review.episode for one in judged for review in one.reviews if review.recorded is not None}
    again = asked_again(reader, asked)
    pairs = [_against_record(one, again) for one in judged]
    if len(judged) == _MOST:
        pairs.append(_side_by_side(*judged))
    return Reverified(runs=judged, pairs=tuple(pairs), bootstrap=bootstrap or TaskBootstrap(), passing=passing)


def _judged(reader: Reader, run: str, passing: float) -> Judged:
    found = passes.read_pass(reader, run)
    reviews = tuple(sorted(_every_repeat(reader, found), key=lambda one: (one.episode, one.number, one.repeat)))
    return Judged(found=found, reviews=reviews, derived=tuple(derived_reviews(reader, reviews, passing)))


def _every_repeat(reader: Reader, found: Pass) -> Iterator[Review]:
    for repeat in range(1, found.repeats + 1):
        for one in passes.reviews(reader, found, repeat):
            yield replace(one, repeat=repeat)


def _against_record(one: Judged, told: Sequence[Again]) -> Pair:
    """Return a run against the record, with what its episodes' own verifiers `told` when they were asked again."""
    asked = [review for review in one.reviews if review.recorded is not None]
    episodes = {review.episode for review in asked}
    again = [each for each in told if each.review.episode in episodes]
    rejections = [replace(each.review, repeat=place) for place, each in enumerate(again) if _rejected(each.review)]
    return Pair(
        first=None,
        second=one.run,
        reviews=one.reviews,
        only_rejected=one.found.only_rejected,
        repeats=repeated(
            {(review.episode, review.number): review.task for review in one.reviews},
            _recorded(asked, again, one),
            one.answers,
        ),
        again=rejections,
        scored=_scored(one),
    )


def _scored(*judged: Judged) -> Mapping[str, Sequence[tuple[str, bool]]]:
    """Return the scored steps of those runs that have any, by task and whether near the threshold."""
    return {one.run: steps for one in judged if (steps := one.scored_steps)}


def _rejected(review: Review) -> bool:
    return review.recorded is not None and review.recorded.kind == "reject"


def _recorded(asked: Sequence[Review], again: Sequence[Again], one: Judged) -> Mapping[tuple[str, int], list[str]]:
    """Return what the recorded verifier said: in the record, then in other runs that asked it the same."""
    more = answers(each.review for each in again if each.run != one.run)
    found: dict[tuple[str, int], list[str]] = {}
    for review in asked:
        place = (review.episode, review.number)
        if place not in found:  # judged again several times, recorded once
            own = [review.recorded.kind] if review.recorded is not None and review.recorded.read else []
            found[place] = [*own, *more.get(place, ())]
    return found


def _side_by_side(first: Judged, second: Judged) -> Pair:
    """Return the second run against the first one, on the reviews that both were to judge."""
    both = paired(first.reviews, second.reviews)
    judged = {(one.episode, one.number) for one in both if one.recorded is not None and one.recorded.read}
    judged &= {(one.episode, one.number) for one in both if one.new.read}
    beside = [[one for one in run.reviews if (one.episode, one.number) in judged] for run in (first, second)]
    return Pair(
        first=first.run,
        second=second.run,
        reviews=both,
        only_rejected=first.found.only_rejected or second.found.only_rejected,
        repeats=repeated({(one.episode, one.number): one.task for one in both}, first.answers, second.answers),
        scored=_scored(first, second),
        beside=(beside[0], beside[1]),
    )
