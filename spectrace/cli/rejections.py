"""`spectrace rejections`: how often drafts were rejected, and for what."""

import click

from spectrace.audit.answers import Filters
from spectrace.audit.queries import REJECTIONS_BY
from spectrace.audit.reading import Unread
from spectrace.cli import console, document
from spectrace.cli.console import Column
from spectrace.cli.options import db_option, filter_options, json_option, reading
from spectrace.cli.select import require_runs


@click.command()
@click.option(
    "--by",
    default="category",
    show_default=True,
    metavar="WHAT,..",
    help=f"Count by one or more of {', '.join(REJECTIONS_BY)}.",
)
@filter_options()
@db_option
@json_option
@click.pass_context
def command(ctx: click.Context, by: str, db: str | None, *, filters: Filters, as_json: bool) -> None:
    """Count rejections, and beside them reviews that could not be used."""
    lost: list[Unread] = []
    names = [name.strip() for name in by.split(",")]
    with reading(db) as reader:
        require_runs(reader, filters)
        found = reader.rejections(names, filters, lost=lost)
    if as_json:
        document.write(
            "rejections",
            [
                {
                    "key": " / ".join(one.key),
                    **dict(zip(names, one.key, strict=True)),
                    "n": one.n,
                    "episodes": one.episodes,
                    "example": one.example,
                }
                for one in found
            ],
        )
        ctx.exit(console.lost(lost))
    columns = [
        *(Column(name) for name in names),
        Column("n", right=True),
        Column("episodes", right=True),
        Column("example"),
    ]
    rows: list[list[console.Cell]] = [[*one.key, one.n, one.episodes, (one.example, "name")] for one in found]
    console.table(columns, rows, "Nothing was rejected." if not lost else "No rejection can be read.")
    if found:
        console.say("`spectrace why EXAMPLE` tells one of them.", style="dim")
    ctx.exit(console.lost(lost))
