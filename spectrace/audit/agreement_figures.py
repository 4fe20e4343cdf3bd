"""The figures of two verifiers beside each other: each with its name, interval, bounds, what it counts and its method.

E1 is agreement over all reviews, each in its recorded context; E2, how long episodes stay the same, is told against
the record alone: an episode went the way that the record says. Counterpart of `agreement_rows`, which words them, and
of `reverified`, which reads the runs.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from spectrace.audit.near_threshold import MARGIN
from spectrace.stats import agreement
from spectrace.stats.asymmetry import asymmetry
from spectrace.stats.bootstrap import TaskBootstrap, difference
from spectrace.stats.estimates import Clusters, Estimate, clustered, episodes
from spectrace.stats.flips import Flips, sign_flips
from spectrace.stats.judgements import Both, Review, compared
from spectrace.stats.noise import Repeated, flip_rate, noise, repeat_rate
from spectrace.stats.proportions import proportion
from spectrace.stats.repeats import by_segment, mean_over
from spectrace.stats.survival import Median, Point, by_episode, curve, fates, lifetimes, median, turning

Form = Literal["percent", "points", "number", "review", "p", "count"]

FLOOR_UNKNOWN = "none: floor unknown, it has not been asked again"
RECORDED = "recorded"
"""What stands for the verdicts in the record, beside the names of runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure. Shares lie between 0 and 1; of bounds, low and high alone are meant."""

    metric: str
    title: str
    """In a table; empty: it stands in none."""
    estimate: Estimate
    bounds: Estimate | None = None
    form: Form = "percent"
    noun: str = "review"
    """What n counts."""
    over: int | None = None
    """Of a median: the last review that the curve has; what is None lies over it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two verifiers on the same reviews; a review's `recorded` is what the first of them said, `new` the second.

    A review that was judged several times is there once for each; every figure counts it once.
    """

    first: str | None
    """A run; None: the verdicts in the record."""
    second: str
    reviews: Sequence[Review]
    only_rejected: bool = False
    """Whether only recorded rejections were judged again."""
    repeats: Sequence[Repeated] = ()
    """What each said to the same segment, however often it was asked."""
    again: Sequence[Review] = ()
    """Against the record: what the recorded verifiers themselves said when they were asked once more."""
    scored: Mapping[str, Sequence[tuple[str, bool]]] = field(default_factory=dict)
    """Of each run whose verdicts are scored: the steps that it judged, as (task, whether near the threshold)."""
    beside: tuple[Sequence[Review], Sequence[Review]] = ((), ())
    """Of two runs: each against the record, of the reviews that all three judged."""

    @property
    def label(self) -> str:
        """The pair in a few words."""
        return f"{self.second} against {self.first or 'the record'}"

    @property
    def names(self) -> tuple[str, str]:
        """What the two are called in a table: the record's verdicts are the recorded ones, a run's the new ones."""
        return (RECORDED, "new") if self.first is None else (self.first, self.second)


def figures(pair: Pair, bootstrap: TaskBootstrap) -> list[Figure]:
    """Return the figures of a pair. Of recorded rejections alone only their repetition is told against the record."""
    if pair.first is None and pair.only_rejected:
        return [*_counts(pair), *_rejections(pair), *_scored(pair)]
    if all(one.recorded is None for one in pair.reviews):
        return [*_counts(pair), *_known(_flips(pair)), *_scored(pair)]
    course = (*_survival(pair.reviews), *_fates(pair.reviews)) if pair.first is None else _beside(pair, bootstrap)
    return [
        *_counts(pair),
        *_agreement(pair.reviews),
        *_acceptance(pair, bootstrap),
        *course,
        *_noise(pair),
        *_scored(pair),
    ]


def _counts(pair: Pair) -> Iterator[Figure]:
    """Yield what was asked, and why verdicts are in no agreement."""
    asked = [one for one in pair.reviews if one.recorded is not None]
    out = agreement.left_out(pair.reviews)
    counts = {
        "reviews": len(_places(pair.reviews)),
        "verdicts": len(pair.reviews),
        "derived": len(_places(pair.reviews)) - len(_places(asked)),
        "compared": len(compared(asked)),
        **{f"left_out_{kind}": out.get(kind, 0) for kind in ("unusable", "too_long", "failed", "context_redacted")},
    }
    if pair.first is None and not pair.only_rejected:
        counts["counterfactual"] = counterfactual(pair.reviews)
    for metric, value in counts.items():
        yield _count(metric, value, pair.reviews)


def _places(reviews: Iterable[Review]) -> set[tuple[str, int]]:
    return {(one.episode, one.number) for one in reviews}


def counterfactual(reviews: Sequence[Review]) -> int:
    """Count the reviews that came after one that came out differently, or nobody knows."""
    turned = [(group, one) for group in by_episode(reviews) if (one := turning(group)) is not None]
    return sum(other.number > one.number for group, one in turned for other in group)


def _count(metric: str, value: int, reviews: Sequence[Review]) -> Figure:
    tasks = len({one.task for one in reviews})
    found = Estimate(value=value, n=len(_places(reviews)), clusters=tasks, method="count")
    return Figure(metric=metric, title="", estimate=found, form="count")


def _agreement(reviews: Sequence[Review]) -> Iterator[Figure]:
    yield Figure(
        metric="agreement",
        title="agree on accepting all",
        estimate=agreement.agreement(reviews),
        bounds=agreement.bounds(reviews),
    )
    for metric, title, statistic, found in (
        ("kappa", "Cohen's kappa", agreement.kappa_of, agreement.kappa(reviews)),
        ("ac1", "Gwet's AC1", agreement.ac1_of, agreement.ac1(reviews)),
    ):
        bounds = agreement.bounds_of(reviews, statistic)
        yield Figure(metric=metric, title=title, estimate=found, bounds=bounds, form="number")
    both = agreement.same_step(reviews)
    title = "same first wrong step" if both.n else ""
    yield Figure(metric="same_step", title=title, estimate=both, bounds=agreement.same_step_bounds(reviews))
    yield Figure(
        metric="per_step",
        title="agree on single steps",
        estimate=agreement.per_step(reviews),
        bounds=agreement.per_step_bounds(reviews),
        noun="step",
    )
    yield Figure(
        metric="signed_difference",
        title="accepted share (difference)",
        estimate=agreement.signed_difference(reviews),
        bounds=agreement.signed_difference_bounds(reviews),
        form="number",
    )


def _acceptance(pair: Pair, bootstrap: TaskBootstrap) -> Iterator[Figure]:
    """Yield how often each accepts all, of what both judged, and which way they differ, with the paired test."""
    judged = compared(pair.reviews)
    first = _shares(judged, lambda both: float(both[1].kind == "accept"))
    second = _shares(judged, lambda both: float(both[2].kind == "accept"))
    titles = [f"accepts all ({name})" for name in pair.names]
    ways = asymmetry(pair.reviews)
    for metric, value in (("accepts_only_first", ways.new_rejects), ("accepts_only_second", ways.new_accepts)):
        yield Figure(
            metric=metric,
            title="",
            estimate=replace(ways.difference, value=value, low=None, high=None, method="count"),
            form="count",
        )
    yield from _paired("accepts", (*titles, "accepts all"), first, second, bootstrap)
    yield from _tested("accepts", "accepts all", ways.flips, ways.difference.n)


def _beside(pair: Pair, bootstrap: TaskBootstrap) -> Iterator[Figure]:
    """Yield how often each of two runs agrees with the record, of what all three judged, with the paired test."""
    first, second = (
        _shares(compared(reviews), lambda both: float(both[1].kind == both[2].kind)) for reviews in pair.beside
    )
    titles = [f"agrees with the record ({name})" for name in pair.names]
    if first:
        yield from _paired("agrees", (*titles, "agrees with the record"), first, second, bootstrap)
        flips = sign_flips(second, first, draws=bootstrap.draws, seed=bootstrap.seed)
        yield from _tested("agrees", "agrees with the record", flips, episodes(first.values()))


def _shares(judged: Iterable[Both], value: Callable[[Both], float]) -> Clusters:
    """Return a value by task; a review counts once, as the mean over its repeats."""
    return clustered((group[0][0].task, mean_over(group, value)) for group in by_segment(judged))


def _paired(
    metric: str, titles: tuple[str, ...], first: Clusters, second: Clusters, bootstrap: TaskBootstrap
) -> Iterator[Figure]:
    for which, title, clusters in zip(("first", "second"), titles, (first, second), strict=False):
        found = proportion(clusters)
        yield Figure(metric=f"{metric}_{which}", title=title, estimate=_named(found))
    found = _named(bootstrap.estimate(difference, second, first))
    yield Figure(
        metric=f"{metric}_difference",
        title=f"{titles[-1]} (difference, points)",
        estimate=replace(found, n=found.n // 2),
        form="points",
    )


def _tested(metric: str, title: str, flips: Flips | None, n: int) -> Iterator[Figure]:
    if flips is not None:
        tested = Estimate(value=flips.p, n=n, clusters=flips.clusters, method=flips.method)
        yield Figure(metric=f"{metric}_p", title=f"{title} (p of no difference)", estimate=tested, form="p")


def _named(found: Estimate) -> Estimate:
    return found if found.clusters else replace(found, method=agreement.NONE_COMPARED)


def _survival(reviews: Sequence[Review]) -> Iterator[Figure]:
    """Yield the median survival, once more with what is unknown counted as different where that differs, the curve."""
    known, harsh = (lifetimes(reviews, unknown_differs=each) for each in (False, True))
    noun = "episode" if all(one.repeat == 1 for one in reviews) else "judged episode"
    yield _median("survival_median", "half differ by review", median(known), noun)
    title = "half (unknown counted)" if median(harsh) != median(known) else ""
    yield _median("survival_median_unknown_differs", title, median(harsh), noun)
    for name, lives in (("survival", known), ("survival_unknown_differs", harsh)):
        for point in curve(lives):
            yield Figure(metric=f"{name}_{point.number}", title="", estimate=point.same, noun=noun)


def _median(metric: str, title: str, found: Median, noun: str) -> Figure:
    estimate = Estimate(
        value=found.value,
        low=found.low,
        high=found.high,
        n=found.episodes,
        clusters=found.clusters,
        method=found.method,
    )
    over = found.reviews or None
    return Figure(metric=metric, title=title, estimate=estimate, form="review", noun=noun, over=over)


def _fates(reviews: Sequence[Review]) -> Iterator[Figure]:
    """Yield what becomes of the writes that waited at the review where an episode turns."""
    found = fates(reviews)
    for name in ("let_through", "stopped", "same", "unknown"):
        yield _count(f"writes_{name}", found[name], reviews)


def _noise(pair: Pair) -> Iterator[Figure]:
    """Yield the disagreement beyond what each verifier differs from itself; where one alone repeats, its own."""
    found = noise(pair.repeats)
    yield Figure(metric="excess", title="excess disagreement", estimate=found.excess)
    repeated = found.excess.clusters > 0
    yield Figure(metric="disagreement", title="disagreement (repeats)" if repeated else "", estimate=found.between)
    yield from _flips(pair, (found.first, found.second) if repeated else None)


def _flips(pair: Pair, beside: tuple[Estimate, Estimate] | None = None) -> Iterator[Figure]:
    """Yield how often each verifier differs from itself: where both repeat `beside` their disagreement, of the same."""
    alone = (flip_rate((one.task, one.first) for one in pair.repeats), flip_rate(_seconds(pair)))
    for which, name, found in zip(("first", "second"), pair.names, beside or alone, strict=True):
        title = f"differs from itself ({name})" if found.clusters else ""
        yield Figure(metric=f"disagreement_{which}", title=title, estimate=found)


def _known(found: Iterable[Figure]) -> Iterator[Figure]:
    return (one for one in found if one.title)


def _seconds(pair: Pair) -> list[tuple[str, Sequence[str]]]:
    return [(one.task, one.second) for one in pair.repeats]


def _scored(pair: Pair) -> Iterator[Figure]:
    """Yield how many of the steps that a scored verdict judged lie so near the threshold that they may flip."""
    for run, steps in pair.scored.items():
        yield Figure(
            metric="near_threshold" if run == pair.second else "near_threshold_first",
            title=f"scored within {MARGIN} nat ({run if pair.first is not None else 'new'})",
            estimate=proportion(clustered((task, float(near)) for task, near in steps)),
            noun="scored step",
        )


def _rejections(pair: Pair) -> Iterator[Figure]:
    same = agreement.rejected_again(pair.again)
    found, bounds = agreement.rejected_again(pair.reviews), agreement.rejected_again_bounds(pair.reviews)
    yield Figure(metric="rejected_again", title="rejected again", estimate=found, bounds=bounds)
    yield Figure(
        metric="rejected_again_by_first",
        title="by the first verifier",
        estimate=same if same.n else replace(same, method=FLOOR_UNKNOWN),
    )
    own = repeat_rate(_seconds(pair))
    title = "new rejections, repeated" if own.clusters else ""
    yield Figure(metric="rejections_repeated", title=title, estimate=own)
    yield from _known(_flips(pair))


def survival_curves(pair: Pair) -> tuple[list[Point], list[Point]]:
    """Return the survival curve, and the lower one where what is unknown counts as different."""
    known, harsh = (lifetimes(pair.reviews, unknown_differs=each) for each in (False, True))
    return curve(known), curve(harsh)


def crossed(reviews: Iterable[Review]) -> Counter[tuple[str | None, str]]:
    """Count (what the first said, what the second said); None: nobody judged the segment when it was recorded."""
    return Counter((None if one.recorded is None else one.recorded.kind, one.new.kind) for one in reviews)
