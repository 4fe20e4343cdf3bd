"""Panels of a comparison as Vega charts. Recorded names are values of the data, never titles, fields or expressions.

The charts have no menu and no links: a page speaks to its own server alone. Counterpart of `audit.plots`, which draws
the same panels for a paper.
"""

from collections.abc import Mapping, Sequence

import altair as alt

from spectrace.audit.panels import Curve, Curves, Forest, Mark, Matrix
from spectrace.stats.survival import Point
from viewer.literal import inline

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"]
"""Okabe and Ito: told apart by the colour-blind."""
_SHAPES = ["circle", "square", "diamond", "triangle-up", "triangle-down", "cross"]
_DASHES = [[1, 0], [6, 3]]
_NAME = 40
"""Characters of a recorded name that are drawn."""
_ROW, _MARK, _CURVES, _CELL = 14, 14, 240, 42
_FRAME, _LEGEND, _HEAD = 56, 44, 40
"""Of a chart's height in all: what its axis, its legend and a matrix's head take."""

Chart = alt.LayerChart | alt.FacetChart
Values = Sequence[Mapping[str, str | float | None]]


def _data(values: Values) -> alt.Data:
    return alt.Data(values=[dict(one) for one in values])  # type: ignore[no-untyped-call]


def forest(panel: Forest) -> Chart:
    """Draw estimates with their intervals; a thick pale bar is what bounds span, a hollow mark has no interval."""
    rows, series = [inline(one, _NAME) for one in panel.rows], [inline(one, _NAME) for one in panel.series]
    several = len(series) > 1
    data = _data([_mark(one) for one in panel.marks])
    colours = alt.Scale(domain=series, range=COLOURS[: len(series)])
    base = alt.Chart(data).encode(
        y=alt.Y("row:N", sort=rows, title=None, axis=alt.Axis(labelLimit=260, ticks=False, domain=False)),
        color=alt.Color(
            "series:N",
            sort=series,
            scale=colours,
            legend=_legend(columns=2) if several else None,
        ),
    )
    if several:
        base = base.encode(yOffset=alt.YOffset("series:N", sort=series))
    scale = alt.X(
        "value:Q", title=panel.label, scale=alt.Scale(domain=_domain(panel), nice=False), axis=alt.Axis(tickCount=6)
    )
    bounds = base.mark_bar(opacity=0.25, height=8).encode(x=alt.X("least:Q", title=panel.label), x2="most:Q")
    spans = base.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q")
    points = base.mark_point(size=60, opacity=1, strokeWidth=2).encode(
        x=scale,
        shape=alt.Shape(
            "series:N", sort=series, scale=alt.Scale(domain=series, range=_SHAPES[: len(series)]), legend=None
        ),
        fill=alt.condition(
            "isValid(datum.low)", alt.Fill("series:N", scale=colours, legend=None), alt.value("transparent")
        ),
        tooltip=[alt.Tooltip("text:N", title="value [95 %]")],
    )
    layers: list[alt.Chart] = [bounds, spans, points]
    if panel.reference is not None:
        zero = alt.Chart(_data([{"value": panel.reference}]))
        layers.insert(0, zero.mark_rule(strokeWidth=1, color="#888888").encode(x="value:Q"))
    height = _FRAME + len(rows) * (_ROW + _MARK * len(series)) + (_LEGEND if several else 0)
    return alt.layer(*layers).properties(height=height)


def _legend(columns: int) -> alt.Legend:
    return alt.Legend(orient="bottom", title=None, labelLimit=300, columns=columns, symbolOpacity=1)


def _mark(one: Mark) -> dict[str, str | float | None]:
    least, most = one.bounds if one.bounds is not None else (None, None)
    return {
        "row": inline(one.row, _NAME),
        "series": inline(one.series, _NAME),
        "value": one.value,
        "low": one.low,
        "high": one.high,
        "least": least,
        "most": most,
        "text": one.text,
    }


def _domain(panel: Forest) -> list[float]:
    ends = [
        end for one in panel.marks for end in (one.value, one.low, one.high, *(one.bounds or ())) if end is not None
    ]
    low, high = min([panel.least, *ends]), max([panel.most, *ends])
    return [low - 0.03 * (high - low), high + 0.03 * (high - low)]


