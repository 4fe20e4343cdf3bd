"""Protocols side by side: for each column its metrics, each with clusters and method. Counterpart of `columns`.

A metric of costs is the mean over the scored episodes, so that it stands beside the score of the same episodes. A sum
with an unknown part is unknown. Where a value must not or cannot be printed, `method` says why, as "none: ...".
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from spectrace import __version__
from spectrace.audit.columns import ComparedColumn, Counted, strong_alone, weak_alone
from spectrace.audit.lines import counted
from spectrace.audit.near_threshold import MARGIN
from spectrace.audit.relative import Relative, relative
from spectrace.core.endings import infrastructure
from spectrace.cost.accounting import Account, Proposition
from spectrace.cost.phases import MEASURES, Call
from spectrace.cost.prediction import Prediction
from spectrace.stats.bootstrap import TaskBootstrap, difference, ratio
from spectrace.stats.estimates import Clusters, Estimate, clustered
from spectrace.stats.flips import sign_flips
from spectrace.stats.gaps import gap_recovered
from spectrace.stats.proportions import proportion

BEST_CASE = "; best case: any prefix is taken to be found"
"""Ends the method of what a hybrid model's prefix cache makes the least of."""
_BY_PREFIX = ("strong_uncached_modelled", "_flops", "_hbm_read_low", "_hbm_read_high")
_R = {
    "accounted": "accounting: an identity",
    "proposition": "Proposition 1, p and n of these episodes",
    "predicted": "predicted",
    "apart": "accounting, beside R",
    "per_task": "all strong calls of a task over those of strong-only, mean over tasks",
}
"""What of R is told in each measure, and its method."""
_UNKNOWN = "a cost is unknown, or costs nothing in the reference"
_NEAR = 1e-6
"""A reward of 1 may come as a float's neighbour of 1."""

