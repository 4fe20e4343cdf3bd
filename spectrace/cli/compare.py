"""`spectrace compare`: protocols side by side, with intervals over tasks."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import click

from spectrace.audit.columns import named_column, read_columns, strong_alone
from spectrace.audit.comparison import BEST_CASE, Comparison, Metric, methods_line
from spectrace.audit.cost_notes import best_case, notes
from spectrace.audit.costing import Costing
from spectrace.audit.reading import Unread
from spectrace.audit.shortfall import shortfalls
from spectrace.audit.visible import one_line
from spectrace.cli import console, document, grids
from spectrace.cli.blocks import blocks
from spectrace.cli.console import Column
from spectrace.cli.options import Reward, checkpoint_option, db_option, json_option, reading
from spectrace.config import settings_here
from spectrace.cost.profile_file import load_profile
from spectrace.cost.profiles import PROFILES
from spectrace.stats.bootstrap import DRAWS, SEED, TaskBootstrap
from spectrace.stats.estimates import Estimate

_HEADER = ("run", "protocol", "column", "metric", "value", "low", "high", "n", "clusters", "method")
_IN = {
    "flops": "FLOPs",
    "hbm_read_low": "HBM-read at least",
    "hbm_read_high": "HBM-read at most",
    "seconds": "time",
    "usd": "money",
}
_MARK = " *"
"""Behind a row that is the best case, and in front of the note that says so."""


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
    type=Reward(),
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
@checkpoint_option
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
    checkpoint_every: int | None,
    draws: int,
    seed: int,
    form: str,
    db: str | None,
    *,
    as_json: bool,
) -> None:
    """Set the protocols of named runs side by side: Pass@1 and costs, with intervals over tasks."""
    costing = Costing(
        profile=None if profile is None else load_profile(profile),
        prices=settings_here().prices,
        checkpoint_every=checkpoint_every,
    )
    lost: list[Unread] = []
    with reading(db) as reader:
        columns = read_columns(reader, runs, costing, lost)
        lacking = shortfalls(reader.store, columns)
    if not columns:
        ctx.exit(console.lost(lost))
    base = named_column(columns, baseline) if baseline is not None else strong_alone(columns, columns[0])
    groups = [one.cost for one in columns if one.cost is not None]
    best = best_case(groups, costing)
    comparison = Comparison(
        columns=columns,
        baseline=base,
        bootstrap=TaskBootstrap(draws, seed),
        passing=passing,
        best_case=best is not None,
    )
    metrics = comparison.metrics()
    if as_json:
        document.write("compare", [item(one) for one in metrics])
    else:
        _write(comparison, metrics, form, best)
    for note in lacking:
        console.say(one_line(note), style="warning")
    below = best if form != "csv" and not as_json else None
    for note in (one for one in notes(groups, costing) if one != below):
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


def _write(comparison: Comparison, metrics: Sequence[Metric], form: str, best: str | None) -> None:
    said = methods_line(comparison)
    if form == "csv":
        items = [item(one) for one in metrics]
        sys.stdout.write(grids.csv_text(_HEADER, [[one[name] for name in _HEADER] for one in items]))
        console.say(said, style="dim")
        return
    labels = [column.label for column in comparison.columns]
    estimates = {(one.column.label, one.metric): one.estimate for one in metrics}
    baseline = "" if comparison.baseline is None else comparison.baseline.label
    rows = [each for row in _ROWS for each in _in_measures(row, labels, estimates)]
    rows = [_titled(row, baseline, labels, estimates) for row in rows]
    drawn = [cells for row in rows if (cells := _drawn(row, labels, estimates)) is not None]
    notes = [said, *_reasons(rows, labels, estimates), *([] if best is None else [f"{_MARK.strip()} {best}"])]
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


def _in_measures(row: _Row, labels: Sequence[str], estimates: Mapping[tuple[str, str], Estimate]) -> Iterator[_Row]:
    """Yield a row of R in each measure; a dense model reads the same at most as at least: one row."""
    if not row.metric.startswith("r_"):
        yield row
        return
    low, high = ([estimates[label, f"{row.metric}_hbm_read_{end}"] for label in labels] for end in ("low", "high"))
    dense = low == high
    for measure, words in _IN.items():
        if not dense or measure != "hbm_read_high":
            shown = words.removesuffix(" at least") if dense else words
            yield replace(row, metric=f"{row.metric}_{measure}", title=f"{row.title} ({shown})")


def _titled(row: _Row, baseline: str, labels: Sequence[str], estimates: Mapping[tuple[str, str], Estimate]) -> _Row:
    """Return a row with its title as it is in this comparison."""
    found = [estimates.get((label, row.metric)) for label in labels]
    best = any(one is not None and one.method.endswith(BEST_CASE) for one in found)
    return replace(row, title=f"{row.title.replace('{baseline}', baseline)}{_MARK if best else ''}")


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


def _told_of_r(row: _Row, label: str, estimates: Mapping[tuple[str, str], Estimate]) -> bool:
    """Whether R itself is missing in this measure: then its reason is that of all that is made of it."""
    measure = next((one for one in _IN if row.metric.startswith("r_") and row.metric.endswith(f"_{one}")), None)
    accounted = f"r_accounted_{measure}"
    return measure is not None and row.metric != accounted and estimates[label, accounted].value is None


def _what(row: _Row) -> str:
    """Return what is missing, in words: R in its measure; what is made of R where R is known is missing in all."""
    title = row.title.removesuffix(_MARK)
    if row.metric.startswith("r_accounted_"):
        return title.replace("R accounted", "R")
    return title.partition(" (")[0] if row.metric.startswith("r_") else title


def _reason(one: Estimate) -> str:
    return one.method.removeprefix("none: ").removesuffix(BEST_CASE)


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
            if one.method.startswith("none: ") and not _told_of_r(row, label, estimates):
                what = _what(row) if one.value is None else "interval"
                found.setdefault(_reason(one), {}).setdefault(what, []).append(label)
    for reason, missing in found.items():
        by_columns: dict[tuple[str, ...], list[str]] = {}
        for what, of in missing.items():
            by_columns.setdefault(tuple(dict.fromkeys(of)), []).append(what)
        for those, whats in by_columns.items():
            whose = "" if len(those) == len(labels) else f" ({', '.join(those)})"
            yield f"No {', '.join(whats)}{whose}: {reason}."
