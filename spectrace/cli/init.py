"""`spectrace init`: a commented spectrace.toml."""

from pathlib import Path

import click

from spectrace.cli import console, document
from spectrace.cli.options import json_option
from spectrace.errors import UsageError
from spectrace.settings import FILE, TEMPLATE


@click.command()
@json_option
def command(*, as_json: bool) -> None:
    """Write a commented spectrace.toml into the working directory."""
    path = Path(FILE)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(TEMPLATE)
    except FileExistsError:
        raise UsageError(
            f"{path.resolve()} exists already, and init never overwrites: edit it, or move it away."
        ) from None
    except OSError as error:
        raise UsageError(f"{path.resolve()} cannot be written: {error.strerror}.") from None
    if as_json:
        document.write("init", [{"path": str(path.resolve())}])
    else:
        console.line("Wrote ", (str(path.resolve()), "name"), ": two local models by name, and where the log lies.")
        console.line("Next: spectrace run --env shop --task cancel-own --weak weak --strong strong")
