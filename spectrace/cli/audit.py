"""`spectrace audit`: the ledger of what was done, and on whose authority.

`--json` and `--csv` write each action as it is read; the table has to know all rows before it can be drawn.
"""

import csv
import json
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence

import click

from spectrace.audit.answers import Filters
from spectrace.audit.children import families
from spectrace.audit.known_names import never_heard_of
from spectrace.audit.lines import counted
from spectrace.audit.queries import Reader
from spectrace.audit.reading import Unread
from spectrace.audit.repeats import repeated
from spectrace.audit.visible import one_line
from spectrace.cli import console, document, reconcile, report, settle, unknowns, unreviewed, violations
from spectrace.cli.console import Column, iso, iso_seconds, status_span
from spectrace.cli.grids import no_formula
from spectrace.cli.listing import between
from spectrace.cli.options import db_option, json_option, reading
from spectrace.cli.select import named, require_runs
from spectrace.core.deeds import RESUME, Deed, changes_state
from spectrace.core.events import EpisodeStarted
from spectrace.core.types import Effect
from spectrace.errors import UsageError
from spectrace.settings import meant

OUTCOMES = ("ok", "error", "indeterminate", "never")

MODES = ("real", "simulated")

AUTHORITIES = ("verdict", "repair", "actor", "read", "reply", "unreviewed", "speculative", "person", "unknown")

_TOLD_EVERY = 100
_PRETENDING = frozenset({"dry_run", "dryrun", "simulate", "simulation"})
"""Names of arguments by which tools are asked to pretend."""
_COLUMNS = (
    Column("event"),
    Column("time (UTC)", rank=5),
    Column("action", flex=30),
    Column("effect", rank=3),
    Column("effect by", rank=7),
    Column("authority"),
    Column("outcome"),
    Column("changed", rank=1),
    Column("reviewer", rank=4),
    Column("started by", rank=6),
)
NOTHING = "No action is on the ledger."


@click.group()
def command() -> None:
    """Ask what was done, and on whose authority."""


command.add_command(violations.command)
command.add_command(settle.command)
command.add_command(unknowns.command)
command.add_command(unreviewed.command)
command.add_command(reconcile.command)
command.add_command(report.command)


