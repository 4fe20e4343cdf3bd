"""One episode: what was asked, its segments on the left, its events on the right. `episode` and `event` select."""

import json
import re
from collections.abc import Sequence

import streamlit as st

from spectrace.audit import notes
from spectrace.audit.queries import EventLine, Reader
from spectrace.core.money import stated_usd
from spectrace.core.types import ModelFacts
from spectrace.errors import EpisodeNotFound, UsageError
from viewer import details, panels, source
from viewer.literal import block, clock, duration, inline
from viewer.source import Loaded

STEPS = 36
"""Steps on one page of segments."""
_ROW_PX = 28
_SEQ = re.compile("[0-9]{1,7}")
_KINDS: dict[str, tuple[str, ...]] = {
    "all": (),
    "model calls": ("generate.",),
    "actions": ("act.", "reset.", "evaluate."),
    "decisions": (
        *("action.", "segment.", "verdict.", "steps.", "repair."),
        *("step.speculated", "speculation.", "plan.", "progress.", "control."),
    ),
    "writes": (),
}


def draw(reader: Reader) -> None:
    """Draw the episode that the address names."""
    id_ = _sole("episode")
    if (found := reader.resolve(id_)) != id_:
        raise EpisodeNotFound(f"No episode has the id {id_}; one that begins so is {found}.")
    loaded = source.load(reader, id_)
    seq = _event(loaded)
    _header(loaded)
    left, right = st.columns([1.25, 1], gap="medium")
    with left:
        _segments(loaded, seq)
    with right, st.container(key="pane"):
        seq = _timeline(loaded, seq)
        if seq is None:
            with st.container(key="hint"):
                st.text("Select an event to see all of it: its header, its exact prompt, its body.")
        else:
            details.draw(reader, id_, seq)


def _sole(name: str) -> str:
    """Return a parameter of the address that must be there once."""
    given = st.query_params.get_all(name)
    if len(given) != 1 or not given[0]:
        raise UsageError(f"The address must name one {name}, it names {len([one for one in given if one])}.")
    return given[0]


def _event(loaded: Loaded) -> int | None:
    """Return the event that the address names; none is fine, a wrong one is not."""
    if "event" not in st.query_params:
        return None
    given, last = _sole("event"), len(loaded.lines) - 1
    if not (_SEQ.fullmatch(given) and int(given) <= last):
        raise UsageError(f"The address names event {given[:40]}; this episode has the events 0 to {last}.")
    return int(given)


def _header(loaded: Loaded) -> None:
    episode, started, ended = loaded.episode, loaded.episode.started, loaded.episode.ended
    status = ended.outcome if ended is not None else loaded.state
    with st.container(key="top", gap="small"):
        with st.container(key="top-line", horizontal=True, vertical_alignment="center"):
            with st.container(key="top-id", width="content"):
                st.text(inline(episode.id))
            panels.chip(status, _TONES.get(status, "warn"), "status")
            with st.container(key="top-reason", width="stretch"):
                st.text(inline(ended.reason) if ended is not None else "no end recorded")
        with st.container(key="request"):
            st.text(block(started.task.request, 1_200) or "(no request)")
        with st.container(key="facts", horizontal=True):
            for name, value in _facts(loaded).items():
                panels.fact(name, value, f"of-{name.replace(' ', '-')}")
        with st.container(key="totals", horizontal=True):
            for name, number, tone in _totals(loaded):
                panels.fact(name, number, f"n-{name.replace(' ', '-')}", tone)
        if ended is not None and ended.answer:
            with st.container(key="answer", gap=None):
                st.text("Answer")
                st.text(block(ended.answer, 1_200))


_TONES = {"completed": "accept", "failed": "reject", "running": "repair"}


def _facts(loaded: Loaded) -> dict[str, str]:
    started = loaded.episode.started
    models = {facts.role: _model(facts) for facts in started.models}
    given = {
        "Task": f"{started.task.id} (trial {started.trial})" if started.trial else started.task.id,
        "Environment": started.environment.name,
        "Protocol": started.protocol,
        **{
            f"{role.capitalize()} model": models[role] for role in ("weak", "strong", "user", "judge") if role in models
        },
        "Started": clock(loaded.episode.started_at),
        "Took": duration(loaded.episode.took_us),
        "Clock": _clock_back(loaded.episode.clock_back),
        "Run": started.run or "",
        "Episodes at once": "" if started.concurrency is None else str(started.concurrency),
        "Child of": started.parent.episode if started.parent else "",
        "Imported from": started.origin.file if started.origin else "",
        "Cost by that file": f"{stated} USD" if (stated := stated_usd(started)) is not None else "",
        "Options": _options(started.options),
    }
    return {name: inline(value, 400 if name == "Options" else 100) for name, value in given.items() if value}


def _clock_back(events: Sequence[int]) -> str:
    """Say where the wall clock was set back: times after that are its own, the order is not."""
    return f"went back at event {', '.join(map(str, events[:5]))}" if events else ""


def _model(facts: ModelFacts) -> str:
    return f"{facts.provider}:{facts.name}"


