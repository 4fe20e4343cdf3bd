"""`spectrace audit unknowns`: what the log does not know or cannot prove. The kinds are in `audit.unknowns`.

It is a listing: 0 where something is not known too, since nothing here is wrong; 3 only where an episode cannot be
read, so that its unknowns are not all listed.
"""

from collections.abc import Sequence
from pathlib import Path

import click

from spectrace.audit.answers import Filters
from spectrace.audit.covering import covering
from spectrace.audit.lines import counted
from spectrace.audit.reading import Unread
from spectrace.audit.signing import read_key
from spectrace.audit.unknowns import KINDS, LOG, NotKnown
from spectrace.audit.unknowns_reading import unknowns_of
from spectrace.cli import console, document
from spectrace.cli.console import Column
from spectrace.cli.listing import TOLD_EVERY, counts, episodes_of
from spectrace.cli.options import db_option, filter_options, json_option, reading
from spectrace.cli.select import episodes_argument
from spectrace.errors import UsageError

_COLUMNS = (Column("event"), Column("kind"), Column("tool", rank=1), Column("detail", flex=30))


@click.command("unknowns")
@episodes_argument
@filter_options()
@click.option("--kind", "kinds", multiple=True, type=click.Choice(list(KINDS)), help="Only this kind.")
@click.option(
    "--checkpoint",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Covered is what this checkpoint has. [default: the database's newest]",
)
@click.option("--key", metavar="PUB", help="The public key that must have signed it, or the file that holds it.")
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    episodes: Sequence[str],
    kinds: Sequence[str],
    checkpoint: Path | None,
    key: str | None,
    db: str | None,
    *,
    every: bool,
    filters: Filters,
    as_json: bool,
) -> None:
    """List what the log does not know or cannot prove, by kind; exits 0 with a list too."""
    if key is not None and checkpoint is None:
        raise UsageError("--key PUB goes with --checkpoint FILE.")
    signer = None if key is None else read_key(key)
    lost: list[Unread] = []
    with reading(db) as reader, console.progress() as progress:
        covered = covering(reader.store, checkpoint, signer)
        names = episodes_of(reader, episodes, filters, every=every)

        def told(done: int) -> None:
            if done % TOLD_EVERY == 0:
                progress.show("unknowns", f"{done:,} of {counted(len(names), 'episode')}")

        every_one = unknowns_of(reader.store, names, covered, lost, told)
        found = (one for one in every_one if not kinds or one.kind in kinds)
        if as_json:
            document.write("audit-unknowns", (item(one) for one in found))
        else:
            shown = list(found)
    if not as_json and (shown or not lost):
        show(shown, len(names))
    ctx.exit(console.lost(lost))


def show(found: Sequence[NotKnown], episodes: int) -> None:
    """Write the list as a table, and below it how many there are of each kind."""
    rows: list[list[console.Cell]] = [[(_where(one), "name"), one.kind, one.tool, one.detail] for one in found]
    console.table(_COLUMNS, rows, f"Nothing is unknown ({counted(episodes, 'episode')} looked at).")
    counts((one.kind for one in found), KINDS)


def _where(one: NotKnown) -> str:
    return one.episode if one.seq is None else f"{one.episode}:{one.seq}"


def item(one: NotKnown) -> dict[str, object]:
    """Return the JSON item; what is the whole log's has no episode."""
    episode = None if one.episode == LOG else one.episode
    return {"episode": episode, "seq": one.seq, "kind": one.kind, "detail": one.detail, "tool": one.tool}