Value = Callable[[Counted], float | None]


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of one column."""

    column: ComparedColumn
    metric: str
    estimate: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How columns are held against each other."""

    columns: Sequence[ComparedColumn]
    baseline: ComparedColumn | None
    """What differences and ratios are taken to."""
    bootstrap: TaskBootstrap
    passing: float = 1.0
    """The reward from which on an episode has passed."""
    best_case: bool = False
    """Whether the modelled prefix cache of a hybrid model finds more than there may be (see `cost_notes.best_case`)."""

    def metrics(self) -> list[Metric]:
        """Return every metric of every column, column by column."""
        return [
            Metric(column, name, self._marked(name, estimate))
            for column in self.columns
            for name, estimate in self._metrics(column)
        ]

    def _marked(self, name: str, estimate: Estimate) -> Estimate:
        """Say it of a figure that is the best case."""
        if not self.best_case or estimate.value is None or not name.removesuffix("_ratio").endswith(_BY_PREFIX):
            return estimate
        return replace(estimate, method=f"{estimate.method}{BEST_CASE}")

    def _metrics(self, column: ComparedColumn) -> Iterator[tuple[str, Estimate]]:
        tasks = {one.task for one in column.episodes}
        yield "tasks", _count(column, len(tasks))
        yield "episodes", _count(column, len(column.episodes))
        yield "excluded", _count(column, len(column.excluded))
        yield "superseded", _count(column, column.superseded)
        yield "pass1", proportion(self._passes(column))
        yield "pass1_bounds", self._bounds(column)
        if any(one.score not in {0.0, 1.0} for each in self.columns for one in each.scored):
            yield "reward", self._mean(column, lambda one: one.score)
        yield "gap_recovered", self._gap(column)
        if self.baseline is not None and self.baseline is not column:
            yield from self._differences(column, self.baseline)
        for name, value in self._costs(column).items():
            mean = self._mean(column, value)
            yield name, mean
            if self.baseline is not None and self.baseline is not column:
                yield f"{name}_ratio", self._ratio(mean, name, column, self.baseline)
        yield from self._relative(column)
        yield "unusable_reviews", _count(column, sum(one.summary.unusable for one in column.scored))
        yield "unreviewed_share", _unreviewed(column)
        yield "near_threshold", _near_threshold(column)

    def _passes(self, column: ComparedColumn) -> Clusters:
        return clustered((one.task, float(self._passed(one))) for one in column.scored)

    def _passed(self, one: Counted) -> bool:
        return one.score is not None and one.score >= self.passing - _NEAR

    def _bounds(self, column: ComparedColumn) -> Estimate:
        """Return what Pass@1 would be with everything excluded counted as failed, and as passed."""
        passed, n, out = sum(map(self._passed, column.scored)), len(column.episodes), len(column.excluded)
        clusters = len({one.task for one in column.episodes})
        if not n:
            return Estimate(value=None, n=0, clusters=0, method="none: no episode")
        method = f"bounds: {counted(out, 'excluded episode')} counted as failed, as passed"
        return Estimate(value=None, low=passed / n, high=(passed + out) / n, n=n, clusters=clusters, method=method)

    def _gap(self, column: ComparedColumn) -> Estimate:
        weak, strong = weak_alone(self.columns, column), strong_alone(self.columns, column)
        if weak is None or strong is None:
            return _none(column, "no weak-only and strong-only column beside it")
        if column in {weak, strong}:
            return _none(column, "it is an end of the gap")
        return gap_recovered(self._passes(weak), self._passes(strong), self._passes(column), self.bootstrap)

    def _differences(self, column: ComparedColumn, to: ComparedColumn) -> Iterator[tuple[str, Estimate]]:
        mine, other = self._passes(column), self._passes(to)
        found = self.bootstrap.estimate(difference, mine, other)
        yield "pass1_difference", found
        flips = sign_flips(mine, other)
        if flips is not None:
            yield (
                "pass1_difference_p",
                Estimate(value=flips.p, n=found.n, clusters=flips.clusters, method=flips.method),
            )

    def _mean(self, column: ComparedColumn, value: Value) -> Estimate:
        values = [(one.task, value(one)) for one in column.scored]
        if not values:
            return _none(column, "no scored episode")
        known = [(task, one) for task, one in values if one is not None]
        if len(known) < len(values):
            return _none(column, f"unknown for {len(values) - len(known)} of {counted(len(values), 'episode')}")
        return self.bootstrap.estimate(lambda means: means[0], clustered(known))

    def _ratio(self, mean: Estimate, name: str, column: ComparedColumn, to: ComparedColumn) -> Estimate:
        mine, other = self._costs(column)[name], self._costs(to)[name]
        if mean.value is None:
            return mean
        theirs = [(one.task, other(one)) for one in to.scored]
        known = [(task, one) for task, one in theirs if one is not None]
        if len(known) < len(theirs):
            return _none(column, f"unknown of {to.label}")
        return self.bootstrap.estimate(
            ratio, clustered((one.task, mine(one) or 0.0) for one in column.scored), clustered(known)
        )

    def _costs(self, column: ComparedColumn) -> dict[str, Value]:
        """Return what is averaged over the episodes of a column."""
        calls = {} if column.cost is None else column.cost.calls

        def summed(of: Callable[[Call], float | None], *, who: str | None) -> Value:
            def value(one: Counted) -> float | None:
                parts = [of(calls[asked]) for asked in one.spending.calls if who in {None, asked.who}]
                return None if any(part is None for part in parts) else sum(part or 0.0 for part in parts)

            return value

        return {
            "strong_calls": _calls("strong"),
            "weak_calls": _calls("weak"),
            "strong_output": summed(lambda call: call.tokens("output"), who="strong"),
            "strong_uncached": summed(lambda call: call.tokens("uncached_measured"), who="strong"),
            "strong_uncached_modelled": summed(lambda call: call.tokens("uncached_modelled"), who="strong"),
            "wall_s": lambda one: one.spending.wall_us / 1e6,
            "cost_usd": summed(lambda call: call.cost("usd"), who=None),
        }

    def _relative(self, column: ComparedColumn) -> Iterator[tuple[str, Estimate]]:
        strong = strong_alone(self.columns, column)
        if column.cost is None:
            found: Relative | str = "no scored episode"
        elif strong is None or strong.cost is None:
            found = "no strong-only column beside it"
        else:
            found = relative(column.cost, [strong.cost])
        for measure in MEASURES:
            values = found if isinstance(found, str) else found.measures[measure]
            if isinstance(values, str):
                parts: list[object] = [values] * 5
            else:
                parts = [values.accounted, values.proposition, values.predicted]
                parts += [_UNKNOWN if one is None else one for one in (values.apart, values.per_task)]
            for name, part in zip(_R, parts, strict=True):
                yield f"r_{name}_{measure}", _r(column, part, _R[name])


def _calls(who: str) -> Value:
    """Return how many calls of a model were sent; one that a budget refused was not."""
    return lambda one: sum(asked.who == who for asked in one.spending.calls)


