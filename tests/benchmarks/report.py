"""What was measured, as rows that state a goal and whether it holds: printed, and written as Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. Without a goal it is there for comparison."""

    what: str
    value: float
    unit: str = "x"
    at_least: float | None = None
    at_most: float | None = None
    note: str = ""

    @property
    def goal(self) -> str:
        """The goal in words; nothing where there is none."""
        if self.at_least is not None and self.at_least == self.at_most:
            return f"{_number(self.at_least)} {self.unit}".replace(" x", "x")
        if self.at_least is not None:
            return f">= {_number(self.at_least)}{_unit(self.unit)}"
        return f"<= {_number(self.at_most)}{_unit(self.unit)}" if self.at_most is not None else ""

    @property
    def holds(self) -> bool | None:
        """Whether the goal is met; None without one."""
        if self.at_least is None and self.at_most is None:
            return None
        enough = self.at_least is None or self.value >= self.at_least
        return enough and (self.at_most is None or self.value <= self.at_most)

    @property
    def verdict(self) -> str:
        """In the table: yes, or by how much it is missed."""
        if self.holds is None:
            return ""
        if self.holds:
            return "yes"
        goal = self.at_least if self.at_least is not None and self.value < self.at_least else self.at_most
        return f"no: {self.value / goal:.2f} of it" if goal else "no"


@dataclass(frozen=True, slots=True)
class Section:
    """A table, and what one must know to read it."""

    title: str
    rows: Sequence[Row]
    text: str = ""


def markdown(facts: Sequence[tuple[str, str]], sections: Sequence[Section], rounds: int) -> str:
    """Return the whole report."""
    said = (
        f"Written by `make bench`: medians of {rounds} interleaved rounds on one machine, compared with nothing but "
        "itself. **Read the ratios**: absolute figures move by a third from run to run."
    )
    lines = [
        "# Benchmark",
        "",
        said,
        "",
        *[f"- {what}: {value}" for what, value in facts],
    ]
    for section in sections:
        lines += ["", *_lines(section)]
    return "\n".join(lines) + "\n"


def _lines(section: Section) -> list[str]:
    return [f"## {section.title}", "", *([section.text, ""] if section.text else []), *table(section.rows)]


def renewed(text: str, facts: Sequence[tuple[str, str]], sections: Sequence[Section]) -> str:
    """Return a report with these sections in the place of those of the same title, or behind the others.

    Each says that it was measured apart, when and on which commit: it is compared with nothing of the rest.
    """
    head, *parts = text.rstrip("\n").split("\n## ")
    known = {part.partition("\n")[0]: part for part in parts}
    said = "; ".join(f"{what} {value}" for what, value in facts)
    for section in sections:
        apart = f"{section.text} Measured apart: {said}.".strip()
        new = "\n".join(_lines(Section(section.title, section.rows, apart)))
        known[section.title] = new.removeprefix("## ") + "\n"
    return "\n## ".join([head, *(part.rstrip("\n") + "\n" for part in known.values())]).rstrip("\n") + "\n"


def table(rows: Sequence[Row]) -> list[str]:
    """Return the rows as a Markdown table."""
    head = ["| figure | measured | goal | holds | |", "|---|---:|---|---|---|"]
    return head + [
        f"| {row.what} | {_number(row.value)}{_unit(row.unit)} | {row.goal} | {row.verdict} | {row.note} |"
        for row in rows
    ]


def missed(sections: Sequence[Section]) -> list[str]:
    """Return a line for each goal that does not hold."""
    return [
        f"{section.title}: {row.what}: {row.verdict} ({row.goal})"
        for section in sections
        for row in section.rows
        if row.holds is False
    ]


def write(path: Path, text: str) -> None:
    """Write the report."""
    path.write_text(text, encoding="utf-8")


def _unit(unit: str) -> str:
    return unit if unit in {"x", "%"} else f" {unit}"


def _number(value: float) -> str:
    if value and abs(value) < 0.1:
        return f"{value:.3f}"
    if abs(value) < 10:
        return f"{value:.2f}".removesuffix(".00")
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}".removesuffix(".0")
