"""The list of episodes: filter, sort, open one. The filters live in the address."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import islice
from zlib import crc32

import streamlit as st

from spectrace.audit.queries import EpisodeSummary, Filters, Reader
from viewer.literal import inline, moment

SHOWN = 1_000
"""Episodes that are listed; beyond them the filters help more than scrolling."""
_ROW_PX = 33
_FILTERS = ("status", "env", "protocol", "run", "task", "rejected")
_KEPT = "kept-filters"
_STATUS_COLOURS = {
    "completed": "#5B8C6E",
    "running": "#4A7FB0",
    "interrupted": "#B98A3A",
    "truncated": "#8A8F98",
    "failed": "#B5574D",
}


def draw(reader: Reader) -> None:
    """Draw the list."""
    newest = list(islice(reader.iter_episodes(Filters()), SHOWN))
    if not newest:
        _empty()
        return
    filters, part = _filters(newest)
    found = newest if filters == Filters() and not part else _found(reader, filters, part)
    _counts(found)
    if found:
        _table(found)
    else:
        with st.container(key="notice", border=True):
            st.text("No episode passes these filters.")


def _empty() -> None:
    with st.container(key="notice", border=True):
        with st.container(key="notice-title"):
            st.text("No episodes yet")
        st.text("This log is empty. Record a few episodes, then refresh this page:")
        st.code("spectrace demo", language=None)


def _filters(newest: Sequence[EpisodeSummary]) -> tuple[Filters, str]:
    """Draw the filters; return them, and the part of a task's name that is looked for."""
    with st.container(key="filters"):
        columns = st.columns([2, 2, 2, 2, 2, 1.4], gap="small", vertical_alignment="bottom")
        with columns[0]:
            status = _choice("Status", "status", [one.status for one in newest])
        with columns[1]:
            env = _choice("Environment", "env", [one.env for one in newest])
        with columns[2]:
            protocol = _choice("Protocol", "protocol", [one.protocol for one in newest])
        with columns[3]:
            run = _choice("Run", "run", [one.run for one in newest if one.run is not None])
        with columns[4]:
            part = st.text_input("Task", key="task", placeholder="part of its name", bind="query-params") or ""
        with columns[5]:
            rejected = st.toggle("Only rejected", key="rejected", bind="query-params")
    return Filters(status=status, env=env, protocol=protocol, run=run, rejected=rejected), part


def _choice(label: str, key: str, values: Sequence[str]) -> tuple[str, ...]:
    """Draw a filter by one of the values that occur, the most frequent first."""
    options = [value for value, _ in Counter(values).most_common()]
    chosen = st.multiselect(
        label, options, key=key, format_func=inline, placeholder="any", select_all=False, bind="query-params"
    )
    return tuple(chosen)


def _found(reader: Reader, filters: Filters, part: str) -> list[EpisodeSummary]:
    wanted = part.casefold()
    passing = (one for one in reader.iter_episodes(filters) if wanted in one.task.casefold())
    return list(islice(passing, SHOWN))


def _counts(found: Sequence[EpisodeSummary]) -> None:
    graded = [one for one in found if one.reward is not None]
    parts = [
        f"the newest {SHOWN:,} episodes" if len(found) >= SHOWN else _plural(len(found), "episode"),
        f"{sum(one.rejections > 0 for one in found):,} with rejections",
        _plural(sum(one.writes for one in found), "write"),
        *(
            f"{n:,} {status}"
            for status, n in Counter(one.status for one in found).most_common()
            if status in _STATUS_COLOURS
        ),
    ]
    if graded:
        parts.append(
            f"{sum(_number(one.reward) == 1 for one in graded):,} of {len(graded):,} graded episodes with reward 1"
        )
    with st.container(key="counts"):
        st.text("  ·  ".join(parts))


