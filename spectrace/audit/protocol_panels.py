"""What a plot of protocols shows: Pass@1 and the costs as ratios to the baseline. Counterpart of `panels`."""

from collections.abc import Iterator, Mapping, Sequence

from spectrace.audit.comparison import Comparison, Metric
from spectrace.audit.panels import Forest, Mark
from spectrace.stats.estimates import Estimate

_RATIOS: Mapping[str, str] = {
    "strong_calls": "strong calls",
    "strong_output": "strong tokens out",
    "strong_uncached": "uncached strong tokens in",
    "wall_s": "wall time",
    "cost_usd": "cost in USD",
}


def protocol_captions(comparison: Comparison) -> tuple[str, str]:
    """Return the title of a plot, and what it was made of in a line below."""
    scored = [one for column in comparison.columns for one in column.scored]
    excluded = sum(len(column.excluded) for column in comparison.columns)
    runs = " and ".join(dict.fromkeys(str(column.made.run) for column in comparison.columns))
    tasks = len({one.task for one in scored})
    return f"Protocols: {runs}", (
        f"{len(scored)} scored episodes of {tasks} tasks, {excluded} excluded; {comparison.bootstrap.method}"
    )


def protocol_panels(comparison: Comparison, metrics: Sequence[Metric]) -> list[Forest]:
    """Return the forests of a comparison; what has no value is in none."""
    found = {(one.column.label, one.metric): one.estimate for one in metrics}
    labels = tuple(column.label for column in comparison.columns)
    bounds = {label: found.get((label, "pass1_bounds")) for label in labels}
    passes = [
        mark for label in labels for mark in _marks(label, "Pass@1", found.get((label, "pass1")), bounds[label], ".3f")
    ]
    against = "" if comparison.baseline is None else f" over that of {comparison.baseline.label}"
    ratios = [
        mark
        for metric, title in _RATIOS.items()
        for label in labels
        for mark in _marks(title, label, found.get((label, f"{metric}_ratio")), None, ".2f")
    ]
    forests = []
    if passes:
        forests.append(
            Forest("Pass@1", "share of episodes that pass, 95 % interval", tuple(passes), ("Pass@1",), 0, 1, None)
        )
    if ratios:
        series = tuple(dict.fromkeys(one.series for one in ratios))
        forests.append(Forest("Cost", f"mean cost{against}, 95 % interval", tuple(ratios), series, 0.0, 1.1, 1.0))
    return forests


def _marks(row: str, series: str, one: Estimate | None, bounds: Estimate | None, digits: str) -> Iterator[Mark]:
    if one is None or one.value is None:
        return
    wide = None
    if bounds is not None and bounds.low is not None and bounds.high is not None and bounds.low < bounds.high:
        wide = bounds.low, bounds.high
    ends = "" if one.low is None or one.high is None else f" [{one.low:{digits}}, {one.high:{digits}}]"
    yield Mark(row, series, one.value, one.low, one.high, wide, f"{one.value:{digits}}{ends}")
