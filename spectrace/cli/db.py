"""`spectrace db`: look after a database."""

from pathlib import Path

import click

from spectrace.audit.lines import counted
from spectrace.audit.queries import open_reader
from spectrace.cli import console, document
from spectrace.cli.console import Column
from spectrace.cli.options import db_option, json_option
from spectrace.config import database_url
from spectrace.store import migrate, upkeep
from spectrace.store.database import parse_url


@click.group()
def command() -> None:
    """Look after a database."""


@command.command()
@db_option
@json_option
def upgrade(db: str | None, *, as_json: bool) -> None:
    """Bring a database to this version's schema, after a backup; make it where there is none."""
    url = database_url(db)
    restored = migrate.restore_triggers(url) if _is_there(url) else []
    before, after, backup = migrate.upgrade(url)
    if as_json:
        done = {"from": before, "to": after, "backup": str(backup) if backup else None, "triggers_restored": restored}
        document.write("db-upgrade", [done])
        return
    if restored:
        console.line(f"Put back what keeps events append-only: {', '.join(restored)}. Somebody had dropped it.")
    if before == after:
        console.line(f"The database is at revision {after} already.")
    else:
        console.line(f"Upgraded from {before or 'nothing'} to revision {after}.")
        if backup is not None:
            console.line("The backup, from which it can be restored: ", (str(backup), "name"))


def _is_there(url: str) -> bool:
    found = parse_url(url)
    return found.get_backend_name() != "sqlite" or Path(found.database or "").exists()


@command.command()
@db_option
@json_option
@click.pass_context
def check(ctx: click.Context, db: str | None, *, as_json: bool) -> None:
    """Say whether the database is sound: file, schema, triggers, projections."""
    found = upkeep.check(database_url(db))
    if as_json:
        document.write(
            "db-check", [{"check": one.check, "ok": one.problem is None, "problem": one.problem} for one in found]
        )
    else:
        rows: list[list[console.Cell]] = [
            [one.check, ("ok", "good") if one.problem is None else ("problem", "bad"), one.problem] for one in found
        ]
        console.table(
            [Column("check"), Column("result"), Column("problem", rank=1, flex=30)], rows, "Nothing was checked."
        )
        console.say("Chains and blobs of episodes: spectrace verify --all", style="dim")
    ctx.exit(1 if any(one.problem is not None for one in found) else 0)


@command.command()
@db_option
@json_option
def stats(db: str | None, *, as_json: bool) -> None:
    """Say what the database holds, and what it takes."""
    found = upkeep.stats(database_url(db))
    if as_json:
        document.write("db-stats", [{"table": one.table, "rows": one.rows, "bytes": one.bytes} for one in found])
        return
    rows: list[list[console.Cell]] = [[one.table, one.rows, one.bytes] for one in found]
    sizes = [one.bytes for one in found if one.bytes is not None]
    rows.append([("total", "strong"), None, sum(sizes) if sizes else None])
    console.table([Column("table"), Column("rows", right=True), Column("bytes", right=True)], rows, "")


@command.command()
@db_option
@json_option
def rebuild(db: str | None, *, as_json: bool) -> None:
    """Make the projections (summaries, segments, actions, search text) anew from the events."""
    url = database_url(db)
    open_reader(url).close()  # refuses what is missing or of another version, where opening to write would make it
    done = upkeep.rebuild(url)
    if as_json:
        document.write("db-rebuild", [{"episodes": done}])
    else:
        console.line(f"Made the projections of {counted(done, 'episode')} anew.")
