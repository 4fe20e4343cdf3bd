"""`spectrace db`: look after a database."""

import click

from spectrace.audit.lines import counted
from spectrace.audit.reading import Unread
from spectrace.cli import console, document
from spectrace.cli.console import Column
from spectrace.cli.db_copy import copy
from spectrace.cli.db_restore import restore
from spectrace.cli.grants import grants
from spectrace.cli.options import db_option, json_option
from spectrace.config import database_url
from spectrace.store import migrate, soundness, upkeep
from spectrace.store.plan import Plan, plan
from spectrace.store.sql import open_store


@click.group()
def command() -> None:
    """Look after a database."""


command.add_command(copy)
command.add_command(restore)
command.add_command(grants)


@command.command()
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--no-backup", is_flag=True, help="Make no copy of a SQLite file first.")
@db_option
@json_option
@click.pass_context
def upgrade(ctx: click.Context, db: str | None, *, dry_run: bool, no_backup: bool, as_json: bool) -> None:
    """Bring a database to this version's schema, after a backup; make it where there is none."""
    url = database_url(db)
    if dry_run:
        _plan(plan(url), backup=not no_backup, as_json=as_json)
        return
    done = migrate.upgrade(url, backup=not no_backup)
    rebuilt = _rebuilt(url, old=True)
    if as_json:
        document.write("db-upgrade", [{**_upgraded(done), "rebuilt": rebuilt.episodes}])
    else:
        _say_upgraded(done)
        if rebuilt.episodes:
            console.line(f"Made the projections of {counted(rebuilt.episodes, 'episode')} anew.")
    ctx.exit(_lost(rebuilt))


def _say_upgraded(done: migrate.Upgraded) -> None:
    if done.triggers:
        console.line(f"Put back what keeps events append-only: {', '.join(done.triggers)}.")
        console.line("Somebody had dropped, altered or switched off what was put back: `spectrace verify --all`.")
    if done.before == done.after:
        console.line(f"The database is at revision {done.after} already.")
        return
    console.line(f"Upgraded from {done.before or 'nothing'} to revision {done.after}.")
    if done.backup is not None:
        console.line("The backup, for `spectrace db restore`: ", (str(done.backup.path), "name"))
        console.line(f"Its digest: {done.backup.digest}")


def _upgraded(done: migrate.Upgraded) -> dict[str, object]:
    return {
        "from": done.before,
        "to": done.after,
        "backup": str(done.backup.path) if done.backup else None,
        "backup_digest": done.backup.digest if done.backup else None,
        "triggers_restored": list(done.triggers),
    }


def _plan(found: Plan, *, backup: bool, as_json: bool) -> None:
    if as_json:
        item = {
            "from": found.before,
            "to": found.after,
            "revisions": [{"revision": name, "what": what} for name, what in found.revisions],
            "statements": list(found.statements),
            "triggers": list(found.triggers),
            "backup": found.backup and backup,
        }
        document.write("db-upgrade-plan", [item])
        return
    if found.triggers:
        console.line(f"Would put back what keeps events append-only: {', '.join(found.triggers)}.")
    if found.before == found.after:
        console.line(f"The database is at revision {found.after} already.")
        return
    console.line(f"Would upgrade from {found.before or 'nothing'} to revision {found.after}.")
    for name, what in found.revisions:
        console.line(f"  {name}  {what}")
    if found.backup and backup:
        console.line("Would copy the file first.")
    for statement in found.statements:
        console.rule()
        console.block(statement)


@command.command()
@db_option
@json_option
@click.pass_context
def check(ctx: click.Context, db: str | None, *, as_json: bool) -> None:
    """Say whether the database is sound: file, schema, triggers, epochs, projections."""
    found = soundness.check(database_url(db))
    if as_json:
        document.write(
            "db-check",
            [
                {"check": one.check, "ok": one.problem is None, "problem": one.problem, "note": one.note}
                for one in found
            ],
        )
    else:
        rows: list[list[console.Cell]] = [
            [one.check, ("ok", "good") if one.problem is None else ("problem", "bad"), one.problem or one.note]
            for one in found
        ]
        console.table(
            [Column("check"), Column("result"), Column("what", rank=1, flex=30)], rows, "Nothing was checked."
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
@click.pass_context
def rebuild(ctx: click.Context, db: str | None, *, as_json: bool) -> None:
    """Make the projections (summaries, segments, actions, search text) anew from the events."""
    url = database_url(db)
    # Refuse what is missing or of another version, where opening to write would make it.
    open_store(url, read_only=True).close()
    done = _rebuilt(url)
    if as_json:
        document.write("db-rebuild", [{"episodes": done.episodes}])
    else:
        console.line(f"Made the projections of {counted(done.episodes, 'episode')} anew.")
    ctx.exit(_lost(done))


def _rebuilt(url: str, *, old: bool = False) -> upkeep.Rebuilt:
    with console.progress() as progress:
        return upkeep.rebuild(
            url, lambda n, total: progress.show("rebuild", f"{n} of {counted(total, 'episode')}"), old=old
        )


def _lost(done: upkeep.Rebuilt) -> int:
    return console.lost([Unread(episode, None, why) for episode, why in done.lost])