@command.command()
@click.argument("episodes", nargs=-1, metavar="[EP]...")
@click.option("--tool", multiple=True, metavar="TOOL", help="Only this tool.")
@click.option("--env", multiple=True, metavar="ENV", help="Only on this environment.")
@click.option(
    "--effect",
    multiple=True,
    type=click.Choice([effect.value for effect in Effect]),
    help="Only this effect. Plain reads are listed only if asked for.",
)
@click.option(
    "--authority",
    multiple=True,
    metavar="KIND",
    help=f"{', '.join(AUTHORITIES)}, or a whole one (verdict:28).",
)
@click.option("--outcome", multiple=True, type=click.Choice(OUTCOMES), help="never: drafted, and it did not run.")
@click.option("--mode", type=click.Choice(MODES), help="Only what was done, or what the label mode=simulated is on.")
@click.option("--run", multiple=True, metavar="NAME", help="Only in this named run.")
@click.option("--since", metavar="TIME", help="Asked, or else drafted, at or after this time.")
@click.option("--until", metavar="TIME", help="Asked, or else drafted, before this time.")
@click.option("--events", "folded", is_flag=True, help="Read all events, not the projections: slower; names damage.")
@click.option("--csv", "as_csv", is_flag=True, help="Write CSV to stdout; no cell of it is taken for a formula.")
@db_option
@json_option
@click.pass_context
def actions(
    ctx: click.Context,
    episodes: Sequence[str],
    tool: tuple[str, ...],
    env: tuple[str, ...],
    effect: tuple[str, ...],
    authority: tuple[str, ...],
    outcome: tuple[str, ...],
    mode: str | None,
    run: tuple[str, ...],
    since: str | None,
    until: str | None,
    db: str | None,
    *,
    folded: bool,
    as_csv: bool,
    as_json: bool,
) -> None:
    """List every action that changed or may have changed something, or was drafted to, with its authority."""
    if as_csv and as_json:
        raise UsageError("--csv and --json both write to stdout; choose one.")
    low, high = between(since, until)
    _require_authorities(authority)
    lost: list[Unread] = []
    with reading(db) as reader, console.progress() as progress:
        chosen = Filters(env=env, tool=tool, run=run, until=high, sort="started_at")
        require_runs(reader, chosen)
        names = set(named(reader, episodes))

        def told(done: int, total: int) -> None:
            if done % _TOLD_EVERY == 0:
                progress.show("ledger", f"{done:,} of {total:,} episodes" if total else f"{done:,} episodes")

        plain = Effect.READ in effect
        ledger = reader.actions(
            chosen, reads=plain or folded, episodes=names or None, between=(low, high), lost=lost, told=told
        )
        found = (
            deed
            for deed in ledger
            if (plain or changes_state(deed))
            and (not effect or deed.effect_declared in effect)
            and (not authority or _has_authority(deed, authority))
            and (not outcome or deed.outcome in outcome)
            and (mode is None or deed.simulated == (mode == "simulated"))
        )
        if as_json:
            document.write("audit-actions", (item(deed) for deed in found))
        elif as_csv:
            _write_csv(found)
        else:
            shown = list(found)
            relations = families(reader.store, {deed.episode for deed in shown})
        misspelt = list(never_heard_of(reader.store, tools=tool, envs=env))
        elsewhere = [] if as_json else [said for name in sorted(names) if (said := _gone_on_from(reader, name, names))]
    if not as_json and not as_csv and (shown or not lost):
        asked = (episodes, tool, env, effect, authority, outcome, mode, run, since, until)
        show(shown, relations, "No action on the ledger is what was asked for." if any(asked) else NOTHING)
        if not (folded or names or plain):
            console.say("As projections tell it; --events folds the events, `spectrace verify` compares.", style="dim")
    for what, name, known in misspelt:
        console.say(f"No event names the {what} {name!r}{meant(name, known)}.", style="warning")
    for said in elsewhere:
        console.say(said)
    ctx.exit(console.lost(lost))


