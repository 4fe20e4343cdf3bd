"""`spectrace audit violations`: what must never happen, and did. The rules are in `audit.rules`.

Exit 1 where a rule is broken; 3 where that cannot be told: something cannot be read, or no rule could be applied to any
action at all, as in imports that name no authority. Where some actions could be judged, how many could not is said.
"""

from collections.abc import Sequence

import click

from spectrace.audit.answers import Filters
from spectrace.audit.lines import counted
from spectrace.audit.queries import Reader, Violation
from spectrace.audit.reading import Unread
from spectrace.audit.rules import Tally
from spectrace.cli import console, document
from spectrace.cli.console import Column
from spectrace.cli.options import db_option, filter_options, json_option, reading
from spectrace.cli.select import chosen, episodes_argument

_COLUMNS = (Column("event"), Column("rule"), Column("detail", flex=30))
_WHY = (
    "that change something or speak to somebody: the log names no authority for them, "
    "so whether they ran on a guess cannot be told."
)
_UNKNOWN = 3


@click.command("violations")
@episodes_argument
@filter_options()
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context, episodes: Sequence[str], db: str | None, *, every: bool, filters: Filters, as_json: bool
) -> None:
    """List what breaks a rule of the audit, such as a write that ran on a guess."""
    lost, tally = list[Unread](), Tally()
    with reading(db) as reader:
        names = _names(reader, episodes, filters, every=every)
        found = [one for name in names for one in reader.violations(name, lost=lost, tally=tally)]
    if as_json:
        document.write("audit-violations", [_item(one) for one in found])
    elif found or not lost:
        show(found, len(names), tally)
    if tally.unjudged:
        console.say(
            f"No rule could be applied to {tally.unjudged} of {counted(tally.acts, 'action')} {_WHY}", "warning"
        )
    unreadable = console.lost(lost)
    ctx.exit(1 if found else _UNKNOWN if tally.nothing_judged else unreadable)


def _names(reader: Reader, episodes: Sequence[str], filters: Filters, *, every: bool) -> list[str]:
    """Return the episodes that were chosen, or all: a log without any breaks no rule."""
    if episodes or every or filters != Filters():
        return chosen(reader, episodes, every, filters)
    return [one.episode for one in reader.iter_episodes(Filters(sort="started_at"))]


def show(found: Sequence[Violation], episodes: int, tally: Tally) -> None:
    """Write the violations as a table."""
    rows: list[list[console.Cell]] = [[(f"{one.episode}:{one.seq}", "name"), one.rule, one.detail] for one in found]
    none = "Nothing could be judged" if tally.nothing_judged else "No rule is broken"
    console.table(_COLUMNS, rows, f"{none} ({counted(episodes, 'episode')} looked at).")


def _item(one: Violation) -> dict[str, object]:
    return {"episode": one.episode, "seq": one.seq, "rule": one.rule, "detail": one.detail}
