"""Panels as one PNG, by matplotlib (`pip install 'spectrace[analysis]'`), imported here and nowhere else.

The same panels give the same bytes: nothing of the machine, the user's matplotlibrc or the clock enters. Text is drawn
as it stands, so recorded names cannot become mathematics. Colours are those of Okabe and Ito, with a mark for each.
"""

import io
from collections.abc import Sequence
from typing import Any, Literal

from spectrace.audit.panels import Curve, Curves, Forest, Mark, Matrix, Panel
from spectrace.audit.visible import one_line
from spectrace.errors import MissingExtra

try:
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.font_manager import findfont, get_font
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator
except ImportError as error:
    raise MissingExtra("a plot", "analysis") from error

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
_MARKS = ("o", "s", "D", "^", "v", "P")
_LINES: tuple[Literal["-", "--"], ...] = ("-", "--")
"""Of at most two curves."""
_INK, _FAINT, _GRID = "#222222", "#6f6f6f", "#e4e4e4"
_DPI = 160
_FONT = "DejaVu Sans"
_STYLE: dict[str, Any] = {  # rcParams hold anything
    "font.family": _FONT,
    "font.size": 9,
    "text.parse_math": False,
    "text.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#777777",
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelcolor": _INK,
    "axes.axisbelow": True,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "legend.frameon": False,
    "legend.fontsize": 8,
}
_WIDE, _SIDE = 6.6, 6.0
"""Widths of the forests and of what stands beside them, in inches."""
_ROW, _FRAME = 0.21, 1.15
"""Height of a mark in a forest, and of the frame around them, in inches."""
_CURVES, _MATRIX = 3.3, 2.5
_DARK = 0.62
"""From which share on a cell is so dark that its text is white."""
_NAME = 34
"""Characters of a recorded name that are drawn."""
_FEW = 12
"""Ticks that are labelled one by one."""


def png(panels: Sequence[Panel], title: str, subtitle: str = "") -> bytes:
    """Return the panels as a PNG: forests on the left, curves and matrices beside them."""
    with mpl.rc_context({**mpl.rcParamsDefault, **_STYLE}):  # type: ignore[dict-item]
        figure = _drawn(panels, title, subtitle)
        stream = io.BytesIO()
        canvas: Any = FigureCanvasAgg(figure)  # its methods are not typed
        canvas.print_png(stream, metadata={"Software": None})
    return stream.getvalue()


def _drawn(panels: Sequence[Panel], title: str, subtitle: str) -> Figure:
    forests = [one for one in panels if isinstance(one, Forest)]
    curves = [one for one in panels if isinstance(one, Curves)]
    matrices = [one for one in panels if isinstance(one, Matrix)]
    left = [_height(one) for one in forests]
    right = [*[_CURVES for _ in curves], *([_MATRIX] if matrices else [])]
    widths = [*([_WIDE] if forests else []), *([_SIDE if len(matrices) < 3 else 1.3 * _SIDE] if right else [])]  # noqa: PLR2004 - three stand side by side
    figure = Figure(figsize=(sum(widths), max(sum(left), sum(right)) + 0.75), dpi=_DPI, layout="constrained")
    engine: Any = figure.get_layout_engine()
    engine.set(w_pad=0.1, h_pad=0.1, rect=(0, 0, 0.99, 1))
    figure.suptitle(_shown(title, 120), x=0.012, ha="left", fontsize=12, fontweight="bold")
    if subtitle:
        figure.supxlabel(_shown(subtitle, 240), x=0.012, ha="left", fontsize=8, color=_FAINT)
    halves = _split(figure, widths, across=True)
    if forests:
        for part, one in zip(_split(halves[0], left, across=False), forests, strict=True):
            _forest(part.subplots(), one)
            alike = [each for each in forests if each.series == one.series]
            handles = _handles([mark for each in alike for mark in each.marks], one.series)
            if handles and one is alike[-1]:
                part.legend(handles=handles, loc="outside lower left", ncols=2)
    if right:
        parts = _split(halves[-1], right, across=False)
        for part, each in zip(parts, curves, strict=False):
            _curves(part.subplots(), each)
        if matrices:
            _matrices(parts[-1], matrices)
    return figure


