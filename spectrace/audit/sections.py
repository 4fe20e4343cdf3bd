"""A report of re-verifications as tables with notes: the same for a terminal, a paper and a page.

Counterpart of `reverified`, which holds the figures; whoever draws a section makes recorded names visible.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from spectrace.audit import agreement_rows, derived_rows
from spectrace.audit.agreement_figures import Figure, Pair, crossed
from spectrace.audit.reverified import Judged, Reverified
from spectrace.stats.bootstrap import TaskBootstrap

Cell = str | int | None

ALWAYS = ("accept", "reject", "unusable")
KINDS = (*ALWAYS, "too_long", "failed", "context_redacted")
NOT_JUDGED = "not judged"


@dataclass(frozen=True, slots=True)
class Section:
    """One table. What is None in a cell says nothing."""

    kind: Literal["crossed", "statistics", "derived"]
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...]


def sections(found: Reverified) -> list[Section]:
    """Return the tables: of each pair, then of each run's derived reviews."""
    return [
        *(section for pair, figures in found.figures for section in _of_pair(pair, figures)),
        *(_derived(one, found.bootstrap) for one in found.runs if one.derived),
    ]


def _of_pair(pair: Pair, figures: Sequence[Figure]) -> Iterator[Section]:
    rows = agreement_rows.rows_of(figures)
    notes = (*agreement_rows.notes(rows), *agreement_rows.sentences(pair))
    yield _crossed(pair, () if rows else notes)
    if rows:
        listed = tuple((one.title, one.value, one.interval, one.bounds, one.of, one.tasks) for one in rows)
        yield Section("statistics", pair.label, agreement_rows.COLUMNS, listed, notes)


def _crossed(pair: Pair, notes: tuple[str, ...]) -> Section:
    counts = crossed(pair.reviews)
    kinds = [one for one in KINDS if one in ALWAYS or any(second == one for _, second in counts)]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (_words(first or NOT_JUDGED), *(counts[first, second] for second in kinds))
        for first in (*KINDS, None)
        if any(counts[first, second] for second in kinds)
    )
    return Section("crossed", pair.label, (" \\ ".join(pair.names), *map(_words, kinds)), rows, notes)


def _derived(one: Judged, bootstrap: TaskBootstrap) -> Section:
    rows = tuple(
        (
            row.held,
            row.grade,
            row.n,
            row.accepted,
            row.interval,
            row.tasks or None,
            row.rejected or None,
            row.left_out or None,
        )
        for row in derived_rows.derived_rows(one.derived)
    )
    notes = tuple(derived_rows.derived_notes(one.derived, bootstrap))
    title = f"{one.run}, derived segments accepted whole, by held action and reward"
    return Section("derived", title, derived_rows.COLUMNS, rows, notes)


def _words(kind: str) -> str:
    return kind.replace("_", " ")
