"""`spectrace db restore`: put a backup in the place of a database."""

from pathlib import Path

import click

from spectrace.audit.integrity import CONSISTENT, verify_episode
from spectrace.audit.queries import open_reader
from spectrace.cli import console, document
from spectrace.cli.options import db_option, json_option
from spectrace.config import database_url
from spectrace.store import restore as restoring
from spectrace.store.revisions import head


@click.command()
@click.argument("backup", type=click.Path(path_type=Path))
@db_option
@json_option
def restore(backup: Path, db: str | None, *, as_json: bool) -> None:
    """Put a backup of a SQLite log in its place, checked and upgraded; what was there is kept beside it."""
    done = restoring.restore(database_url(db), backup, _wrong)
    if as_json:
        item = {
            "database": str(done.path),
            "backup": str(backup),
            "backup_digest": done.digest,
            "backup_revision": done.revision,
            "revision": head(),
            "replaced": str(done.replaced) if done.replaced else None,
            "record": done.record,
        }
        document.write("db-restore", [item])
        return
    upgraded = f", and upgraded to {head()}" if done.revision != head() else ""
    console.line("Restored ", (str(done.path), "name"), f" from {backup}, revision {done.revision}{upgraded}.")
    console.line(f"The backup's digest: {done.digest}")
    if done.replaced is not None:
        console.line("What was there is kept: ", (str(done.replaced), "name"))
    console.line(f"A new epoch began; the record of it is {done.record}.")


def _wrong(url: str) -> list[str]:
    """Say which chains of a database are not intact."""
    with open_reader(url) as reader:
        names = [one.episode for one in reader.iter_episodes()] + reader.administrative()
        found = [verify_episode(reader.store, name) for name in names]
    return [f"{one.episode}: {one.detail}" for one in found if one.result != CONSISTENT]