def _split(figure: Figure | SubFigure, sizes: Sequence[float], *, across: bool) -> list[Any]:
    """Return parts of a figure of those relative sizes, side by side or one below the other."""
    if len(sizes) < 2:  # noqa: PLR2004 - nothing to split
        return [figure]
    if across:
        return list(figure.subfigures(1, len(sizes), width_ratios=sizes).flat)  # type: ignore[union-attr]
    return list(figure.subfigures(len(sizes), 1, height_ratios=sizes).flat)  # type: ignore[union-attr]


def _height(forest: Forest) -> float:
    each = max(1, len(forest.series))
    return _FRAME + (_ROW * each + 0.12) * len(forest.rows)


def _forest(axes: Axes, forest: Forest) -> None:
    step = 0.8 / max(len(forest.series), 1)
    for place, row in enumerate(forest.rows):
        marks = [one for one in forest.marks if one.row == row]
        for below, mark in enumerate(marks):
            y = place + (below - (len(marks) - 1) / 2) * step
            _mark(axes, mark, forest.series.index(mark.series), y)
            label = f" {_shown(mark.text)}"
            axes.annotate(label, (1.0, y), xycoords=axes.get_yaxis_transform(), va="center", fontsize=7.5, color=_INK)
    if forest.reference is not None:
        axes.axvline(forest.reference, color=_FAINT, linewidth=0.9, zorder=0.5)
    axes.set_yticks(range(len(forest.rows)), [_shown(one) for one in forest.rows])
    axes.set_ylim(len(forest.rows) - 0.5, -0.5)
    axes.set_xlim(*_limits(forest))
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=_GRID, linewidth=0.7)
    axes.set_xlabel(forest.label)
    axes.set_title(_shown(forest.title, 90))


def _limits(forest: Forest) -> tuple[float, float]:
    ends = [
        end for one in forest.marks for end in (one.value, one.low, one.high, *(one.bounds or ())) if end is not None
    ]
    low, high = min([forest.least, *ends]), max([forest.most, *ends])
    room = 0.03 * (high - low)
    return low - room, high + room


def _mark(axes: Axes, mark: Mark, number: int, y: float) -> None:
    colour = COLOURS[number % len(COLOURS)]
    if mark.bounds is not None:
        axes.plot(mark.bounds, (y, y), color=colour, linewidth=6, alpha=0.22, solid_capstyle="butt", zorder=1)
    known = mark.low is not None and mark.high is not None
    if mark.low is not None and mark.high is not None:
        axes.plot((mark.low, mark.high), (y, y), color=colour, linewidth=1.6, solid_capstyle="butt", zorder=2)
    axes.plot(
        mark.value,
        y,
        marker=_MARKS[number % len(_MARKS)],
        markersize=5.5,
        color=colour,
        markerfacecolor=colour if known else "white",
        linestyle="none",
        zorder=3,
    )


def _handles(marks: Sequence[Mark], series: Sequence[str]) -> list[Line2D]:
    """Return what the legend explains: the series where there are several, and marks that are not the usual."""
    found: list[Line2D] = []
    for number, name in enumerate(series if len(series) > 1 else ()):
        colour, mark = COLOURS[number % len(COLOURS)], _MARKS[number % len(_MARKS)]
        found.append(Line2D([], [], color=colour, marker=mark, markersize=5, linewidth=1.6, label=_shown(name)))
    if any(one.low is None for one in marks):
        hollow = Line2D([], [], color=_FAINT, marker="o", markersize=5, markerfacecolor="white", linestyle="none")
        hollow.set_label("no interval")
        found.append(hollow)
    if any(one.bounds is not None for one in marks):
        found.append(Line2D([], [], color=_FAINT, linewidth=6, alpha=0.3, label="bounds: left out either way"))
    return found


def _curves(axes: Axes, panel: Curves) -> None:
    last = max(one.points[-1].number for one in panel.curves)
    for number, one in enumerate(panel.curves):
        _curve(axes, one, number)
    several = len(panel.curves) > 1
    handles = [
        Line2D([], [], color=COLOURS[number], linestyle=_LINES[number], linewidth=1.8, label=_shown(one.series))
        for number, one in enumerate(panel.curves)
        if several
    ]
    if any(_values(one.harsh) != _values(one.points) for one in panel.curves):
        handles.append(Line2D([], [], color=_FAINT, linestyle=":", linewidth=1.2, label="unknown counted as different"))
    if handles:
        axes.legend(handles=handles, loc="lower left")
    axes.set_xlim(0, last + 0.5)
    axes.set_ylim(0, 1.02)
    axes.grid(axis="y", color=_GRID, linewidth=0.7)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=_FEW))
    axes.set_ylabel("share of episodes the same")
    axes.set_xlabel(f"{panel.axis}\n{_at_risk(panel)}")
    axes.set_title(_shown(panel.title, 90))


