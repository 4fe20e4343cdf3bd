"""Re-verifications as `compare` writes them: the report that `reverify` prints, its tables for a paper, or all of it.

Counterpart of `compare`, which writes protocols; csv and JSON have every figure, also those in no table.
"""

import sys
from collections.abc import Iterator, Sequence

from spectrace.audit.agreement_figures import RECORDED, Figure
from spectrace.audit.derived_rows import derived_figures
from spectrace.audit.methods import methods
from spectrace.audit.reverified import Reverified
from spectrace.audit.sections import Cell, Section, sections
from spectrace.cli import agreement, console, document, grids
from spectrace.stats.estimates import Estimate

HEADER = (
    "run",
    "protocol",
    "column",
    "against",
    "metric",
    "value",
    "low",
    "high",
    "n",
    "clusters",
    "method",
)
_BOUNDS = "_bounds"


def write(found: Reverified, form: str, *, as_json: bool) -> None:
    """Write the comparison to stdout."""
    if as_json:
        document.write("compare", items(found))
        return
    match form:
        case "csv":
            rows = [[one[name] for name in HEADER] for one in items(found)]
            sys.stdout.write(grids.csv_text(HEADER, rows))
            console.say(methods(found), style="dim")
        case "md":
            sys.stdout.write("\n".join([*map(_markdown, sections(found)), f"{_md(methods(found))}\n"]))
        case "latex":
            sys.stdout.write("\n".join(map(_latex, sections(found))))
            sys.stdout.write(f"\n% Methods: {grids.latex_text(methods(found))}\n")
        case _:
            agreement.show(found)


def items(found: Reverified) -> list[dict[str, str | float | None]]:
    """Return the JSON items: every figure of every pair, bounds as figures of their own, then the derived reviews."""
    pairs = [
        item
        for pair, figures in found.figures
        for figure in figures
        for item in _items(pair.second, pair.first or RECORDED, pair.label, figure)
    ]
    derived = [
        item
        for one in found.runs
        for figure in derived_figures(one.derived, found.bootstrap)
        for item in _items(one.run, RECORDED, f"{one.run}, derived segments", figure)
    ]
    return [*pairs, *derived]


def _items(run: str, against: str, column: str, figure: Figure) -> Iterator[dict[str, str | float | None]]:
    yield _item(run, against, column, figure.metric, figure.estimate)
    if figure.bounds is not None:
        yield _item(run, against, column, f"{figure.metric}{_BOUNDS}", figure.bounds)


def _item(run: str, against: str, column: str, metric: str, found: Estimate) -> dict[str, str | float | None]:
    return {
        "run": run,
        "protocol": "reverify",
        "column": column,
        "against": against,
        "metric": metric,
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "n": found.n,
        "clusters": found.clusters,
        "method": found.method,
    }


def _markdown(section: Section) -> str:
    title = f"**{_md(section.title)}**\n\n" if section.kind != "statistics" else ""  # it stands below the other
    notes = "".join(f"\n{_md(one)}\n" for one in section.notes)
    return f"{title}{grids.markdown(section.header, _texts(section.rows))}{notes}"


def _md(text: str) -> str:
    return grids.markdown_text(text)


def _latex(section: Section) -> str:
    title = f"% {grids.latex_text(section.title)}\n"
    return title + grids.latex(section.header, _texts(section.rows), section.notes)


def _texts(rows: Sequence[Sequence[Cell]]) -> list[list[str]]:
    return [["" if cell is None else str(cell) for cell in row] for row in rows]
