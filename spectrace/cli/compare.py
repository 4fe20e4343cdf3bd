"""`spectrace compare`: protocols side by side, with intervals over tasks."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import click

from spectrace.audit.columns import named_column, read_columns, strong_alone
from spectrace.audit.comparison import R_MEASURES, Comparison, Metric, methods_line
from spectrace.audit.cost_notes import notes
from spectrace.audit.costing import Costing
from spectrace.audit.reading import Unread
from spectrace.audit.shortfall import shortfalls
from spectrace.audit.visible import one_line
from spectrace.cli import console, document, grids
from spectrace.cli.blocks import blocks
from spectrace.cli.console import Column
from spectrace.cli.options import db_option, json_option, reading
from spectrace.config import settings_here
from spectrace.cost.profile_file import load_profile
from spectrace.cost.profiles import PROFILES
from spectrace.stats.bootstrap import DRAWS, SEED, TaskBootstrap
from spectrace.stats.estimates import Estimate

_HEADER = ("run", "protocol", "column", "metric", "value", "low", "high", "n", "clusters", "method")
_IN = {"hbm_read_low": "HBM-read", "usd": "money", "seconds": "time"}


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the table. `scale`: what a value is multiplied by; `optional`: left out where it says nothing."""

    metric: str
    title: str
    digits: int = 1
    scale: int = 1
    optional: bool = False
    least: float = 0.0
    """Below it a value is shown as less than that."""


_ROWS = (
    _Row("tasks", "tasks", 0),
    _Row("episodes", "episodes", 0),
    _Row("excluded", "excluded", 0),
    _Row("superseded", "superseded", 0, optional=True),
    _Row("pass1", "Pass@1 %", 1, 100),
    _Row("pass1_bounds", "Pass@1 %, bounds", 1, 100, optional=True),
    _Row("reward", "reward, mean", 3),
    _Row("pass1_difference", "less {baseline}, points", 1, 100),
    _Row("pass1_difference_p", "p of no difference", 3, least=0.001),
    _Row("gap_recovered", "gap recovered %", 1, 100),
    _Row("strong_calls", "strong calls / episode"),
    _Row("weak_calls", "weak calls / episode"),
    _Row("strong_output", "strong tokens out / episode", 0),
    _Row("strong_uncached", "uncached strong in, measured", 0),
    _Row("strong_uncached_modelled", "uncached strong in, modelled", 0),
    _Row("wall_s", "wall time s / episode", 1),
    _Row("cost_usd", "cost USD / episode", 6),
    _Row("r_accounted", "R accounted", 3),
    _Row("r_proposition", "R by Proposition 1", 3),
    _Row("r_predicted", "R predicted", 3),
    _Row("r_apart", "apart from R", 3, optional=True),
    _Row("r_per_task", "strong cost / task", 3),
    _Row("unusable_reviews", "unusable reviews", 0),
    _Row("unreviewed_share", "unreviewed steps %", 1, 100),
    _Row("near_threshold", "scored within 0.15 nat %", 1, 100, optional=True),
)
"""Costs are means over episodes, so for one task as it was tried; uncached tokens in are the strong model's.

`R` is per committed step, `strong cost / task` all strong calls of a task, both in units of strong-only.
"""


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--baseline", metavar="PROTOCOL", help="What differences and ratios are taken to. [default: strong-only]")
@click.option(
    "--passing",
    type=float,
    default=1.0,
    show_default=True,
    metavar="REWARD",
    help="The reward from which on an episode has passed.",
)
@click.option(
    "--profile",
    metavar="NAME|FILE",
    help=f"What the models are taken to be: {', '.join(PROFILES)} or a TOML file. [default: each by its recorded name]",
)
@click.option("--draws", type=click.IntRange(min=100), default=DRAWS, show_default=True, help="Draws of a bootstrap.")
@click.option("--seed", type=int, default=SEED, show_default=True, help="Seed of the draws.")
@click.option(
    "--format", "form", type=click.Choice(grids.FORMATS), default="table", show_default=True, help="How it is written."
)
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    runs: Sequence[str],
    baseline: str | None,
    passing: float,
    profile: str | None,
    draws: int,
    seed: int,
    form: str,
    db: str | None,
    *,
    as_json: bool,
) -> None:
    """Set the protocols of named runs side by side: Pass@1 and costs, with intervals over tasks."""
    costing = Costing(profile=None if profile is None else load_profile(profile), prices=settings_here().prices)
    lost: list[Unread] = []
    with reading(db) as reader:
        columns = read_columns(reader, runs, costing, lost)
        lacking = shortfalls(reader.store, columns)
    if not columns:
        ctx.exit(console.lost(lost))
    base = named_column(columns, baseline) if baseline is not None else strong_alone(columns, columns[0])
    comparison = Comparison(columns=columns, baseline=base, bootstrap=TaskBootstrap(draws, seed), passing=passing)
    metrics = comparison.metrics()
    if as_json:
        document.write("compare", [item(one) for one in metrics])
    else:
        _write(comparison, metrics, form)
    for note in lacking:
        console.say(one_line(note), style="warning")
    for note in notes([one.cost for one in columns if one.cost is not None], costing):
        console.say(note, style="warning")
    ctx.exit(console.lost(lost))


