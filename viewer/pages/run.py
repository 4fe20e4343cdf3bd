"""One re-verification, or two side by side: the figures of `spectrace compare`, drawn, and every disagreement.

`compare` in the address names the runs. A row of the disagreements opens the episode at the recorded verdict.
"""

from collections.abc import Sequence
from zlib import crc32

import streamlit as st

from spectrace.audit.disagreements import Disagreement
from spectrace.audit.panels import Curves, Forest, Matrix, Panel
from spectrace.audit.queries import Reader, RunSummary
from spectrace.audit.sections import Section
from spectrace.core.types import Verdict
from spectrace.errors import UsageError
from viewer import charts, reports
from viewer.literal import inline
from viewer.pages.runs import REVERIFY
from viewer.reports import Report

SHOWN = 1_000
"""Disagreements that are listed."""
_ROW_PX = 33
_RECORD = "the record alone"


def draw(reader: Reader) -> None:
    """Draw the report of the runs that the address names."""
    known = reader.runs()
    names = _named(known)
    with st.spinner("Reading the verdicts…"):
        report = reports.load(reader, names, known)
    _header(names, report, known)
    left, right = st.columns([1.05, 1], gap="medium")
    forests = [one for one in report.panels if isinstance(one, Forest)]
    for part, group in ((left, forests), (right, [one for one in report.panels if not isinstance(one, Forest)])):
        with part:
            for number, panel in enumerate(group):
                _panel(panel, f"{'left' if part is left else 'right'}-{number}")
    _disagreements(report)
    for number, section in enumerate(report.sections):
        if section.kind != "crossed" or section.notes:
            _section(section, number)
    with st.container(key="methods"):
        _title("How these figures were made", "methods")
        st.text(inline(report.methods, 20_000))


def _named(known: Sequence[RunSummary]) -> list[str]:
    """Return the runs that the address names: one or two, each a re-verification."""
    names = list(dict.fromkeys(st.query_params.get_all("compare")))
    there = {one.run for one in known if one.kind == REVERIFY}
    missing = [name for name in names if name not in there]
    if missing:
        raise UsageError(f"No re-verification is named {missing[0][:80]!r} here.")
    if not 1 <= len(names) <= 2:  # noqa: PLR2004 - one, or two side by side
        raise UsageError(f"The address must name one or two re-verifications, it names {len(names)}.")
    return names


def _header(names: Sequence[str], report: Report, known: Sequence[RunSummary]) -> None:
    with st.container(key="top", gap="small"):
        with st.container(key="request"):
            st.text(inline(" and ".join(names)))
        with st.container(key="counts"):
            st.text(inline(report.caption, 400))
        others = [one.run for one in known if one.kind == REVERIFY and one.run != names[0]]
        if others:
            with st.container(key="against", width=360):
                key = f"against-{crc32(repr(names).encode('utf-8', 'replace'))}"
            st.selectbox(
                "Beside",
                range(len(others) + 1),  # not names: any run may be called as the first choice is
                index=others.index(names[1]) + 1 if len(names) > 1 else 0,
                key=key,
                format_func=lambda place: inline(others[place - 1], 60) if place else _RECORD,
                on_change=lambda: _beside(names[0], [names[0], *others], st.session_state[key]),
            )


def _beside(first: str, runs: Sequence[str], place: int) -> None:
    """Set another run beside the first one, or none."""
    st.query_params["compare"] = [first, runs[place]] if place else [first]


def _panel(panel: Panel, where: str) -> None:
    _title(panel.title if not isinstance(panel, Matrix) else f"{panel.title}: {panel.name}", f"panel-{where}")
    match panel:
        case Forest():
            chart = charts.forest(panel)
        case Curves():
            chart = charts.curves(panel)
        case Matrix():
            with st.container(key=f"axes-{where}"):
                st.text(f"rows: {inline(panel.down, 60)}  ·  columns: {inline(panel.across, 60)}")
            chart = charts.matrix(panel)
    st.altair_chart(chart, key=f"chart-{where}")
    if isinstance(panel, Forest):
        with st.container(key=f"key-{where}"):
            st.text(panel.key)


def _title(text: str, where: str) -> None:
    with st.container(key=f"label-{where}"):
        st.text(inline(text, 160))


def _section(section: Section, number: int) -> None:
    """Draw a table with its notes; where verdicts are crossed the chart has the counts, and the notes remain."""
    if section.kind != "crossed":
        _title(section.title, f"section-{number}")
        texts = [["" if cell is None else inline(str(cell)) for cell in row] for row in section.rows]
        names = [inline(name) or "figure" for name in section.header]
        st.dataframe(
            {name: [row[place] for row in texts] for place, name in enumerate(names)},
            key=f"section-{number}",
            hide_index=True,
            height=(len(texts) + 1) * _ROW_PX + 2,
            row_height=_ROW_PX,
            alt=f"Table {number + 1}",
        )
    with st.container(key=f"notes-{number}"):
        st.text("\n".join(inline(note, 2_000) for note in section.notes))


def _disagreements(report: Report) -> None:
    found = report.disagreements
    if not report.compared:
        return  # derived segments alone: nobody has judged them before
    more = f", the first {SHOWN:,} are listed" if len(found) > SHOWN else ""
    of = " in the first answers, of several to each review" if report.repeated else ""
    _title(f"Disagreements{of}: {len(found):,}{more}", "disagreements")
    if not found:
        with st.container(key="hint"):
            st.text("Wherever both judged, both accept everything or both reject something.")
        return
    listed, (first, second) = found[:SHOWN], map(inline, report.names)
    key = f"disagreements-{crc32(repr([one.place for one in listed]).encode())}"
    column = st.column_config
    st.dataframe(
        {
            "episode": [inline(one.episode) for one in listed],
            "segment": [one.segment for one in listed],
            "steps": [one.second.drafted for one in listed],
            "first": [_said(one.first) for one in listed],
            "why": [inline(one.first.reason or "", 300) for one in listed],
            "second": [_said(one.second) for one in listed],
            "why not": [inline(one.second.reason or "", 300) for one in listed],
        },
        key=key,
        hide_index=True,
        height=min(len(listed) + 1, 16) * _ROW_PX + 2,
        row_height=_ROW_PX,
        on_select=lambda: _open(key, listed),
        selection_mode="single-row",
        alt="Disagreements",
        column_config={
            "episode": column.TextColumn("Episode", width=140),
            "segment": column.NumberColumn("Segment", width=70),
            "steps": column.NumberColumn("Steps", width=60),
            "first": column.TextColumn(_literal(first), width=190),
            "why": column.TextColumn("Its reason", width=260),
            "second": column.TextColumn(_literal(second), width=190),
            "why not": column.TextColumn("Its reason", width=260),
        },
    )
    with st.container(key="hint"):
        st.text("Tick a row to open the episode at this verdict.")


def _literal(name: str) -> str:
    """Return a name as a column's title: those are drawn as they stand."""
    return inline(name, 30)


def _said(verdict: Verdict) -> str:
    if verdict.decision != "reject":
        return verdict.decision
    return inline(f"reject step {verdict.accepted + 1} ({verdict.category})", 60)


def _open(key: str, listed: Sequence[Disagreement]) -> None:
    rows = st.session_state[key]["selection"]["rows"]
    if rows:
        episode, seq = listed[rows[0]].place
        st.query_params.from_dict({"episode": episode, "event": str(seq)})
