"""What the page of a re-verification shows, read once and kept for minutes: a run may hold thousands of reviews."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from spectrace.audit.disagreements import Disagreement, disagreements
from spectrace.audit.methods import methods
from spectrace.audit.panels import Panel, captions, panels
from spectrace.audit.queries import Reader, RunSummary
from spectrace.audit.reverified import read_reverified
from spectrace.audit.sections import Section, sections
from viewer import source


@dataclass(frozen=True, slots=True)
class Report:
    """Figures, tables and disagreements of one run, or of two. Shared between sessions: never changed."""

    caption: str
    panels: tuple[Panel, ...]
    sections: tuple[Section, ...]
    methods: str
    names: tuple[str, str]
    """Whose verdicts the disagreements are."""
    compared: bool
    """Whether there is anything on which they could disagree."""
    disagreements: tuple[Disagreement, ...]
    repeated: bool
    """Whether reviews were judged several times: the disagreements are those of the first time."""


def load(reader: Reader, runs: Sequence[str], known: Sequence[RunSummary]) -> Report:
    """Return the report; read again only when some run has grown: repeats of other runs are its floor."""
    return _load(reader, source.database(), tuple(runs), repr(known))


@st.cache_resource(ttl="5m", max_entries=4, show_spinner=False)
def _load(_reader: Reader, url: str, runs: tuple[str, ...], stand: str) -> Report:  # noqa: ARG001 - parts of the key
    found = read_reverified(_reader, runs)
    pair = found.pairs[-1]
    return Report(
        captions(found)[1],
        tuple(panels(found)),
        tuple(sections(found)),
        methods(found),
        pair.names,
        any(one.recorded is not None for one in pair.reviews),
        tuple(disagreements(found, pair)),
        any(one.found.repeats > 1 for one in found.runs),
    )
