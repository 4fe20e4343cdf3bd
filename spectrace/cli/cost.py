"""`spectrace cost`: what the calls of each phase cost, and R against a strong-only run."""

from collections.abc import Iterator, Sequence

import click

from spectrace.audit.answers import Filters
from spectrace.audit.cost_notes import notes
from spectrace.audit.costing import CostGroup, Costing, cost_groups, read_spendings
from spectrace.audit.queries import Reader
from spectrace.audit.reading import Unread
from spectrace.audit.relative import InMeasure, Relative, relative
from spectrace.cli import console, cost_items, document
from spectrace.cli.console import Column
from spectrace.cli.options import checkpoint_option, db_option, filter_options, json_option, reading, whole
from spectrace.cli.select import chosen, episodes_argument, named
from spectrace.config import settings_here
from spectrace.cost.phases import PhaseCost, Sum
from spectrace.cost.profile_file import load_profile
from spectrace.cost.profiles import PROFILES
from spectrace.errors import EpisodeNotFound, UsageError
from spectrace.settings import meant

_TERA, _GIGA = 1e12, 1e9

_PHASES = (
    Column("protocol"),
    Column("run", rank=7),
    Column("phase"),
    Column("who", rank=4),
    Column("model", rank=8),
    Column("calls", right=True),
    Column("tokens in", right=True, rank=5),
    Column("uncached", right=True, rank=1),
    Column("modelled", right=True, rank=3),
    Column("tokens out", right=True, rank=1),
    Column("TFLOP", right=True, rank=2),
    Column("GB read", right=True),
    Column("seconds", right=True, rank=2),
    Column("USD", right=True, rank=6),
)
_R = (
    Column("protocol"),
    Column("run", rank=7),
    Column("strong", rank=8),
    Column("in"),
    Column("v/d", right=True, rank=4),
    Column("rho", right=True, rank=4),
    Column("R", right=True),
    Column("apart", right=True, rank=3),
    Column("Prop. 1", right=True, rank=2),
    Column("predicted", right=True, rank=1),
    Column("for", right=True, rank=1),
    Column("per task", right=True, rank=3),
    Column("with weak", right=True, rank=3),
)
_WHY = (
    ("output", "tokens", "they were not answered, or the server told no count"),
    ("flops", "TFLOP and GB read", "no count of tokens, or a model of unknown shape (--profile)"),
    ("seconds", "seconds", "they were not answered"),
    ("usd", "USD", "no price, or no count of tokens"),
)
_WORDS = {
    "flops": "FLOPs",
    "hbm_read_low": "HBM-read at least",
    "hbm_read_high": "HBM-read at most",
    "seconds": "time",
    "usd": "money",
}


@click.command()
@episodes_argument
@click.option(
    "--reference",
    multiple=True,
    metavar="RUN|EP",
    help="A run or an episode whose strong-only episodes say what a strong step costs; without it R is unknown.",
)
@click.option(
    "--profile",
    metavar="NAME|FILE",
    help=f"What the models are taken to be: {', '.join(PROFILES)} or a TOML file. [default: each by its recorded name]",
)
@click.option(
    "--page-size",
    type=whole(1),
    default=1,
    show_default=True,
    help="Tokens in a page of the prefix cache.",
)
@click.option("--cache-tokens", type=whole(0), help="Room in the prefix cache. [default: without limit]")
@checkpoint_option
@click.option(
    "--estimate-tokens",
    is_flag=True,
    help="Take four bytes for a token where a server told no count (a script tells those that it was given).",
)
@filter_options()
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    episodes: Sequence[str],
    every: bool,  # noqa: FBT001 - click passes it by name
    reference: Sequence[str],
    profile: str | None,
    page_size: int,
    cache_tokens: int | None,
    checkpoint_every: int | None,
    estimate_tokens: bool,  # noqa: FBT001 - click passes it by name
    db: str | None,
    *,
    filters: Filters,
    as_json: bool,
) -> None:
    """Show what each phase cost (calls, tokens, FLOPs, bytes read, time, money), and R: a strong-only step costs 1."""
    costing = Costing(
        profile=None if profile is None else load_profile(profile),
        prices=settings_here().prices,
        page_size=page_size,
        cache_tokens=cache_tokens,
        checkpoint_every=checkpoint_every,
        estimate_tokens=estimate_tokens,
    )
    lost: list[Unread] = []
    with reading(db) as reader:
        groups = cost_groups(read_spendings(reader, chosen(reader, episodes, every, filters), lost), costing)
        alone = cost_groups(read_spendings(reader, _reference(reader, reference), lost), costing)
    found = [(group, relative(group, alone)) for group in groups]
    if as_json:
        document.write("cost", [item for group, r in found for item in cost_items.items(group, r)])
    else:
        console.table(_PHASES, [row for group, _ in found for row in _phase_rows(group)], "No episode can be read.")
        for said in _unknown(groups):
            console.say(said, style="dim")
        _say_r(found)
    for note in notes(list({group.made: group for group in (*alone, *groups)}.values()), costing):
        console.say(note, style="warning")
    ctx.exit(console.lost(lost))


