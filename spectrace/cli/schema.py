"""`spectrace schema`: what an event of each type and version may hold, as JSON Schema."""

import json

import click

from spectrace.cli import console, document
from spectrace.cli.console import Column
from spectrace.cli.options import json_option
from spectrace.core.digest import digest
from spectrace.errors import UsageError
from spectrace.settings import meant
from spectrace.store.schemas import published, versions

_COLUMNS = (Column("event"), Column("version", right=True), Column("what it says", flex=40))


@click.command()
@click.argument("event", required=False)
@click.option("--version", type=int, metavar="N", help="This version of it, not the newest.")
@json_option
def command(event: str | None, version: int | None, *, as_json: bool) -> None:
    """List the event types and their versions, or print the JSON Schema of one."""
    if event is None:
        if version is not None:
            raise UsageError("--version names the version of one event type: say which, `spectrace schema EVENT`.")
        _list(as_json=as_json)
        return
    there = [number for name, number in versions() if name == event]
    if not there:
        names = list(dict.fromkeys(name for name, _ in versions()))
        raise UsageError(f"no event is of type {event!r}{meant(event, names)}; `spectrace schema` lists them.")
    text = published(event, max(there) if version is None else version).decode()
    if as_json:
        document.write("schema", [_item(text, whole=True)])
    else:
        click.echo(text, nl=False)


def _list(*, as_json: bool) -> None:
    texts = [published(*one).decode() for one in versions()]
    if as_json:
        document.write("schema", [_item(text) for text in texts])
        return
    items = [_item(text) for text in texts]
    rows: list[list[console.Cell]] = [
        [(str(one["type"]), "name"), str(one["version"]), str(one["description"])] for one in items
    ]
    console.table(_COLUMNS, rows, "There is no event type.")
    console.say("`spectrace schema EVENT` prints what one may hold.", style="dim")


def _item(text: str, *, whole: bool = False) -> dict[str, object]:
    schema = json.loads(text)
    *_, type_, version = schema["$id"].split(":")
    item = {
        "type": type_,
        "version": int(version.removeprefix("v")),
        "description": schema["description"],
        "digest": digest(text.encode()),
    }
    return {**item, "schema": schema} if whole else item