def _plural(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def _number(reward: str | None) -> float | None:
    """Return a reward as a number to sort by; the exact text is on the episode's page."""
    try:
        return None if reward is None else float(reward)
    except ValueError:
        return None


def _cost(one: EpisodeSummary) -> str:
    """Return what its model calls cost, as far as anybody knows."""
    return f"≥ {one.cost_usd_at_least}" if one.cost_usd_at_least is not None else one.cost_usd or "-"


def _table(found: Sequence[EpisodeSummary]) -> None:
    # A table of other rows is another table: one that changed its rows in place loses the next click (Streamlit 1.67).
    key = f"episodes-{crc32(''.join(one.episode for one in found).encode())}"
    column = st.column_config
    counted: dict[str, tuple[str, Callable[[EpisodeSummary], int | None]]] = {
        "segments": ("Segments", lambda one: one.segments),
        "reviews": ("Reviews", lambda one: one.reviews),
        "rejections": ("Rejected", lambda one: one.rejections),
        "unusable": ("Unusable", lambda one: one.unusable),
        "repairs": ("Repairs", lambda one: one.repairs),
        "writes": ("Writes", lambda one: one.writes),
    }
    rows: dict[str, list[object]] = {
        "episode": [inline(one.episode) for one in found],
        "started": [moment(one.started_at) for one in found],
        "status": [[inline(one.status)] for one in found],
        "end": [inline(one.end_reason or "") for one in found],
        "task": [inline(one.task) for one in found],
        "env": [inline(one.env) for one in found],
        "protocol": [inline(one.protocol) for one in found],
        **{name: [count(one) for one in found] for name, (_, count) in counted.items()},
        "reward": [_number(one.reward) for one in found],
        "cost": [_cost(one) for one in found],
        "weak": [inline(one.weak or "-") for one in found],
        "strong": [inline(one.strong or "-") for one in found],
        "run": [inline(one.run or "-") for one in found],
    }
    st.dataframe(
        rows,
        key=key,
        hide_index=True,
        height=min(len(found) + 1, 22) * _ROW_PX + 2,
        row_height=_ROW_PX,
        on_select=lambda: _open(key, found),
        selection_mode="single-row",  # not cells: a click on a header would select one, and so open an episode
        placeholder="-",
        alt="Episodes",
        column_config={
            "episode": column.TextColumn("Episode", width=130, pinned=True),
            "started": column.DatetimeColumn("Started (UTC)", format="YYYY-MM-DD HH:mm:ss", timezone="UTC", width=138),
            "status": column.MultiselectColumn(
                "Status", options=list(_STATUS_COLOURS), color=list(_STATUS_COLOURS.values()), width=90
            ),
            "end": column.TextColumn("Ended by", width=104),
            "task": column.TextColumn("Task", width=122),
            "env": column.TextColumn("Env.", width=58),
            "protocol": column.TextColumn("Protocol", width=78),
            **{name: column.NumberColumn(title, width=66) for name, (title, _) in counted.items()},
            "reward": column.NumberColumn("Reward", width=60),
            "cost": column.TextColumn("USD", width=72, help="Of its own model calls; ≥ where a part is unknown"),
            "weak": column.TextColumn("Weak", width=130),
            "strong": column.TextColumn("Strong", width=130),
            "run": column.TextColumn("Run", width=110),
        },
    )
    with st.container(key="hint"):
        st.text("Tick a row to open its episode. A column's header sorts.")


def _open(key: str, found: Sequence[EpisodeSummary]) -> None:
    """Open the episode of the selected row; the filters wait for the way back."""
    rows = st.session_state[key]["selection"]["rows"]
    if rows:
        st.session_state[_KEPT] = {name: given for name in _FILTERS if (given := st.query_params.get_all(name))}
        st.query_params.from_dict({"episode": found[rows[0]].episode})


def back() -> None:
    """Leave the episode for the list, filtered as it was."""
    st.query_params.from_dict(st.session_state.get(_KEPT, {}))
