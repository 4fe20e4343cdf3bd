"""`export jsonl`: episodes as one text file, one record a line, with every byte that the chain covers.

Counterpart of `jsonl_import`; `jsonl_records` says what the lines are.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from spectrace import __version__
from spectrace.core.admin_events import is_admin
from spectrace.errors import StoreError, UsageError
from spectrace.interchange.jsonl_records import First, Section, Text
from spectrace.store.erasures import logs_of
from spectrace.store.event_store import EpisodeRow, EventStore
from spectrace.store.lines import MAX_LINE_BYTES, line_of
from spectrace.store.new_file import new_file
from spectrace.store.outgoing import outgoing, unfinished, whole_text

Progress = Callable[[int, int], None]
"""Told after each episode: how many are done, of how many."""


@dataclass(frozen=True, slots=True)
class Exported:
    """An episode that was written."""

    episode: str
    events: int
    losses: tuple[str, ...]


def export_jsonl(
    store: EventStore,
    episodes: Sequence[str],
    target: Path,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> list[Exported]:
    """Write the episodes into a new file; raise StoreError for one that is not intact, and leave no file then.

    Where events of them were erased, the administrative logs that say so come along.
    """
    chosen = sorted(set(episodes))
    if not chosen:
        raise UsageError("name at least one episode to export.")
    # First those that say what was erased of the others: whoever stores one of these looks there.
    chosen = list(dict.fromkeys([*logs_of(store, chosen), *sorted(chosen, key=lambda one: (not is_admin(one), one))]))
    done: list[Exported] = []
    sent: set[str] = set()
    with new_file(target, force=force) as file:
        file.write(First(__version__, tuple(chosen)).line() + b"\n")
        for episode in chosen:
            row = store.row(episode)
            for line in _records(store, row, sent):
                file.write(line + b"\n")
            done.append(Exported(episode, row.events, unfinished(row)))
            if progress is not None:
                progress(len(done), len(chosen))
    return done


def _records(store: EventStore, row: EpisodeRow, sent: set[str]) -> Iterator[bytes]:
    yield Section(row.episode, row.events, row.head, row.state).line()
    for line, texts in outgoing(store, row):
        for name in texts:
            if name not in sent:
                yield _text(name, whole_text(name, store.blob(name)))
                sent.add(name)
        yield line_of(line.row.stored(row.episode), line.proof)


def _text(name: str, data: bytes) -> bytes:
    line = Text(name, data).line()
    if len(line) > MAX_LINE_BYTES:
        raise StoreError(f"the text {name} has {len(data):,} bytes, too many for a line: `spectrace pack` takes it.")
    return line
