"""A program whose flushes are counted: the shop's real loop with so many reads and writes, and no other difference.

python -m tests.benchmarks.flushing DATABASE READS WRITES
"""

import asyncio
import sys
from pathlib import Path

from spectrace.core.baselines import WeakOnly
from spectrace.core.types import Finish
from spectrace.store.sql import open_store
from tests.benchmarks.machine import flushes
from tests.episodes import CANCEL, READ, record_shop

FEW, MANY = 2, 12


def each(at: Path) -> tuple[float, float] | None:
    """Return the flushes of a read step and of a write step; None where they cannot be counted."""
    few, more_reads, more_writes = (
        flushes(
            ["-m", "tests.benchmarks.flushing", str(at / f"{reads}-{writes}.db"), str(reads), str(writes)], at / "t"
        )
        for reads, writes in ((FEW, FEW), (MANY, FEW), (FEW, MANY))
    )
    if few is None or more_reads is None or more_writes is None:
        return None
    return (more_reads - few) / (MANY - FEW), (more_writes - few) / (MANY - FEW)


def main() -> None:
    """Record one episode."""
    database, reads, writes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    store = open_store(database)
    actions = [READ] * reads + [CANCEL] * writes + [Finish("done")]
    asyncio.run(record_shop(store, weak=actions, protocol=WeakOnly()))
    store.close()


if __name__ == "__main__":
    main()
