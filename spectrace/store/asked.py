"""What a run was asked for: tasks x trials x protocols, kept in its settings, so that half of it never looks whole.

A later command may add to it: the run then holds several grids, and what it was asked for is their union.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from spectrace.store.projections import storable

Key = tuple[str, int, str]
"""(task, trial, protocol): a cell of a run."""
_MEMBER = "asked"
_MOST = 10_000_000
"""Cells of a grid: settings from elsewhere may claim any number of trials."""


@dataclass(frozen=True, slots=True)
class Grid:
    """What one command asks for."""

    tasks: tuple[str, ...]
    trials: int
    protocols: tuple[str, ...]

    def cells(self) -> Iterator[Key]:
        """Yield every cell."""
        for trial in range(self.trials):
            yield from ((task, trial, protocol) for task in self.tasks for protocol in self.protocols)


def cells_asked(settings: str) -> frozenset[Key]:
    """Return the cells that a run with these settings was asked for; none where they do not say."""
    return _cells(_grids(_object(settings)))


def with_asked(settings: str, grid: Grid) -> str:
    """Return the settings with what is asked for now; as they are where it is in them already."""
    given = _object(settings)
    grids = _grids(given)
    if _cells(grids).issuperset(grid.cells()):
        return settings
    kept = [{"tasks": one.tasks, "trials": one.trials, "protocols": one.protocols} for one in (*grids, grid)]
    return json.dumps({**given, _MEMBER: kept}, sort_keys=True)


def _cells(grids: Collection[Grid]) -> frozenset[Key]:
    return frozenset(cell for grid in grids for cell in grid.cells())


def _object(settings: str) -> Mapping[str, object]:
    found = json.loads(settings)
    return found if isinstance(found, dict) else {}


def _grids(settings: Mapping[str, object]) -> list[Grid]:
    given = settings.get(_MEMBER)
    return [grid for one in given if (grid := _grid(one)) is not None] if isinstance(given, list) else []


def _grid(given: object) -> Grid | None:
    match given:
        case {"tasks": list() as tasks, "trials": int() as trials, "protocols": list() as protocols}:
            size = len(tasks) * len(protocols) * trials
            return Grid(_named(tasks), trials, _named(protocols)) if 0 <= size <= _MOST else None
        case _:
            return None


def _named(given: Collection[object]) -> tuple[str, ...]:
    """Return names as the projections hold them, with which they are compared."""
    return tuple(storable(str(one)) for one in given)
