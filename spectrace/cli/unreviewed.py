"""`spectrace audit unreviewed`: what ran without a verdict of the strong model. The kinds are in `audit.unreviewed`."""

from collections.abc import Iterator, Sequence

import click

from spectrace.audit.answers import Filters
from spectrace.audit.lines import counted
from spectrace.audit.queries import Reader
from spectrace.audit.reading import Unread
from spectrace.audit.unreviewed import KINDS, Unreviewed, unreviewed
from spectrace.cli import console, document
from spectrace.cli.console import Column, Progress
from spectrace.cli.listing import TOLD_EVERY, counts, episodes_of
from spectrace.cli.options import db_option, filter_options, json_option, reading
from spectrace.cli.select import episodes_argument

_COLUMNS = (
    Column("event"),
    Column("kind"),
    Column("segment", rank=2, right=True),
    Column("tool", rank=1),
    Column("detail", flex=30),
)


@click.command("unreviewed")
@episodes_argument
@filter_options()
@click.option("--kind", "kinds", multiple=True, type=click.Choice(list(KINDS)), help="Only this kind.")
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    episodes: Sequence[str],
    kinds: Sequence[str],
    db: str | None,
    *,
    every: bool,
    filters: Filters,
    as_json: bool,
) -> None:
    """List what reached the environment or the user without a verdict of the strong model."""
    lost: list[Unread] = []
    with reading(db) as reader, console.progress() as progress:
        names = episodes_of(reader, episodes, filters, every=every)
        found = (one for one in _found(reader, names, lost, progress) if not kinds or one.kind in kinds)
        if as_json:
            document.write("audit-unreviewed", (item(one) for one in found))
        else:
            shown = list(found)
    if not as_json and (shown or not lost):
        show(shown, len(names))
    ctx.exit(console.lost(lost))


def _found(reader: Reader, names: Sequence[str], lost: list[Unread], progress: Progress) -> Iterator[Unreviewed]:
    for number, name in enumerate(names, 1):
        if number % TOLD_EVERY == 0:
            progress.show("unreviewed", f"{number:,} of {counted(len(names), 'episode')}")
        yield from unreviewed(reader.account(name, lost))


def show(found: Sequence[Unreviewed], episodes: int) -> None:
    """Write the list as a table, the gravest kinds first, and below it how many there are of each."""
    order = {kind: place for place, kind in enumerate(KINDS)}
    rows: list[list[console.Cell]] = [
        [(f"{one.episode}:{one.seq}", "name"), one.kind, one.segment, one.tool, one.detail]
        for one in sorted(found, key=lambda one: order[one.kind])
    ]
    console.table(_COLUMNS, rows, f"Nothing ran without a verdict ({counted(episodes, 'episode')} looked at).")
    counts((one.kind for one in found), KINDS)


def item(one: Unreviewed) -> dict[str, object]:
    """Return the JSON item."""
    return {
        "episode": one.episode,
        "seq": one.seq,
        "kind": one.kind,
        "detail": one.detail,
        "tool": one.tool,
        "segment": one.segment,
    }
