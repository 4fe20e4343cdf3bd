"""A wide grid as several narrow ones, one below the other. Used by `compare`, whose columns are protocols.

A table of `console` leaves out columns; here every one is a result, and none is less important.
"""

from collections.abc import Sequence

from spectrace.audit.visible import one_line
from spectrace.cli import console


def blocks(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[list[list[str]]]:
    """Cut a grid into grids that fit stdout, each with the first column and at least one more; headers come first."""
    width = console.out().width
    grid = [[one_line(cell) for cell in row] for row in (header, *rows)]
    needed = [max(console.text(row[place]).cell_len for row in grid) + 2 for place in range(len(header))]
    cut: list[list[int]] = []
    for place in range(1, len(header)):
        if cut and sum(needed[one] for one in (0, *cut[-1], place)) - 2 <= width:
            cut[-1].append(place)
        else:
            cut.append([place])
    return [[[row[place] for place in (0, *places)] for row in grid] for places in cut]
