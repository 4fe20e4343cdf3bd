"""A table as csv, md or latex, for papers and spreadsheets. What was recorded stays literal in each.

A spreadsheet takes a cell that begins with = + - or @ for a formula: recorded text of that kind gets an apostrophe in
front. Numbers are ours and stay as they are.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence

from spectrace.audit.visible import one_line

FORMATS = ("table", "csv", "md", "latex")

_FORMULA = ("=", "+", "-", "@")
_MARKDOWN = frozenset("\\`*_[]<>|~&$#")
_LINK = re.compile(r"(?=://)|(?<=www)(?=\.)", re.IGNORECASE)
"""Where a bare address becomes a link in the Markdown of GitHub and its kin."""
_ARGUMENT = re.compile(r"^(\s*[\[*])")
_LATEX: Mapping[str, str] = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{character: f"\\{character}" for character in "{}$&#%_"},
}


def csv_text(header: Sequence[str], rows: Sequence[Sequence[str | float | None]]) -> str:
    """Return rows as CSV; texts are recorded ones, numbers are numbers, None is empty."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([[_csv(value) for value in row] for row in rows])
    return stream.getvalue()


def _csv(value: str | float | None) -> str | float:
    if value is None:
        return ""
    if not isinstance(value, str):
        return value
    return no_formula(one_line(value))


def no_formula(text: str) -> str:
    """Return a cell's text as no spreadsheet takes it for a formula."""
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a Markdown table, its first column to the left, the others to the right."""
    rule = ["---", *["---:"] * (len(header) - 1)]
    drawn = [[*map(markdown_text, header)], rule, *([*map(markdown_text, row)] for row in rows)]
    return "".join(f"| {' | '.join(row)} |\n" for row in drawn)


def markdown_text(text: str) -> str:
    """Return text that Markdown shows as it stands."""
    escaped = "".join(f"\\{one}" if one in _MARKDOWN else one for one in one_line(text))
    return _LINK.sub(r"\\", escaped)


def latex(header: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str]) -> str:
    """Return rows as a LaTeX tabular of the booktabs kind, with comments under it."""
    drawn = [" & ".join([_first(row[0]), *map(latex_text, row[1:])]) + r" \\" for row in (header, *rows)]
    lines = [rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}", r"\toprule", drawn[0], r"\midrule", *drawn[1:]]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *(f"% {latex_text(one)}" for one in notes)]) + "\n"


def _first(text: str) -> str:
    """Return a row's first cell: the end of the row before it would take a [ or a * for an argument of its own."""
    return _ARGUMENT.sub(r"{\1}", latex_text(text))


def latex_text(text: str) -> str:
    """Return text that LaTeX sets as it stands."""
    return "".join(_LATEX.get(one, one) for one in one_line(text))