def _r(column: ComparedColumn, part: object, method: str) -> Estimate:
    tasks, n = len({one.task for one in column.scored}), len(column.scored)
    match part:
        case Account():
            return Estimate(value=part.r, n=n, clusters=tasks, method=method)
        case Proposition():
            return Estimate(value=part.r, n=n, clusters=tasks, method=method)
        case Prediction():
            halves = f"fitted on {part.fitted_on} tasks, tested on {part.tested_on}"
            return Estimate(value=part.predicted, n=n, clusters=part.tested_on, method=f"{method}: {halves}")
        case float():
            return Estimate(value=part, n=n, clusters=tasks, method=method)
        case _:
            return _none(column, str(part))


def _unreviewed(column: ComparedColumn) -> Estimate:
    if not column.scored:
        return _none(column, "no scored episode")
    steps = sum(one.drafted for one in column.scored)
    if not steps:
        reviewed = any(one.summary.reviews for one in column.scored)
        return _none(column, "no drafted step was committed" if reviewed else "nothing is reviewed here")
    share = sum(one.unreviewed for one in column.scored) / steps
    tasks = len({one.task for one in column.scored})
    return Estimate(value=share, n=len(column.scored), clusters=tasks, method=f"of {steps} drafted and committed steps")


def _near_threshold(column: ComparedColumn) -> Estimate:
    near, judged = _scored([column])
    if not judged:
        return _none(column, "no scored verdict")
    tasks = len({one.task for one in column.scored})
    method = f"{near} of {counted(judged, 'judged step')} within {MARGIN} nat of the threshold"
    return Estimate(value=near / judged, n=len(column.scored), clusters=tasks, method=method)


def _scored(columns: Sequence[ComparedColumn]) -> tuple[int, int]:
    steps = [one.by_score for column in columns for one in column.scored]
    return sum(one.near for one in steps), sum(one.judged for one in steps)


def _count(column: ComparedColumn, value: int) -> Estimate:
    tasks = len({one.task for one in column.episodes})
    return Estimate(value=value, n=len(column.episodes), clusters=tasks, method="count")


def _none(column: ComparedColumn, why: str) -> Estimate:
    tasks = len({one.task for one in column.scored})
    return Estimate(value=None, n=len(column.scored), clusters=tasks, method=f"none: {why}")


def methods_line(comparison: Comparison) -> str:
    """Return how the figures were made, in one sentence for a paper."""
    scores = [one for column in comparison.columns for one in column.scored]
    excluded = [one for column in comparison.columns for one in column.excluded]
    episodes = [*scores, *excluded]
    tasks = {one.task for one in episodes}
    trials = {one.summary.trial for one in episodes}
    models = sorted(
        {f"{facts.role} {facts.provider}:{facts.name}" for one in episodes for facts in one.spending.started.models},
        reverse=True,  # weak, user, strong
    )
    versions = sorted({one.spending.started.versions.spectrace for one in episodes} | {__version__})
    concurrency = sorted({one.spending.started.concurrency or 0 for one in episodes})
    near, judged = _scored(comparison.columns)
    scored = f"of {judged} steps judged by score {near} lie within {MARGIN} nat of the threshold; " if judged else ""
    at_once = ", ".join(str(number) if number else "unknown" for number in concurrency) or "none"
    return (
        f"{counted(len(scores), 'episode')}, {counted(len(tasks), 'task')} x {counted(len(trials), 'trial')}, "
        f"{at_once} at once{_excluded(excluded)}; Pass@1 (reward >= {comparison.passing:g}; truncated scores 0, "
        f"failures of the infrastructure and what has no grade excluded) with Korn-Graubard 95 % intervals over "
        f"tasks; differences, ratios, means and gaps "
        f"by {comparison.bootstrap.method}; costs are means over the episodes that score; R is what the strong model "
        f"costs per committed step, its cost per task has every call of it, both in units of strong-only; "
        f"p by paired sign flips over tasks; no interval under 10 tasks; {scored}"
        f"models {', '.join(models) or 'none'}; spectrace {', '.join(versions)}."
    )


def _excluded(episodes: Sequence[Counted]) -> str:
    """Say what is left out of scores, and why."""
    ungraded = sum(not infrastructure(one.summary.status, one.summary.end_reason) for one in episodes)
    whys = {"by failures of the infrastructure": len(episodes) - ungraded, "without a grade": ungraded}
    told = ", ".join(f"{number} {why}" for why, number in whys.items() if number)
    return f", {len(episodes)} more excluded ({told})" if episodes else ""
