"""`--plot FILE.png`: refused before anything is read where it cannot be drawn, written whole or not at all."""

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import click

from spectrace.audit.panels import Panel
from spectrace.cli import console
from spectrace.errors import UsageError
from spectrace.store.new_file import new_file


class Plot:
    """A file to draw into, and what draws."""

    def __init__(self, target: Path, plots: ModuleType) -> None:
        """Take the module that has imported matplotlib."""
        self.target, self._plots = target, plots

    def require_room(self, *, force: bool) -> None:
        """Refuse a name that is taken, before the work is done."""
        if self.target.exists() and not force:
            raise UsageError(f"{self.target} is there already: give --plot another name, or --force to replace it.")

    def draw(self, panels: Sequence[Panel], captions: tuple[str, str], *, force: bool) -> None:
        """Write the panels, under a title and with a line below."""
        if not panels:
            raise UsageError("there is nothing to plot: no figure has a value. Without --plot the table says why.")
        data: bytes = self._plots.png(panels, *captions)
        with new_file(self.target, force=force) as file:
            file.write(data)
        console.say(f"Drawn: {self.target}", style="dim")


def as_png(ctx: click.Context, param: click.Parameter, value: Path | None) -> Plot | None:
    """Refuse another ending than .png, and plots where matplotlib is missing: the callback of `--plot`."""
    if value is None:
        return None
    if value.suffix.lower() != ".png":
        raise click.BadParameter(f"{value} does not end in .png.", ctx, param)
    from spectrace.audit import plots  # noqa: PLC0415 - matplotlib is optional, and slow to import

    return Plot(value, plots)


plot_option = click.option(
    "--plot",
    type=click.Path(path_type=Path),
    callback=as_png,
    metavar="FILE.png",
    help="Draw the figures too, with matplotlib.",
)