def _write_csv(found: Iterable[Deed]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(ITEM)
    for deed in found:
        told = item(deed)
        writer.writerow([_plain(told[name]) for name in ITEM])


def _plain(value: object) -> object:
    """Return a cell: a text that no spreadsheet takes for a formula, a number as it is, nothing for None."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case str():
            return no_formula(one_line(value))
        case _:
            return value


def _gone_on_from(reader: Reader, episode: str, named: Collection[str]) -> str | None:
    """Say where the earlier actions of a resumed episode are listed, unless they are listed here as well."""
    body = reader.first(episode).body
    parent = body.parent if isinstance(body, EpisodeStarted) else None
    if parent is None or parent.kind != RESUME or parent.episode in named:
        return None
    return (
        f"{episode} goes on from {parent.episode}:{parent.seq}: what was drafted and done up to there is listed with "
        f"that one, `spectrace audit actions {parent.episode} {episode}`."
    )


def _require_authorities(wanted: Sequence[str]) -> None:
    for given in wanted:
        kind = given.partition(":")[0]
        if kind not in AUTHORITIES:
            raise UsageError(
                f"no authority is called {given!r}{meant(kind, AUTHORITIES)}; there are {', '.join(AUTHORITIES)}, or a "
                "whole one such as verdict:28."
            )


def _has_authority(deed: Deed, wanted: Sequence[str]) -> bool:
    given = deed.authority or ""
    return given in wanted or given.partition(":")[0] in wanted


def _claim(deed: Deed) -> str | None:
    """Say what a call claims of itself: a tool that is told to pretend may or may not."""
    try:
        given = json.loads(deed.arguments) if deed.tool is not None else None
    except (ValueError, RecursionError):
        return None
    named = given.items() if isinstance(given, dict) else ()
    pretending = (name for name, value in named if value is True and name.lower().replace("-", "_") in _PRETENDING)
    return next((f"called with {name}=true" for name in pretending), None)


def show(deeds: Sequence[Deed], relations: Mapping[str, str] | None = None, empty: str = NOTHING) -> None:
    """Write the ledger as a table; what a family of resumed episodes did twice is said below it."""
    console.table(_COLUMNS, [_row(deed) for deed in deeds], empty)
    for group in repeated(deeds, relations):
        where = ", ".join(group.places)
        known = group.least == group.most
        done = counted(group.least, "execution") if known else f"{group.least} to {group.most} executions"
        maybe = "" if known else " (possible duplicate)"
        console.line("Same action, ", (done, "warning"), f"{maybe}: {group.tool} {group.arguments} at {where}", hang=2)
    indeterminate = sum(deed.outcome == "indeterminate" for deed in deeds)
    if indeterminate:
        console.say(
            f"{indeterminate} indeterminate: asked and not answered, so it may have happened. Nothing runs it again; "
            "`spectrace audit settle` adds what a person finds out.",
            style="warning",
        )


def _row(deed: Deed) -> list[console.Cell]:
    what = f"{deed.tool} {deed.arguments}" if deed.tool else f"{deed.kind}: {deed.arguments}"
    if claim := _claim(deed):
        what = f"{what} ({claim})"
    changed = {True: "yes", False: "no", None: None}[deed.state_changed]
    return [
        (f"{deed.episode}:{deed.seq}", "name"),
        iso_seconds(deed.requested_at if deed.requested_at is not None else deed.drafted_at),
        what,
        deed.effect_declared or None,
        deed.effect_by,
        deed.authority,
        outcome_span(deed),
        changed,
        deed.reviewer_model,
        deed.started_by,
    ]


def outcome_span(deed: Deed) -> console.Span:
    """Return the outcome in its colour. A file that was imported has a result: a text, which proves no effect."""
    if deed.authority == "unknown" and deed.outcome in {"ok", "error"} and deed.kind == "call":
        return ("a result" if deed.outcome == "ok" else "an error") + "; effect unknown", "warning"
    if deed.simulated:  # told beside the outcome: at no width may it look as if it had been done
        return f"{deed.outcome} (simulated)", "warning"
    return status_span(deed.outcome)


ITEM = (
    *("episode", "seq", "position", "kind", "tool", "arguments", "effect_declared", "effect_by", "drafted_at"),
    *("held_seq", "verdict_seq", "authority", "reviewer_model", "requested_at", "completed_at", "outcome", "mode"),
    *("claim", "state_changed", "result_digest", "started_by", "erased"),
)
"""The fields of an item, in the order of the CSV."""


def item(deed: Deed) -> dict[str, object]:
    """Return the JSON item of a deed; arguments are the exact text."""
    return {
        "episode": deed.episode,
        "seq": deed.seq,
        "position": deed.position,
        "kind": deed.kind,
        "tool": deed.tool,
        "arguments": deed.arguments,
        "effect_declared": deed.effect_declared,
        "effect_by": deed.effect_by,
        "drafted_at": iso(deed.drafted_at),
        "held_seq": deed.held_seq,
        "verdict_seq": deed.verdict_seq,
        "authority": deed.authority,
        "reviewer_model": deed.reviewer_model,
        "requested_at": iso(deed.requested_at),
        "completed_at": iso(deed.completed_at),
        "outcome": deed.outcome,
        "mode": MODES[deed.simulated],
        "claim": _claim(deed),
        "state_changed": deed.state_changed,
        "result_digest": deed.result_digest,
        "started_by": deed.started_by,
        "erased": deed.erased,
    }