def curves(panel: Curves) -> Chart:
    """Draw survival curves as steps, with a band where there is an interval."""
    names = [inline(one.series, _NAME) for one in panel.curves]
    data = _data([point for one in panel.curves for point in _points(one)])
    colour = alt.Color(
        "series:N",
        sort=names,
        scale=alt.Scale(domain=names, range=COLOURS[: len(names)]),
        legend=_legend(columns=2) if len(names) > 1 else None,
    )
    x = alt.X("review:Q", title=panel.axis, axis=alt.Axis(tickMinStep=1, format="d", grid=False))
    y = alt.Y("same:Q", title="share of episodes the same", scale=alt.Scale(domain=[0, 1]))
    base = alt.Chart(data).encode(color=colour)
    band = base.mark_area(opacity=0.2, interpolate="step-after").encode(x=x, y=alt.Y("low:Q"), y2="high:Q")
    lines = base.mark_line(strokeWidth=2, interpolate="step-after").encode(
        x=x,
        y=y,
        strokeDash=alt.StrokeDash(
            "series:N", sort=names, scale=alt.Scale(domain=names, range=_DASHES[: len(names)]), legend=None
        ),
    )
    lower = base.mark_line(strokeWidth=1, strokeDash=[1, 3], interpolate="step-after").encode(x=x, y="harsh:Q")
    dots = base.mark_point(size=30, opacity=0.01).encode(
        x=x,
        y=y,
        tooltip=[
            alt.Tooltip("review:Q", title="review"),
            alt.Tooltip("same:Q", title="the same", format=".3f"),
            alt.Tooltip("at_risk:Q", title="episodes at risk"),
        ],
    )
    return alt.layer(band, lower, lines, dots).properties(height=_CURVES + _FRAME)


def _points(curve: Curve) -> list[dict[str, str | float | None]]:
    """Return a curve's points from review 0 to behind the last, so that the last step is seen."""
    name, last = inline(curve.series, _NAME), curve.points[-1]
    begin: dict[str, str | float | None] = {"series": name, "review": 0, "same": 1.0, "harsh": 1.0, "at_risk": None}
    harsh = {one.number: one.same.value for one in curve.harsh}
    points = [begin, *(_point(name, one, one.number, harsh.get(one.number)) for one in curve.points)]
    return [*points, _point(name, last, last.number + 0.5, harsh.get(last.number))]


def _point(name: str, one: Point, at: float, harsh: float | None) -> dict[str, str | float | None]:
    return {
        "series": name,
        "review": at,
        "same": one.same.value,
        "low": one.same.low,
        "high": one.same.high,
        "harsh": harsh,
        "at_risk": one.at_risk,
    }


def matrix(panel: Matrix) -> Chart:
    """Draw counts in cells, the darker the larger a share of their row."""
    rows, columns = [inline(one, _NAME) for one in panel.rows], [inline(one, _NAME) for one in panel.columns]
    values: list[dict[str, str | float | None]] = [
        {"first": first, "second": second, "count": count, "share": count / max(sum(counts), 1)}
        for first, counts in zip(rows, panel.counts, strict=True)
        for second, count in zip(columns, counts, strict=True)
    ]
    base = alt.Chart(_data(values)).encode(
        x=alt.X("second:N", sort=columns, title=None, axis=alt.Axis(labelAngle=0, orient="top", ticks=False)),
        y=alt.Y("first:N", sort=rows, title=None, axis=alt.Axis(labelLimit=260, ticks=False)),
    )
    cells = base.mark_rect(stroke="white", strokeWidth=2).encode(
        color=alt.Color("share:Q", scale=alt.Scale(scheme="blues", domain=[0, 1]), legend=None),
        tooltip=[
            alt.Tooltip("count:Q", title="verdicts"),
            alt.Tooltip("share:Q", title="share of the row", format=".1%"),
        ],
    )
    text = base.mark_text(fontSize=13).encode(
        text="count:Q",
        color=alt.condition("datum.share > 0.62", alt.value("white"), alt.value("#1E2124")),
    )
    return alt.layer(cells, text).properties(height=_CELL * len(rows) + _HEAD)