def _options(text: str) -> str:
    """Return the options as `k=6 hold=writes`, those that are off or unset left out."""
    try:
        options = json.loads(text)
    except ValueError:
        return text
    if not isinstance(options, dict):
        return text
    return "  ".join(f"{name}={_value(value)}" for name, value in options.items() if value is not None)


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _totals(loaded: Loaded) -> list[tuple[str, str, str]]:
    """Return what is counted, with the tone of what calls for a look. Segments: those below, closed by an event or not.

    What only one protocol has is left out of the others.
    """
    totals, ended, segments = loaded.episode.totals, loaded.episode.ended, loaded.episode.segments
    guesses = [guess for segment in segments for guess in segment.guesses]
    taken = sum(guess.fate == "committed" for guess in guesses)
    counted = [
        ("events", loaded.episode.events, "plain"),
        ("steps", totals.steps, "plain"),
        ("segments", len(segments), "plain"),
        *((("guesses", len(guesses), "plain"), ("guesses taken", taken, "plain")) if guesses else ()),
        ("reviews", totals.reviews, "plain"),
        ("rejections", totals.rejections, "reject"),
        ("unusable", totals.unusable, "warn"),
        ("repairs", totals.repairs, "repair"),
        ("discarded", totals.discarded, "plain"),
        ("reads", totals.reads, "plain"),
        ("writes", totals.writes, "plain"),
        ("weak calls", totals.weak_calls, "plain"),
        ("strong calls", totals.strong_calls, "plain"),
    ]
    reward = ended.reward if ended is not None else None
    return [
        ("reward", inline(reward, 20) if reward is not None else "-", "plain"),
        *((name, f"{number:,}", tone if number else "zero") for name, number, tone in counted),
    ]


def _segments(loaded: Loaded, seq: int | None) -> None:
    """Draw the segments of a page, and between them what was planned, judged and passed on."""
    segments, between = loaded.episode.segments, notes.between(loaded.episode)
    if not segments:
        for note in between[0]:
            panels.note(note)
        with st.container(key="hint-segments"):
            st.text("No step was drafted in this episode.")
        return
    cut = panels.pages(segments, STEPS)
    page = 1
    if len(cut) > 1:
        with st.container(key="pager", horizontal=True, vertical_alignment="center"):
            page = st.pagination(len(cut), default=panels.page_of(cut, seq or 0), key="segments", bind="query-params")
            st.text(f"{len(segments):,} segments")
    before, known = sum(len(one) for one in cut[: page - 1]), panels.beside(loaded.episode)
    for number, segment in enumerate(cut[page - 1], before):
        for note in between[number]:
            panels.note(note)
        panels.segment_card(segment, number, known)
    for note in between[-1] if page == len(cut) else ():
        panels.note(note)


def _timeline(loaded: Loaded, seq: int | None) -> int | None:
    """Draw the events; return the chosen one."""
    with st.container(key="timeline-head"):
        kind = st.segmented_control(
            "Events", list(_KINDS), default="all", key="events", label_visibility="collapsed", bind="query-params"
        )
    rows = [one for one in loaded.lines if _of_kind(one, kind or "all")]
    start, place = loaded.episode.started_at, next((n for n, one in enumerate(rows) if one.seq == seq), None)
    key = _table_key(kind or "all", rows, None if place is None else seq)
    column = st.column_config
    st.dataframe(
        {
            "seq": [one.seq for one in rows],
            "after": [(one.at - start) / 1_000_000 for one in rows],
            "type": [inline(one.type) for one in rows],
            "summary": [one.summary for one in rows],
            "outcome": [inline(one.outcome or "") for one in rows],
            "authority": [inline(one.authority or "") for one in rows],
            "effect": [inline(one.effect or "") for one in rows],
            "tool": [inline(one.tool or "") for one in rows],
        },
        key=key,
        hide_index=True,
        height=12 * _ROW_PX + 4,
        row_height=_ROW_PX,
        selection_mode="single-cell",  # any cell stands for its row, and the arrow keys walk
        selection_default={"selection": {"cells": [] if place is None else [(place, "type")]}},
        on_select=lambda: _choose(key, rows),
        alt="Events of this episode",
        column_config={
            "seq": column.NumberColumn("#", width=44),
            "after": column.NumberColumn("After", format="%.2f s", width=64),
            "type": column.TextColumn("Type", width=132),
            "summary": column.TextColumn("What it says", width=430),
            "outcome": column.TextColumn("Outcome", width=84),
            "authority": column.TextColumn("Authority", width=84),
            "effect": column.TextColumn("Effect", width=60),
            "tool": column.TextColumn("Tool", width=110),
        },
    )
    return seq


def _of_kind(one: EventLine, kind: str) -> bool:
    if kind == "writes":
        return one.effect == "write"
    return not _KINDS[kind] or one.type.startswith(_KINDS[kind])


def _choose(key: str, rows: Sequence[EventLine]) -> None:
    """Put the selected event into the address."""
    seq = _selected(key, rows)
    if seq is None:
        st.query_params.pop("event", None)
    else:
        panels.choose(seq)


def _table_key(kind: str, rows: Sequence[EventLine], seq: int | None) -> str:
    """Return the table's key: another one whenever the address, not the table, has chosen the event.

    The address also changes through a step's own button, a link, and the browser's back; a table whose selection is
    set under the same key loses the next click (Streamlit 1.67).
    """
    made = st.session_state.get("timelines", 0)
    if seq != _selected(f"timeline-{kind}-{made}", rows):
        made += 1
        st.session_state["timelines"] = made
    return f"timeline-{kind}-{made}"


def _selected(key: str, rows: Sequence[EventLine]) -> int | None:
    """Return the event of the selected cell's row."""
    cells = st.session_state[key]["selection"]["cells"] if key in st.session_state else []
    return rows[cells[0][0]].seq if cells and cells[0][0] < len(rows) else None
