"""`spectrace compare`: protocols side by side, with intervals over tasks."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import click

from spectrace.audit.columns import named_column, read_columns, strong_alone
from spectrace.audit.comparison import R_MEASURES, Comparison, Metric, methods_line
from spectrace.audit.cost_notes import notes
from spectrace.audit.costing import Costing
from spectrace.audit.reading import Unread
from spectrace.audit.shortfall import shortfalls
from spectrace.audit.visible import one_line
from spectrace.cli import console, document, grids
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


_ROWS = (
    _Row("tasks", "tasks", 0),
    _Row("episodes", "episodes", 0),
    _Row("excluded", "excluded", 0),
    _Row("superseded", "superseded", 0, optional=True),
    _Row("pass1", "Pass@1 %", 1, 100),
    _Row("pass1_bounds", "Pass@1 %, bounds", 1, 100, optional=True),
    _Row("reward", "reward", 3),
    _Row("pass1_difference", "difference, points", 1, 100),
    _Row("pass1_difference_p", "p of no difference", 4),
    _Row("gap_recovered", "gap recovered %", 1, 100),
    _Row("strong_calls", "strong calls"),
    _Row("weak_calls", "weak calls"),
    _Row("strong_output", "strong tokens decoded"),
    _Row("strong_uncached", "uncached strong prefill, measured"),
    _Row("strong_uncached_modelled", "uncached strong prefill, modelled"),
    _Row("wall_s", "wall time s", 2),
    _Row("cost_usd", "cost USD", 6),
    _Row("r_accounted", "R accounted", 3),
    _Row("r_proposition", "R by Proposition 1", 3),
    _Row("r_predicted", "R predicted", 3),
    _Row("unusable_reviews", "unusable reviews", 0),
    _Row("unreviewed_share", "unreviewed steps %", 1, 100),
)
"""Costs are means over episodes, so for one task as it was tried."""


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
    rows = [drawn for row in _ROWS if (drawn := _drawn(row, labels, estimates, measure)) is not None]
    header = ["", *labels]
    match form:
        case "md":
            sys.stdout.write(f"{grids.markdown(header, rows)}\n{grids.markdown_text(said)}\n")
        case "latex":
            sys.stdout.write(grids.latex(header, rows, said))
        case _:
            titles = [Column(one_line(label), right=place > 0) for place, label in enumerate(header)]
            console.table(titles, rows, "")
            console.line()
            console.line(said)
    for reason, where in _reasons(labels, estimates, measure).items():
        console.say(f"No {', '.join(where)}: {reason}.", style="dim")


def _measure(labels: Sequence[str], estimates: Mapping[tuple[str, str], Estimate]) -> str:
    """Return what R is shown in: the first measure that some column has R in, money only where there is any."""
    for measure in R_MEASURES:
        values = [estimates[label, f"r_accounted_{measure}"].value for label in labels]
        if any(value is not None for value in values):
            return measure
    return R_MEASURES[-1]


def _named(row: _Row, measure: str) -> tuple[str, str]:
    """Return a row's metric and title."""
    if row.metric.startswith("r_"):
        return f"{row.metric}_{measure}", f"{row.title} ({_IN[measure]})"
    return row.metric, row.title


def _drawn(
    row: _Row, labels: Sequence[str], estimates: Mapping[tuple[str, str], Estimate], measure: str
) -> list[str] | None:
    """Return the cells of a row; None where it says nothing of any column: then `_reasons` tells why."""
    metric, title = _named(row, measure)
    found = [estimates.get((label, metric)) for label in labels]
    cells = ["-" if one is None else _cell(one, row) for one in found]
    silent = row.optional and all(one is None or one.value == 0 or (one.spans and one.low == one.high) for one in found)
    return None if silent or set(cells) == {"-"} else [title, *cells]


def _cell(one: Estimate, row: _Row) -> str:
    def shown(value: float) -> str:
        text = f"{value * row.scale:.{row.digits}f}"
        return text.rstrip("0").rstrip(".") if row.digits > 3 and "." in text else text  # noqa: PLR2004 - small amounts

    interval = "" if one.low is None or one.high is None else f"[{shown(one.low)}, {shown(one.high)}]"
    return " ".join(part for part in (None if one.value is None else shown(one.value), interval) if part) or "-"


def _reasons(
    labels: Sequence[str], estimates: Mapping[tuple[str, str], Estimate], measure: str
) -> dict[str, list[str]]:
    """Return why values and intervals are missing -> of which rows and columns."""
    found: dict[str, dict[str, list[str]]] = {}
    for row in _ROWS:
        metric, title = _named(row, measure)
        for label in labels:
            one = estimates.get((label, metric))
            if one is not None and one.method.startswith("none: "):
                what = title if one.value is None else "interval"
                found.setdefault(one.method.removeprefix("none: "), {}).setdefault(what, []).append(label)
    said: dict[str, list[str]] = {}
    for reason, missing in found.items():
        for what, of in missing.items():
            named = list(dict.fromkeys(of))
            said.setdefault(reason, []).append(what if len(named) == len(labels) else f"{what} ({', '.join(named)})")
    return said
