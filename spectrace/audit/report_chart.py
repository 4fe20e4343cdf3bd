"""Bars of a report, laid out: where each stands and what it says. The page draws them as SVG, without matplotlib.

What could have gone otherwise: matplotlib, where it is installed, would draw prettier axes. Then the same log would
give two reports, text would be outlines that nobody can select or have read to them, and dark and light would need two
pictures. Rectangles that take their colours from the page's style need none of that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from spectrace.audit.report_figures import OUTCOMES, Span

WIDTH = 720
_LEFT, _RIGHT, _TOP, _BELOW = 52, 8, 10, 26
_TALL = 170
_TICKS = 4
_ROW, _BAR, _NAMES = 24, 16, 132
_MOST_LABELS = 9
_STEPS = (1, 2, 3, 5)


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle: `kind` says which colour, `says` what it stands for."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    says: str


@dataclass(frozen=True, slots=True)
class Label:
    """A text; `anchor` is start, middle or end."""

    x: float
    y: float
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture: what it is, what it shows in words, its parts."""

    name: str
    title: str
    says: str
    height: int
    bars: tuple[Bar, ...]
    labels: tuple[Label, ...]
    lines: tuple[float, ...]
    """Heights of the grid's lines."""
    kinds: tuple[str, ...]
    """What the legend names."""


def by_time(unit: str, spans: Sequence[Span]) -> Chart | None:
    """Return stacked bars: how many actions of each outcome, by day, week or month. None where there is none."""
    most = max((span.total for span in spans), default=0)
    if not most:
        return None
    top = _round_up(most)
    slot = (WIDTH - _LEFT - _RIGHT) / len(spans)
    bars: list[Bar] = []
    for place, span in enumerate(spans):
        y = float(_TOP + _TALL)
        for outcome in _outcomes(spans):
            count = span.counts.get(outcome, 0)
            height = _TALL * count / top
            y -= height
            if count:
                x = _LEFT + slot * (place + 0.1)
                bars.append(_bar(x, y, (min(slot * 0.8, 60), height), outcome, f"{span.name}: {count:,} {outcome}"))
    every = ceil(len(spans) / _MOST_LABELS)
    names = [
        Label(
            round(_LEFT + slot * place + slot * 0.1 + min(slot * 0.8, 60) / 2, 1), _TOP + _TALL + 17, one.name, "middle"
        )
        for place, one in enumerate(spans)
        if place % every == 0
    ]
    counts = sorted({round(top * tick / _TICKS) for tick in range(_TICKS + 1)})
    heights = [round(_TOP + _TALL - _TALL * count / top, 1) for count in counts]
    scale = [Label(_LEFT - 6, height + 4, f"{count:,}", "end") for count, height in zip(counts, heights, strict=True)]
    total = sum(span.total for span in spans)
    says = f"{total:,} actions, from {spans[0].name} to {spans[-1].name}; at most {most:,} in one {unit}."
    title = f"Actions by {unit} and outcome"
    kinds = tuple(_outcomes(spans))
    return Chart("by-time", title, says, _TOP + _TALL + _BELOW, tuple(bars), (*names, *scale), tuple(heights), kinds)


def shares(name: str, title: str, counts: Mapping[str, int]) -> Chart | None:
    """Return a bar for each, the longest first, with its number and its share. None where there is none."""
    total = sum(counts.values())
    if not total:
        return None
    most, room = max(counts.values()), WIDTH - _NAMES - 120
    bars: list[Bar] = []
    labels: list[Label] = []
    for place, (one, count) in enumerate(counts.items()):
        y, width = _TOP + place * _ROW, room * count / most
        said = f"{count:,} ({100 * count / total:.1f} %)"
        bars.append(_bar(_NAMES, y, (max(width, 1), _BAR), one, f"{one}: {said}"))
        labels.append(Label(_NAMES - 8, y + 12, one, "end"))
        labels.append(Label(round(_NAMES + width + 6, 1), y + 12, said, "start"))
    says = "; ".join(f"{one} {count:,}" for one, count in counts.items()) + f"; {total:,} in all."
    return Chart(name, title, says, _TOP + len(counts) * _ROW + 4, tuple(bars), tuple(labels), (), ())


def _outcomes(spans: Sequence[Span]) -> list[str]:
    there = {outcome for span in spans for outcome, count in span.counts.items() if count}
    return [*(one for one in OUTCOMES if one in there), *sorted(there - set(OUTCOMES))]


def _bar(x: float, y: float, size: tuple[float, float], kind: str, says: str) -> Bar:
    width, height = size
    return Bar(round(x, 1), round(y, 1), round(width, 1), round(height, 1), kind, says)


def _round_up(count: int) -> int:
    """Return the next number that a scale may end with: four ticks of 1, 2 or 5 and zeros."""
    power = 1
    while True:
        for step in _STEPS:
            if step * power * _TICKS >= count:
                return step * power * _TICKS
        power *= 10
