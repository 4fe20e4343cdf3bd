"""A process that forks once for every job read from stdin; each child erases and is killed on the way.

    {"url": ..., "text": "...", "kind": "statement", "at": 17}

`kind` and `at` are those of `kill`: before and after each statement of the database, or inside them (`step`, SQLite).
A few events go into each transaction, so that there are several.
"""

import gc
import json
import sys

from spectrace.store import erasing
from spectrace.store.erasing import Order, erase
from spectrace.store.erasing_plan import Matching
from spectrace.store.matching import Needle
from spectrace.store.sql import open_store
from tests.faults.kill import Countdown, hook_postgres, hook_sqlite, run, say

EVENTS = 40


def child(job: dict) -> dict[str, int]:
    countdown = Countdown(job["kind"], job["at"])
    if job["url"].startswith("sqlite"):
        hook_sqlite(countdown)
    else:
        hook_postgres(countdown)
    erasing.EVENTS = EVENTS
    store = open_store(job["url"])
    countdown.counts.clear()  # opening is not what is killed
    erase(store, Matching(Needle(job["text"])), Order("Ann", "asked"))
    store.close()
    return countdown.counts


if __name__ == "__main__":
    gc.freeze()
    for line in sys.stdin:
        say(run(json.loads(line), child))
