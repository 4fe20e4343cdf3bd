"""`spectrace scan-secrets`: what is in a log and should not be. Counterpart of `erase`, which removes it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from spectrace.audit.answers import Filters
from spectrace.audit.lines import counted
from spectrace.audit.queries import Reader, open_reader
from spectrace.audit.secrets import FoundSecret, SecretScan
from spectrace.cli import console, document
from spectrace.cli.console import Column
from spectrace.cli.options import db_option, filter_options, json_option, reading
from spectrace.cli.select import chosen, episodes_argument
from spectrace.config import settings_here
from spectrace.store.bundle_reader import is_zip

_COLUMNS = (
    Column("episode"),
    Column("seq", right=True),
    Column("where", rank=1, flex=20),
    Column("kind", rank=2),
    Column("detail", flex=30),
)


@click.command("scan-secrets")
@episodes_argument
@filter_options()
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context, episodes: Sequence[str], db: str | None, *, filters: Filters, every: bool, as_json: bool
) -> None:
    """Find secrets that lie in the log, in a bundle or in a file of lines, by the rules of redaction, showing none."""
    scan = SecretScan(settings_here().redaction)
    files = [name for name in episodes if _is_file(name)]
    with console.progress() as progress:
        found = [one for name in files for one in _in_file(scan, Path(name), progress)]
        if len(files) < len(episodes) or not files:
            with reading(db) as reader:
                everything = every or (not episodes and filters == Filters())
                names = chosen(reader, [name for name in episodes if name not in files], everything, filters)
                found += _in_log(scan, reader, names, progress, whole=everything and filters == Filters())
    if as_json:
        document.write("scan-secrets", [item(one) for one in found])
    else:
        show(found)
    lost = console.lost(scan.unread)
    ctx.exit(1 if found else lost)


def _is_file(name: str) -> bool:
    path = Path(name)
    return path.is_file()


def _in_file(scan: SecretScan, path: Path, progress: console.Progress) -> Iterator[FoundSecret]:
    if not is_zip(path):
        yield from scan.lines(path)
        return
    with open_reader(str(path), told=console.say) as reader:
        names = [*(one.episode for one in reader.iter_episodes()), *reader.administrative()]
        yield from _in_log(scan, reader, names, progress, whole=False)


def _in_log(
    scan: SecretScan, reader: Reader, names: Sequence[str], progress: console.Progress, *, whole: bool
) -> list[FoundSecret]:
    """Look through episodes; where all are meant, through what lies beside them too."""
    if whole:
        names = [*names, *reader.administrative()]

    def told(done: int, total: int) -> None:
        progress.show("scan", (f"{done:,} of {total:,} episodes looked through", "dim"))

    found = list(scan.episodes(reader.store, names, told))
    if whole:
        found += scan.runs(reader.store)
    progress.drop("scan")
    return found


def show(found: Sequence[FoundSecret]) -> None:
    """Write what was found as a table, and how it is removed."""
    rows: list[list[console.Cell]] = [
        [(one.episode, "name"), one.seq, one.where, one.kind, one.detail] for one in found
    ]
    console.table(_COLUMNS, rows, "No secret was found.")
    events = {(one.episode, one.seq) for one in found if one.seq is not None}
    if events:
        console.line(
            f"{counted(len(events), 'event')} with secrets. `spectrace erase EP:SEQ` removes what an event says, "
            "`spectrace erase --matching TEXT` a text wherever it is; change the credential all the same."
        )


def item(one: FoundSecret) -> dict[str, object]:
    """Return the JSON item of a finding."""
    return {"episode": one.episode, "seq": one.seq, "where": one.where, "kind": one.kind, "detail": one.detail}