def item(one: Metric) -> dict[str, str | float | None]:
    """Return the JSON item of a metric; shares are between 0 and 1."""
    found = one.estimate
    return {
        "run": one.column.made.run,
        "protocol": one.column.made.protocol,
        "column": one.column.label,
        "metric": one.metric,
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "n": found.n,
        "clusters": found.clusters,
        "method": found.method,
    }


def _write(comparison: Comparison, metrics: Sequence[Metric], form: str) -> None:
    said = methods_line(comparison)
    if form == "csv":
        items = [item(one) for one in metrics]
        sys.stdout.write(grids.csv_text(_HEADER, [[one[name] for name in _HEADER] for one in items]))
        console.say(said, style="dim")
        return
    labels = [column.label for column in comparison.columns]
    estimates = {(one.column.label, one.metric): one.estimate for one in metrics}
    measure = _measure(labels, estimates)
    baseline = "" if comparison.baseline is None else comparison.baseline.label
    rows = [_named(row, measure, baseline) for row in _ROWS]
    drawn = [cells for row in rows if (cells := _drawn(row, labels, estimates)) is not None]
    notes = [said, *_reasons(rows, labels, estimates)]
    header = ["", *labels]
    match form:
        case "md":
            sys.stdout.write(
                "\n".join([grids.markdown(header, drawn), *(f"{grids.markdown_text(one)}\n" for one in notes)])
            )
        case "latex":
            sys.stdout.write(grids.latex(header, drawn, notes))
        case _:
            for block in blocks(header, drawn):
                titles = [Column(one_line(label), right=place > 0) for place, label in enumerate(block[0])]
                console.table(titles, block[1:], "")
                console.line()
            for note in notes:
                console.line(note)


def _measure(labels: Sequence[str], estimates: Mapping[tuple[str, str], Estimate]) -> str:
    """Return what R is shown in: the first measure that some column has R in, money only where there is any."""
    for measure in R_MEASURES:
        values = [estimates[label, f"r_accounted_{measure}"].value for label in labels]
        if any(value is not None for value in values):
            return measure
    return R_MEASURES[-1]


def _named(row: _Row, measure: str, baseline: str) -> _Row:
    """Return a row with its metric and title as they are in this comparison."""
    if row.metric.startswith("r_"):
        return replace(row, metric=f"{row.metric}_{measure}", title=f"{row.title} ({_IN[measure]})")
    return replace(row, title=row.title.replace("{baseline}", baseline))


def _drawn(row: _Row, labels: Sequence[str], estimates: Mapping[tuple[str, str], Estimate]) -> list[str] | None:
    """Return the cells of a row; None where it says nothing of any column: then `_reasons` tells why."""
    found = [estimates.get((label, row.metric)) for label in labels]
    cells = ["-" if one is None else _cell(one, row) for one in found]
    silent = row.optional and all(_silent(one) for one in found)
    return None if silent or set(cells) == {"-"} else [row.title, *cells]


def _silent(one: Estimate | None) -> bool:
    """Whether a value says no more than its absence would."""
    return one is None or not (one.value or (one.spans and one.low != one.high))


def _cell(one: Estimate, row: _Row) -> str:
    def shown(value: float) -> str:
        if 0 < value < row.least:
            return f"<{row.least:g}"
        text = f"{value * row.scale:.{row.digits}f}"
        return text.rstrip("0").rstrip(".") if row.digits > 3 and "." in text else text  # noqa: PLR2004 - small amounts

    interval = "" if one.low is None or one.high is None else f"[{shown(one.low)}, {shown(one.high)}]"
    if one.value is None and one.spans and one.low == one.high:
        return shown(one.low or 0.0)
    return " ".join(part for part in (None if one.value is None else shown(one.value), interval) if part) or "-"


def _reasons(
    rows: Sequence[_Row], labels: Sequence[str], estimates: Mapping[tuple[str, str], Estimate]
) -> Iterator[str]:
    """Yield why values and intervals are missing, of which rows and columns: a sentence for each reason."""
    found: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        each = [(label, one) for label in labels if (one := estimates.get((label, row.metric))) is not None]
        if row.optional and all(_silent(one) for _, one in each):
            continue
        for label, one in each:
            if one.method.startswith("none: "):
                what = row.title if one.value is None else "interval"
                found.setdefault(one.method.removeprefix("none: "), {}).setdefault(what, []).append(label)
    for reason, missing in found.items():
        by_columns: dict[tuple[str, ...], list[str]] = {}
        for what, of in missing.items():
            by_columns.setdefault(tuple(dict.fromkeys(of)), []).append(what)
        for those, whats in by_columns.items():
            whose = "" if len(those) == len(labels) else f" ({', '.join(those)})"
            yield f"No {', '.join(whats)}{whose}: {reason}."
