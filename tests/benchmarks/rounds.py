"""Cases side by side: every case once a round, in rotating order, collections off, as ../shared/bench's `common` does.

The machine's speed moves by a third from run to run, so only figures of one run are compared: medians over its rounds.
"""

import gc
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.benchmarks.sources import cache

Run = Callable[[], Mapping[str, Any]]
"""One round of one case: {"n": events, "t": seconds, "lat": [seconds of each call], and further figures by name}."""


@dataclass(slots=True)
class Measured:
    """All rounds of one case."""

    rounds: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Events a second."""
        return statistics.median(one["n"] / one["t"] for one in self.rounds)

    @property
    def p50(self) -> float:
        """Median seconds of a call."""
        return statistics.median(statistics.median(one["lat"]) for one in self.rounds)

    @property
    def p99(self) -> float:
        """Seconds that one call in a hundred takes longer than, median of the rounds."""
        return statistics.median(sorted(one["lat"])[int(len(one["lat"]) * 0.99)] for one in self.rounds)

    def __getitem__(self, name: str) -> float:
        """Return a further figure."""
        return statistics.median(one[name] for one in self.rounds)


def interleaved(cases: Mapping[str, Run], rounds: int) -> dict[str, Measured]:
    """Run every case once a round and return what each measured."""
    found = {name: Measured() for name in cases}
    names = list(cases)
    for number in range(rounds):
        first = number % len(names)
        for name in (*names[first:], *names[:first]):
            gc.collect()
            gc.disable()
            try:
                found[name].rounds.append(cases[name]())
            except Exception as error:
                error.add_note(f"in the case {name!r}")
                raise
            finally:
                gc.enable()
        progress(f"round {number + 1} of {rounds}")
    return found


def progress(text: str) -> None:
    """Say on stderr what goes on."""
    print(f"  {text}", file=sys.stderr, flush=True)


@contextmanager
def folder() -> Iterator[Path]:
    """Lend an empty folder on the file system that the baselines write to."""
    with tempfile.TemporaryDirectory(dir=cache() / "work", prefix="ours-") as made:
        yield Path(made)


def size(database: Path) -> int:
    """Return the bytes of a SQLite database, its write-ahead log included."""
    files = (database, database.with_name(database.name + "-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
