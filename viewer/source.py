"""Where the viewer's data comes from: the database named at its start, opened for reading, one reader per drawing.

An episode is folded once and kept for a few minutes: each click draws the page anew, and reading 5,000 events or a
20 MB observation again for each would be felt.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st

from spectrace.audit.lines import line
from spectrace.audit.queries import EventLine, Reader, open_reader
from spectrace.audit.reading import require_start
from spectrace.core.fold import Episode, fold
from viewer.literal import inline

DEFAULT = "sqlite:///spectrace.db"
_SUMMARY = 300
"""Characters of an event's line that the timeline keeps: a summary may be a whole observation."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """One episode, folded, with a line for each event. Shared between sessions: never changed."""

    episode: Episode
    lines: tuple[EventLine, ...]
    state: str
    """running, interrupted or ended."""


def database(arguments: Sequence[str] | None = None) -> str:
    """Return the database asked for: `--db URL` after `--`, else SPECTRACE_DB, else the default."""
    parser = argparse.ArgumentParser(allow_abbrev=False, add_help=False)
    parser.add_argument("--db")
    given, _ = parser.parse_known_args(sys.argv[1:] if arguments is None else arguments)
    return given.db or os.environ.get("SPECTRACE_DB") or DEFAULT


def shown(url: str) -> str:
    """Return a database's name for the page: a file's path, or a server without user and password."""
    if "://" not in url or url.startswith("sqlite:"):
        return inline(url.removeprefix("sqlite:///"))
    try:
        parts = urlsplit(url)
        return inline(f"{parts.hostname or 'local socket'}{parts.path}")
    except ValueError:
        return "a database whose URL cannot be read"


def missing(url: str) -> bool:
    """Whether the database is a file that does not exist."""
    return ("://" not in url or url.startswith("sqlite:")) and not Path(url.removeprefix("sqlite:///")).exists()


@contextmanager
def reader() -> Iterator[Reader]:
    """Open the database for one drawing of a page."""
    with open_reader(database()) as opened:
        yield opened


def load(reader: Reader, episode: str) -> Loaded:
    """Return an episode; read again only when it has grown, or something of it is erased."""
    row, erased = reader.store.row(episode), len(reader.store.proofs(episode))
    return _load(reader, database(), episode, row.head.hex(), row.state, erased)


@st.cache_resource(ttl="5m", max_entries=3, show_spinner=False)
def _load(
    _reader: Reader,
    url: str,  # noqa: ARG001
    episode: str,
    head: str,  # noqa: ARG001
    state: str,
    erased: int,  # noqa: ARG001
) -> Loaded:
    glances = _reader.glances(episode)
    lines = tuple(_short(line(event, messages)) for event, messages in glances)
    return Loaded(fold(require_start(episode, [event for event, _ in glances], _reader.store)), lines, state)


def _short(one: EventLine) -> EventLine:
    return EventLine(
        seq=one.seq,
        at=one.at,
        lane=one.lane,
        type=one.type,
        effect=one.effect,
        authority=one.authority,
        outcome=one.outcome,
        tool=one.tool,
        summary=inline(one.summary, _SUMMARY),
    )
