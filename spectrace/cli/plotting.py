"""`--plot FILE.png`: refused before anything is read where it cannot be drawn, written whole or not at all."""

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

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


class Png(click.ParamType):
    """The name of a PNG file, with matplotlib to draw it."""

    name = "png"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Plot:
        """Refuse another ending, and plots where matplotlib is missing."""
        if isinstance(value, Plot):
            return value
        target = Path(str(value))
        if target.suffix.lower() != ".png":
            self.fail(f"{target} does not end in .png.", param, ctx)
        from spectrace.audit import plots  # noqa: PLC0415 - matplotlib is optional, and slow to import

        return Plot(target, plots)
