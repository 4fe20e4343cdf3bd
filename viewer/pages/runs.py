"""The list of named runs: a re-verification opens its report, any other run its episodes."""

from collections.abc import Sequence
from zlib import crc32

import streamlit as st

from spectrace.audit.queries import Reader, RunSummary
from viewer.literal import inline, moment

REVERIFY = "reverify"
_ROW_PX = 33
_SHOWN = 20
"""Rows of the table that are seen at once."""


def draw(reader: Reader) -> None:
    """Draw the list."""
    found = reader.runs()
    if not found:
        _empty()
        return
    again = sum(one.kind == REVERIFY for one in found)
    with st.container(key="counts"):
        st.text(f"{len(found):,} {'run' if len(found) == 1 else 'runs'}  ·  {again:,} of them judge reviews again")
    _table(found)
    with st.container(key="hint"):
        st.text("Tick a row: a re-verification opens its report, any other run its episodes.")


def _empty() -> None:
    with st.container(key="notice", border=True):
        with st.container(key="notice-title"):
            st.text("No run has a name yet")
        st.text("Name one when you record it, or judge recorded reviews again:")
        st.code("spectrace run --name NAME ...\nspectrace reverify --all --verifier MODEL --name NAME", language=None)


def _table(found: Sequence[RunSummary]) -> None:
    key = f"runs-{crc32(repr([(one.run, one.kind) for one in found]).encode('utf-8', 'replace'))}"
    column = st.column_config
    numbers = {
        "total": ("Total", "What was asked for"),
        "done": ("Done", "Has its result"),
        "failed": ("Failed", "Was begun and has none"),
        "left": ("Left", "Nothing of it is recorded"),
        "reviews": ("Reviews", "Verdicts that were given"),
        "rejections": ("Rejected", "Verdicts that reject"),
        "unusable": ("Unusable", "Verdicts that could not be read"),
    }
    st.dataframe(
        {
            "run": [inline(one.run) for one in found],
            "kind": [inline(one.kind) for one in found],
            "state": [inline(one.state) for one in found],
            "started": [moment(one.started_at) for one in found],
            "selection": [inline(one.selection) for one in found],
            **{name: [getattr(one, name) for one in found] for name in numbers},
            "cost": [_cost(one) for one in found],
        },
        key=key,
        hide_index=True,
        height=min(len(found) + 1, _SHOWN) * _ROW_PX + 2,
        row_height=_ROW_PX,
        on_select=lambda: _open(key, found),
        selection_mode="single-row",
        placeholder="-",
        alt="Runs",
        column_config={
            "run": column.TextColumn("Run", width=180, pinned=True),
            "kind": column.TextColumn("Kind", width=80),
            "state": column.TextColumn("State", width=80),
            "started": column.DatetimeColumn("Started (UTC)", format="YYYY-MM-DD HH:mm:ss", timezone="UTC", width=138),
            "selection": column.TextColumn("Selection", width=260),
            **{name: column.NumberColumn(title, width=74, help=said) for name, (title, said) in numbers.items()},
            "cost": column.TextColumn("USD", width=80, help="Of its own model calls; ≥ where a part is unknown"),
        },
    )


def _cost(one: RunSummary) -> str:
    return f"≥ {one.cost_usd_at_least}" if one.cost_usd_at_least is not None else one.cost_usd or "-"


def _open(key: str, found: Sequence[RunSummary]) -> None:
    rows = st.session_state[key]["selection"]["rows"]
    if rows:
        chosen = found[rows[0]]
        st.query_params.from_dict({"compare" if chosen.kind == REVERIFY else "run": chosen.run})


def leave_for() -> None:
    """Go to the list."""
    st.query_params.from_dict({"runs": "all"})