def _reference(reader: Reader, given: Sequence[str]) -> list[str]:
    """Return the episodes of the named runs, and those named by id; a run's name comes first."""
    if not given:
        return []
    runs = [one.run for one in reader.runs()]
    found: list[str] = []
    for name in given:
        if name in runs:
            found += [one.episode for one in reader.iter_episodes(Filters(run=(name,)))]
            continue
        try:
            found += named(reader, [name])
        except EpisodeNotFound as error:
            no_run = f"no run has that name{meant(name, runs)} (`spectrace runs` lists them)"
            raise UsageError(f"--reference {name}: {no_run}, and {error}") from None
    return list(dict.fromkeys(found))


def _phase_rows(group: CostGroup) -> list[list[console.Cell]]:
    made = group.made
    models = {"weak": made.weak, "strong": made.strong}
    both = " + ".join(model for model in models.values() if model is not None)
    rows: list[list[console.Cell]] = [
        [made.protocol, made.run, (phase, "name"), who, models.get(who), *_cells(cost)]
        for (phase, who), cost in group.phases.items()
    ]
    return [*rows, [made.protocol, made.run, ("all", "strong"), None, both, *_cells(group.total)]]


def _cells(cost: PhaseCost) -> list[console.Cell]:
    sums = cost.sums
    low, high = sums["hbm_read_low"], sums["hbm_read_high"]
    read = _shown(low, _GIGA)
    if read is not None and high.known > low.known:
        read = f"{read}-{figure(high.known / _GIGA)}"
    return [
        cost.calls,
        *(_shown(sums[name]) for name in ("input", "uncached_measured", "uncached_modelled", "output")),
        _shown(sums["flops"], _TERA),
        read,
        _shown(sums["seconds"]),
        _shown(sums["usd"]),
    ]


def _shown(value: Sum, unit: float = 1) -> str | None:
    """Return a sum; `>=` where a part of it is unknown, nothing where all is."""
    if value.least is None:
        return None
    return f"{'>=' if value.unknown else ''}{figure(value.known / unit)}"


def _unknown(groups: Sequence[CostGroup]) -> Iterator[str]:
    """Yield why cells say `>=` or nothing: of how many calls a part is not known."""
    for name, what, why in _WHY:
        sums = [(group.made.protocol, group.total.sums[name]) for group in groups]
        of = ", ".join(f"{one.unknown} of {one.parts} of {protocol}" for protocol, one in sums if one.unknown)
        if of:
            yield f"Unknown {what} of calls ({of}): {why}."


def figure(value: float) -> str:
    """Return a whole number as it is, any other to three figures."""
    if value == int(value) and abs(value) < _TERA:
        return str(int(value))
    if abs(value) >= 1000:  # noqa: PLR2004 - three figures
        return f"{value:.0f}"
    return f"{value:#.3g}".rstrip(".") if abs(value) >= 1e-4 else f"{value:.3g}"  # noqa: PLR2004 - no exponent to pad


def _say_r(found: Sequence[tuple[CostGroup, Relative | str]]) -> None:
    """Write the table of R, or say why there is none."""
    rows: list[list[console.Cell]] = []
    reasons: dict[tuple[str, tuple[str, ...]], dict[str, None]] = {}
    for group, r in found:
        made, missing = group.made, dict[str, tuple[str, ...]]()
        if isinstance(r, str):
            missing[r] = ()
        else:
            for measure, values in _measures(r).items():
                one = cost_items.r_item(values)
                if one["why"] is not None:
                    missing[str(one["why"])] = (*missing.get(str(one["why"]), ()), measure)
                if one["why"] is None or one["per_task"] is not None:
                    rows.append([made.protocol, made.run, made.strong, measure, *_r_cells(one)])
        for why, words in missing.items():
            reasons.setdefault((why, words), {})[group.made.protocol] = None
    if rows:
        console.line()
        console.table(_R, rows, "")
    for (why, words), protocols in reasons.items():
        measures = f" in {' and '.join(words)}" if words else ""
        console.say(f"R{measures} is unknown ({', '.join(protocols)}): {why}.", style="dim")
    for group, r in found:
        if not isinstance(r, str):
            for sentence in cost_items.sentences(r, _WORDS):
                console.say(f"{group.made.protocol}: {sentence}", style="dim")


def _measures(r: Relative) -> dict[str, InMeasure]:
    """Return R by the measures' names; a dense model reads the same at most as at least: one line."""
    found = dict(r.measures)
    if found["hbm_read_low"] != found["hbm_read_high"]:
        return {_WORDS[measure]: values for measure, values in found.items()}
    del found["hbm_read_high"]
    return {_WORDS[measure].removesuffix(" at least"): values for measure, values in found.items()}


def _r_cells(one: cost_items.Item) -> list[console.Cell]:
    shown = [_ratio(one[name]) for name in ("v_over_d", "rho", "r_accounting", "apart", "r_proposition")]
    return [*shown, *_prediction(one), _ratio(one["per_task"]), _ratio(one["per_task_all"])]


def _prediction(one: cost_items.Item) -> list[console.Cell]:
    """Return what was predicted, and what it was predicted for: R of the tested half of the tasks."""
    match one["predicted"]:
        case {"predicted": float(value), "accounted": float(came)}:
            return [_ratio(value), _ratio(came)]
        case _:
            return [None, None]


def _ratio(value: object) -> str | None:
    return f"{value:.3f}" if isinstance(value, float) else None
