"""`spectrace compare`: protocols side by side, or verifiers, with intervals over tasks."""

import sys
from collections.abc import Sequence

import click
from click.core import ParameterSource

from spectrace.audit.columns import named_column, read_columns, strong_alone
from spectrace.audit.comparison import Comparison, Metric, methods_line
from spectrace.audit.cost_notes import best_case, notes
from spectrace.audit.costing import Costing
from spectrace.audit.kinds import are_reverified
from spectrace.audit.panels import captions, panels
from spectrace.audit.protocol_panels import protocol_captions, protocol_panels
from spectrace.audit.reading import Unread
from spectrace.audit.reverified import read_reverified
from spectrace.audit.shortfall import shortfalls
from spectrace.audit.visible import one_line
from spectrace.cli import compare_reverified, console, document, grids
from spectrace.cli.blocks import blocks
from spectrace.cli.compare_rows import MARK, drawn_row, reasons, rows_of
from spectrace.cli.console import Column
from spectrace.cli.options import Reward, checkpoint_option, db_option, force_option, json_option, reading
from spectrace.cli.plotting import Plot, plot_option
from spectrace.config import settings_here
from spectrace.cost.profile_file import load_profile
from spectrace.cost.profiles import PROFILES
from spectrace.errors import UsageError
from spectrace.stats.bootstrap import DRAWS, SEED, TaskBootstrap

_OF_PROTOCOLS = ("baseline", "profile", "checkpoint_every")
_HEADER = ("run", "protocol", "column", "metric", "value", "low", "high", "n", "clusters", "method")


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
@plot_option
@force_option
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
    plot: Plot | None,
    db: str | None,
    *,
    force: bool,
    as_json: bool,
) -> None:
    """Set the protocols of named runs, or one or two re-verifications, side by side, with intervals over tasks."""
    bootstrap = TaskBootstrap(draws, seed)
    costing = Costing(
        profile=None if profile is None else load_profile(profile),
        prices=settings_here().prices,
        checkpoint_every=checkpoint_every,
    )
    if plot is not None:
        plot.require_room(force=force)
    lost: list[Unread] = []
    with reading(db) as reader:
        if are_reverified(reader, runs):
            _refuse_for_verifiers(ctx)
            found = read_reverified(reader, runs, bootstrap, passing)
            if plot is not None:
                plot.draw(panels(found), captions(found), force=force)
            compare_reverified.write(found, form, as_json=as_json)
            return
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
        bootstrap=bootstrap,
        passing=passing,
        best_case=best is not None,
    )
    metrics = comparison.metrics()
    if plot is not None:
        plot.draw(protocol_panels(comparison, metrics), protocol_captions(comparison), force=force)
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


def _refuse_for_verifiers(ctx: click.Context) -> None:
    """Refuse options that say nothing of verdicts."""
    given = [name for name in _OF_PROTOCOLS if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT]
    if given:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise UsageError(f"{names} is for runs of episodes; these are re-verifications, in which only verdicts differ.")


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
    baseline = None if comparison.baseline is None else comparison.baseline.label
    rows = rows_of(labels, estimates, baseline)
    drawn = [cells for row in rows if (cells := drawn_row(row, labels, estimates)) is not None]
    notes = [said, *reasons(rows, labels, estimates), *([] if best is None else [f"{MARK.strip()} {best}"])]
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
