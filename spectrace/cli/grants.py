"""`spectrace db grants`: what existing Postgres roles may do to the log, as SQL or done."""

from collections.abc import Sequence
from contextlib import closing

import click

from spectrace.audit.lines import counted
from spectrace.cli import console, document
from spectrace.cli.options import db_option, json_option
from spectrace.config import database_url
from spectrace.store.grants import Grant, apply, limits, statements
from spectrace.store.sql import open_store


@click.command()
@click.option("--recorder", multiple=True, metavar="ROLE", help="May record and read, and change nothing recorded.")
@click.option("--reader", multiple=True, metavar="ROLE", help="May read.")
@click.option(
    "--eraser", multiple=True, metavar="ROLE", help="May erase and read; as SQL also delete texts without a record."
)
@click.option("--project", metavar="NAME", help="Recorders and readers see this project, and all administrative logs.")
@click.option("--apply", "applied", is_flag=True, help="Run it; without this it is only printed.")
@click.option("--revoke", is_flag=True, help="Take away whatever the roles may do to the log.")
@db_option
@json_option
def grants(
    recorder: Sequence[str],
    reader: Sequence[str],
    eraser: Sequence[str],
    project: str | None,
    db: str | None,
    *,
    applied: bool,
    revoke: bool,
    as_json: bool,
) -> None:
    """Print, or run, the SQL that lets existing Postgres roles record, read or erase, and nothing else."""
    given = [
        *(Grant(name, "recorder") for name in recorder),
        *(Grant(name, "reader") for name in reader),
        *(Grant(name, "eraser") for name in eraser),
    ]
    with closing(open_store(database_url(db), read_only=not applied)) as store:
        found = statements(store.database, given, project=project, revoke=revoke)
        if applied:
            apply(store.database, found)
    notes = [] if revoke else list(limits(given, project))
    if as_json:
        document.write("db-grants", [{"statement": one, "applied": applied} for one in found])
    elif applied:
        verb = "Revoked from" if revoke else "Granted to"
        console.line(f"{verb} {counted(len(given), 'role')} in {counted(len(found), 'statement')}.")
    else:
        for one in ("BEGIN", *found, "COMMIT"):
            click.echo(f"{one};")  # printable, and never folded: it is to be run
        console.say("Nothing was changed: --apply runs it, as the log's owner.", style="dim")
    for words in notes:
        console.say(f"Not prevented: {words}.", style="warning")
