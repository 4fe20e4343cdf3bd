"""Derived reviews by what is known of their held action: whether its write is gold, and whether the episode passed.

Nobody judged these segments when they were recorded, so there is no agreement to take. What a verifier accepts is told
beside two anchors that it has not seen: the task's gold actions (see `gold`) and the episode's reward.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from spectrace.audit.gold import gold_actions, is_gold
from spectrace.audit.passes import Answer
from spectrace.audit.queries import Reader
from spectrace.audit.standing import score_number
from spectrace.core.fold import Episode
from spectrace.core.reviews import reviews_of
from spectrace.core.types import Action, Call
from spectrace.stats.bootstrap import TaskBootstrap, difference
from spectrace.stats.estimates import Cluster, Estimate, clustered
from spectrace.stats.judgements import Judgement, Review
from spectrace.stats.proportions import proportion

Held = Literal["gold", "other", "finish", "unknown"]
Grade = Literal["passed", "failed", "ungraded"]
HELD: tuple[Held, ...] = ("gold", "other", "finish", "unknown")
GRADES: tuple[Grade, ...] = ("passed", "failed", "ungraded")
NONE_JUDGED = "none: no review that was judged"
_NEAR = 1e-6


@dataclass(frozen=True, slots=True)
class DerivedReview:
    """A derived review with its anchors; one that was judged several times is there once for each."""

    task: str
    episode: str
    number: int
    held: Held
    """gold and other: a write; unknown: a write of a task that names no gold actions, or whose task is not sure."""
    grade: Grade
    judged: Judgement


@dataclass(frozen=True, slots=True)
class Cell:
    """The derived reviews of one row and one column of the table; None: of all."""

    held: Held | None
    grade: Grade | None
    n: int
    """All that were to be judged."""
    accepted: Estimate
    """The share that the verifier accepts whole, of those that it judged."""
    rejected: Mapping[str, int]
    """By category, most first."""
    left_out: Mapping[str, int]
    """unusable, too_long, failed, context_redacted."""


def derived_reviews(reader: Reader, reviews: Iterable[Review], passing: float = 1.0) -> list[DerivedReview]:
    """Return the reviews that nobody had judged before, with their anchors; `passing`: the reward from which on."""
    groups: dict[str, list[Review]] = {}
    for one in reviews:
        if one.recorded is None:
            groups.setdefault(one.episode, []).append(one)
    return [found for name, group in groups.items() for found in _of_episode(reader.episode(name), group, passing)]


def _of_episode(episode: Episode, reviews: Sequence[Review], passing: float) -> Iterator[DerivedReview]:
    grade, held = _grade(episode, passing), list(_held(episode).values())
    return (DerivedReview(one.task, one.episode, one.number, held[one.number - 1], grade, one.new) for one in reviews)


def _held(episode: Episode) -> dict[int, Held]:
    """Return what each segment's review holds, in the order of the reviews."""
    gold = gold_actions(episode.started)

    def kind(action: Action | None) -> Held:
        if not isinstance(action, Call):
            return "finish"
        return "unknown" if gold is None else "gold" if is_gold(action, gold) else "other"

    return {one.segment: kind(one.steps[-1].action if one.steps else None) for one in reviews_of(episode)}


def anchors(reader: Reader, answers: Iterable[Answer]) -> dict[tuple[str, int], tuple[Held, Grade]]:
    """Return the anchors of the derived reviews among the answers, by episode and segment; a reward of 1 passes."""
    episodes = dict.fromkeys(one.episode for one in answers if one.derived)
    found: dict[tuple[str, int], tuple[Held, Grade]] = {}
    for name in episodes:
        episode = reader.episode(name)
        grade = _grade(episode, 1.0)
        found |= {(name, segment): (held, grade) for segment, held in _held(episode).items()}
    return found


def _grade(episode: Episode, passing: float) -> Grade:
    ended = episode.ended
    score = None if ended is None else score_number(ended.outcome, ended.reason, ended.reward)
    return "ungraded" if score is None else "passed" if score >= passing - _NEAR else "failed"


def cells(reviews: Sequence[DerivedReview]) -> list[Cell]:
    """Return the table, row by row: each kind of held action that is there, then all; each grade, then all."""
    rows: list[Held | None] = [one for one in HELD if any(review.held == one for review in reviews)]
    grades: list[Grade | None] = [one for one in GRADES if any(review.grade == one for review in reviews)]
    return [
        _cell(held, grade, reviews)
        for held in ([*rows, None] if len(rows) > 1 else rows)
        for grade in ([*grades, None] if len(grades) > 1 else grades)
    ]


def _cell(held: Held | None, grade: Grade | None, reviews: Sequence[DerivedReview]) -> Cell:
    those = [one for one in reviews if held in {None, one.held} and grade in {None, one.grade}]
    rejected = Counter(one.judged.category or "none" for one in those if one.judged.kind == "reject")
    left_out = Counter(cast("str", one.judged.kind) for one in those if not one.judged.read)
    return Cell(
        held,
        grade,
        len({(one.episode, one.number) for one in those}),
        _accepted(those),
        dict(_sorted(rejected)),
        dict(_sorted(left_out)),
    )


def _sorted(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


def _accepted(reviews: Iterable[DerivedReview]) -> Estimate:
    found = proportion(_accepts(reviews))
    if found.clusters:
        return found
    return Estimate(value=None, n=0, clusters=0, method=NONE_JUDGED)


def _accepts(reviews: Iterable[DerivedReview]) -> dict[str, Cluster]:
    """Return the accepted ones by task; a review counts once, as the mean over its repeats."""
    places: dict[tuple[str, int], list[DerivedReview]] = {}
    for one in reviews:
        if one.judged.read:
            places.setdefault((one.episode, one.number), []).append(one)
    return clustered((group[0].task, _share(group)) for group in places.values())


def _share(group: Sequence[DerivedReview]) -> float:
    return sum(one.judged.kind == "accept" for one in group) / len(group)


def gold_less_other(reviews: Iterable[DerivedReview], bootstrap: TaskBootstrap) -> Estimate:
    """Estimate how much more often gold writes are accepted than others, over the tasks that have both."""
    listed = list(reviews)
    return bootstrap.estimate(
        difference,
        _accepts(one for one in listed if one.held == "gold"),
        _accepts(one for one in listed if one.held == "other"),
    )
