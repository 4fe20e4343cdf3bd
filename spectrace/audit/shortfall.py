"""What the columns of a comparison lack: cells that were asked for and have no result, and tasks that others have.

A column whose episodes met different environments is told too: one table of two.
"""

from collections.abc import Sequence

from spectrace.audit.batches import asked_of
from spectrace.audit.columns import ComparedColumn
from spectrace.audit.lines import counted
from spectrace.audit.results import has_result
from spectrace.audit.surroundings import disagreement
from spectrace.store.listing import Listable

_NAMED = 5


def shortfalls(store: Listable, columns: Sequence[ComparedColumn]) -> list[str]:
    """Return a sentence for each column that lacks some of what its run was asked for, and one where tasks differ."""
    asked = {run: asked_of(store, run) for run in {one.made.run for one in columns} if run is not None}
    found = [said for one in columns if (said := _lacking(store, one, asked.get(one.made.run or "", frozenset())))]
    for run, cells in sorted(asked.items()):
        without = {protocol for *_, protocol in cells} - {one.made.protocol for one in columns if one.made.run == run}
        found += [f"{protocol} of run {run} has recorded no episode: it has no column." for protocol in sorted(without)]
    return found + _mixed(columns) + _apart(columns)


def _lacking(store: Listable, column: ComparedColumn, asked: frozenset[tuple[str, int, str]]) -> str | None:
    mine = {(task, trial) for task, trial, protocol in asked if protocol == column.made.protocol}
    if not mine:
        return None
    results = [one.summary for one in column.episodes if one.score is not None or has_result(store, one.summary)]
    lacking = sorted(mine - {(one.task, one.trial) for one in results})
    if not lacking:
        return None
    begun = {(one.summary.task, one.summary.trial) for one in column.excluded}
    never = sum(cell not in begun for cell in lacking)
    named = ", ".join(f"{task}{f' #{trial}' if trial else ''}" for task, trial in lacking[:_NAMED])
    more = f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
    return (
        f"{column.label} lacks {len(lacking)} of the {counted(len(mine), 'episode')} that were asked for, "
        f"{never} of them never begun: {named}{more}. Its figures are of the others."
    )


def _mixed(columns: Sequence[ComparedColumn]) -> list[str]:
    found = {}
    for one in columns:
        by_start = sorted(one.scored, key=lambda each: each.summary.started_at)
        found[one.label] = disagreement([(each.summary.episode, each.spending.started) for each in by_start])
    return [f"{label} mixes environments: {apart}." for label, apart in found.items() if apart is not None]


def _apart(columns: Sequence[ComparedColumn]) -> list[str]:
    tasks = {one.label: frozenset(found.task for found in one.scored) for one in columns}
    if len(set(tasks.values())) <= 1:
        return []
    common = len(frozenset.intersection(*tasks.values()))
    each = ", ".join(f"{label} {len(found)}" for label, found in tasks.items())
    return [
        f"Not every column has results of the same tasks: {each}; {common} in common. Their means are of their own."
    ]
