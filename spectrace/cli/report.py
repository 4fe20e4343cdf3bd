"""`spectrace audit report`: the audit of a log as one page that needs nothing else to be read, years later too."""

from collections.abc import Sequence
from pathlib import Path

import click

from spectrace.audit.answers import Filters
from spectrace.audit.lines import counted
from spectrace.audit.report import MOST_ROWS, Report, Wanted, report
from spectrace.audit.report_numbers import numbers
from spectrace.audit.report_proof import Trust
from spectrace.audit.rules import RULES
from spectrace.audit.signing import read_key
from spectrace.cli import console, document, violations
from spectrace.cli.listing import between
from spectrace.cli.options import (
    db_option,
    filter_options,
    force_option,
    json_option,
    output_option,
    reading,
    whole,
)
from spectrace.cli.select import described, named, require_runs
from spectrace.cli.verify import trust_in
from spectrace.config import database_url
from spectrace.errors import UsageError
from spectrace.store.new_file import new_file

_IDS = 6
"""Named episodes that stand in the selection's words; of more their number does."""


@click.command("report")
@click.argument("episodes", nargs=-1, metavar="[EP]...")
@click.option("--all", "every", is_flag=True, help="Every episode, as without any choice.")
@output_option
@force_option
@filter_options(without=("since", "until"))
@click.option("--since", metavar="TIME", help="Actions asked, or else drafted, at or after this time.")
@click.option("--until", metavar="TIME", help="Actions asked, or else drafted, before this time.")
@click.option("--checkpoint", type=click.Path(path_type=Path), metavar="FILE", help="The checkpoint to compare with.")
@click.option("--key", metavar="PUB", help="The public key that signed it: as it stands, or the file that holds it.")
@click.option("--cosigner", "cosigners", multiple=True, metavar="PUB", help="Whose cosignature it must have too.")
@click.option("--title", default="Audit report", show_default=True, metavar="TEXT", help="What it is headed.")
@click.option(
    "--rows",
    type=whole(0),
    default=MOST_ROWS,
    show_default=True,
    metavar="N",
    help="Rows of each table; how many are left out is said. 0: all.",
)
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    episodes: Sequence[str],
    output: Path,
    since: str | None,
    until: str | None,
    checkpoint: Path | None,
    key: str | None,
    cosigners: Sequence[str],
    title: str,
    rows: int,
    db: str | None,
    *,
    every: bool,
    filters: Filters,
    force: bool,
    as_json: bool,
) -> None:
    """Write one HTML page: what is unknown, what broke a rule, what ran on whose authority, and the proof."""
    period = between(since, until)
    if every and (episodes or filters != Filters()):
        raise UsageError("name episodes, or choose them with --all or filters; not both.")
    url, trust = database_url(db), _trust(checkpoint, key, cosigners)
    with new_file(output, force=force) as file, reading(db) as reader, console.progress() as progress:
        if episodes and filters != Filters():
            raise UsageError("name episodes, or choose them with --all or filters; not both.")
        require_runs(reader, filters)
        names = named(reader, episodes)
        wanted = Wanted(
            title=title,
            url=url,
            selection=_words(names, filters),
            episodes=frozenset(names) if names else None,
            filters=filters,
            between=period,
            rows=rows or None,
            trust=trust,
            rules=(*RULES.values(), *violations.users_rules(()).values()),
        )
        with report(reader, wanted, lambda said: progress.show("report", said)) as made:
            progress.show("report", "writing")
            from spectrace.audit.report_page import write  # noqa: PLC0415 - jinja2, which no other command needs, is slow

            digest = write(made, file)
            size = file.tell()
    if as_json:
        document.write("audit-report", [{"file": str(output), "sha256": digest, "bytes": size, **numbers(made)}])
    else:
        _show(made, output, digest, size)
    ctx.exit(console.lost(made.lost))


def _trust(checkpoint: Path | None, key: str | None, cosigners: Sequence[str]) -> Trust | None:
    """Return the checkpoint, if it is signed as was asked; None where none was given."""
    held = trust_in(checkpoint, key, cosigners)
    if checkpoint is None or key is None or held is None:
        return None
    return Trust(checkpoint, read_key(key), tuple(read_key(one) for one in cosigners), held)


def _words(names: Sequence[str], filters: Filters) -> str:
    """Say which episodes, as they were typed."""
    if names:
        return ", ".join(names) if len(names) <= _IDS else f"{len(names):,} episodes, named one by one"
    return described(filters) if filters != Filters() else "the whole log"


def _show(made: Report, output: Path, digest: str, size: int) -> None:
    console.line("Written ", (str(output), "name"), f", {size:,} bytes, about {counted(len(made.episodes), 'episode')}")
    console.line(("SHA-256  ", "dim"), digest)
