"""Golden episodes: recorded ones as files of stored bytes, read here and never written again.

A file is lines of JSON: first what it is and what must come of it, then the events (`store.lines`), then the texts
that they refer to, in base64. `python -m tests.golden.loader DATABASE EPISODE FILE.jsonl` adds one (see README.md).
"""

import base64
import json
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from spectrace.core.deeds import deeds
from spectrace.core.fold import fold
from spectrace.core.versions import first_newer
from spectrace.store.event_store import EventStore
from spectrace.store.lines import Line, line_from, line_of, parse_line
from spectrace.store.sql import open_store
from tests.stored_episodes import blobs_of

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Golden:
    """One recorded episode, and what it must still give."""

    path: Path
    about: dict
    lines: list[Line]
    blobs: dict[str, bytes]

    @property
    def episode(self) -> str:
        return self.about["episode"]

    def __str__(self) -> str:
        return f"{self.path.parent.name}-{self.path.stem}"


def all_golden() -> list[Golden]:
    """Read every golden episode, the oldest version's first."""
    return [read(path) for path in sorted(HERE.glob("*/*.jsonl"))]


def read(path: Path) -> Golden:
    about, *records = path.read_bytes().splitlines()
    events = [record for record in records if record.startswith(b'{"header"')]
    texts = [json.loads(record) for record in records[len(events) :]]
    blobs = {text["blob"]: base64.b64decode(text["base64"], validate=True) for text in texts}
    return Golden(path, json.loads(about), [parse_line(event) for event in events], blobs)


def write(store: EventStore, episode: str, path: Path, about: dict, stop: int | None = None) -> None:
    """Write an episode, or its first `stop` events, as a new golden file."""
    stored = list(store.stored(episode))[:stop]
    lines = [line_from(event) for event in stored]
    told = list(store.read(episode))[:stop]
    assert first_newer(told) is None, "record a golden episode with the version that it is of"
    head = {
        "episode": episode,
        "events": len(stored),
        "head": stored[-1].link.hex(),
        "recorded": datetime.now(UTC).date().isoformat(),
        **about,
    }
    if not episode.startswith("admin-"):
        head["totals"] = asdict(fold(told).totals)
        head["deeds"] = [[deed.position, deed.authority, deed.outcome] for deed in deeds(told)]
    texts = blobs_of(store, lines)
    records = [json.dumps(head).encode(), *map(line_of, stored)]
    records += [
        json.dumps({"blob": name, "base64": base64.b64encode(data).decode()}).encode() for name, data in texts.items()
    ]
    with path.open("xb") as file:  # never over one that is there
        file.write(b"\n".join(records) + b"\n")


if __name__ == "__main__":
    url, name, target = sys.argv[1:]
    log = open_store(url, read_only=True)
    write(log, log.resolve(name), Path(target), {"replay": "same"})
    log.close()
