"""The frame around all pages: title bar, style, routing, and what is said when the log cannot be read.

One address, `/`: with `episode` in its query it is that episode, with `compare` the report of those re-verifications,
with `runs` the list of runs, else the list of episodes. So a link that somebody sends opens what it names, and a
refresh and the browser's back button keep it.
"""

from pathlib import Path

import streamlit as st

from spectrace.errors import EpisodeNotFound, NewerSchema, SpectraceError, StoreError, UsageError
from viewer import access, source
from viewer.literal import block
from viewer.pages import episode, episodes, run, runs

_STYLE = Path(__file__).with_name("style.css")


def draw() -> None:
    """Draw the page that the address names."""
    st.set_page_config(page_title="spectrace", layout="wide", initial_sidebar_state="collapsed")
    st.navigation([st.Page(_page, title="spectrace", default=True)], position="hidden").run()


def _page() -> None:
    st.html(_STYLE)
    if not access.admitted():
        return
    page = next((name for name in ("episode", "compare", "runs") if name in st.query_params), "episodes")
    _bar(page)
    try:
        with source.reader() as reader:
            _PAGES[page].draw(reader)
    except SpectraceError as error:
        _notice(error)


_PAGES = {"episode": episode, "compare": run, "runs": runs, "episodes": episodes}
"""By what the address has in its query."""


def _bar(page: str) -> None:
    with st.container(key="bar", horizontal=True, vertical_alignment="center"):
        with st.container(key="brand", width="content"):
            st.text("spectrace")
        if page != "episodes":
            st.button("← Episodes", key="home", type="tertiary", on_click=episodes.back)
        if page != "runs":
            st.button("Runs", key="to-runs", type="tertiary", on_click=runs.leave_for)
        with st.container(key="database", width="stretch"):
            st.text(source.shown(source.database()))


def _notice(error: SpectraceError) -> None:
    title, advice = _words(error)
    text = block(str(error))
    with st.container(key="notice", border=True):
        with st.container(key="notice-title"):
            st.text(title)
        st.text(f"{text[:1].upper()}{text[1:]}")
        if advice:
            st.code(advice, language=None)


def _words(error: SpectraceError) -> tuple[str, str]:
    """Return what happened in a few words, and a command that helps."""
    match error:
        case NewerSchema():
            return "This log was written by a newer spectrace", "pip install --upgrade spectrace"
        case EpisodeNotFound():
            return "There is no such episode here", ""
        case UsageError():
            return "This cannot be opened", ""
        case StoreError() if source.missing(source.database()):
            return (
                "There is no log here yet",
                "spectrace demo            # record a few episodes\nspectrace view --db FILE  # open another log",
            )
        case _:
            return "The log cannot be read", ""