def _at_risk(panel: Curves) -> str:
    """Return how many episodes stand behind the curves, in a line below the axis."""
    told = [f"{_shown(one.series)}: " if len(panel.curves) > 1 else "" for one in panel.curves]
    lines = [
        f"{name}episodes at risk {', '.join(str(point.at_risk) for point in one.points[:_FEW])}"
        f"{', ...' if len(one.points) > _FEW else ''}"
        for name, one in zip(told, panel.curves, strict=True)
    ]
    return "\n".join(lines)


def _values(points: Sequence[Any]) -> list[float | None]:
    return [one.same.value for one in points]


def _curve(axes: Axes, curve: Curve, number: int) -> None:
    colour = COLOURS[number]
    x = [0, *(one.number for one in curve.points)]
    y = [1.0, *(one.same.value or 0.0 for one in curve.points)]
    end = x[-1] + 0.5
    axes.step([*x, end], [*y, y[-1]], where="post", color=colour, linestyle=_LINES[number], linewidth=1.8)
    harsh = [1.0, *(one.same.value or 0.0 for one in curve.harsh)]
    if _values(curve.harsh) != _values(curve.points):
        at = [0, *(one.number for one in curve.harsh)]
        axes.step([*at, end], [*harsh, harsh[-1]], where="post", color=colour, linestyle=":", linewidth=1.2)
    for place, one in enumerate(curve.points):
        if one.same.low is not None and one.same.high is not None:
            until = curve.points[place + 1].number if place + 1 < len(curve.points) else end
            axes.fill_between((one.number, until), one.same.low, one.same.high, color=colour, alpha=0.18, linewidth=0)


def _matrices(part: Any, matrices: Sequence[Matrix]) -> None:
    """Draw matrices side by side; where they are several their names stand above each."""
    for title in dict.fromkeys(one.title for one in matrices):
        part.suptitle(title, x=0.02, ha="left", fontsize=10, fontweight="bold")
    for axes, matrix in zip(part.subplots(1, len(matrices), squeeze=False)[0], matrices, strict=True):
        _matrix(axes, matrix)
        if len(matrices) > 1:
            axes.set_title(_shown(matrix.name, 28), fontsize=8.5, fontweight="normal")


def _matrix(axes: Axes, matrix: Matrix) -> None:
    shares = [[count / max(sum(row), 1) for count in row] for row in matrix.counts]
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for down, row in enumerate(matrix.counts):
        for across, count in enumerate(row):
            share = shares[down][across]
            text = f"{count}\n{100 * share:.0f} %" if count else "0"
            colour = "white" if share > _DARK else _INK
            axes.text(across, down, text, ha="center", va="center", color=colour, fontsize=8, linespacing=1.1)
    axes.set_xticks(range(len(matrix.columns)), [_shown(one) for one in matrix.columns])
    axes.set_yticks(range(len(matrix.rows)), [_shown(one) for one in matrix.rows])
    axes.tick_params(length=0)
    axes.set_xticks([place - 0.5 for place in range(1, len(matrix.columns))], minor=True)
    axes.set_yticks([place - 0.5 for place in range(1, len(matrix.rows))], minor=True)
    axes.grid(which="minor", color="white", linewidth=2)
    axes.tick_params(which="minor", length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_xlabel(_shown(matrix.across))
    axes.set_ylabel(_shown(matrix.down))


def _shown(text: str, limit: int = _NAME) -> str:
    """Return recorded text as it may be drawn: on one line, short, and nothing that the font cannot draw."""
    font = get_font(findfont(_FONT))
    line = one_line(text)
    visible = line if len(line) <= limit else f"{line[: limit - 1]}…"
    return "".join(one if font.get_char_index(ord(one)) else ascii(one)[1:-1] for one in visible)
