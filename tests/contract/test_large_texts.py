"""One enormous text, and one large text said again and again: stored once, and with bounded memory.

Each runs in a process of its own, whose peak of resident memory is what it took; what Python and the imports take is
measured by the same process beforehand. The bounds are multiples of the text: recording needs the text, its bytes and
their compression; listing needs none of it.
"""

import json
import subprocess
import sys

import pytest

MB = 1 << 20

PROGRAM = """
import hashlib, json, random, resource, sys
from dataclasses import replace
import sqlalchemy as sa
from spectrace.audit.queries import Reader
from spectrace.audit.integrity import verify_episode
from spectrace.core.events import ActCompleted, ActRequested
from spectrace.core.types import Observation
from spectrace.store.event_store import Pending
from spectrace.store.samples import EPOCH_US, sample_episode
from spectrace.store.sql import open_store

url, what, megabytes, times = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

def text():
    if what == "line":
        return "x" * (megabytes << 20)
    return random.Random(7).randbytes(megabytes << 19).hex()

sample = sample_episode(17)
store = open_store(url)
reader = Reader(store)
list(reader.iter_episodes())
before = peak()
if sys.argv[5] == "record":
    large = text()
    asked = next(body for body in sample if isinstance(body, ActRequested))
    answer = next(body for body in sample if isinstance(body, ActCompleted))
    writer = store.create("ep", sample[0], EPOCH_US)
    for seq in range(1, 2 * times, 2):
        said = replace(answer, request=seq, observation=Observation(large))
        writer.append([Pending(seq, "", EPOCH_US, asked), Pending(seq + 1, "", EPOCH_US, said)], durable=False)
    writer.append([Pending(2 * times + 1, "", EPOCH_US, sample[-1])], durable=True)
    writer.close()
    with store.database.reading() as connection:
        stored = connection.execute(sa.text("SELECT count(*), max(length) FROM blobs WHERE length > 1000000")).one()
    told = {"blobs": stored[0], "length": stored[1], "digest": hashlib.sha256(large.encode()).hexdigest()}
elif sys.argv[5] == "list":
    told = {"episodes": [one.episode for one in reader.iter_episodes()]}
else:
    last = next(event for event in store.read("ep", 2 * times) if isinstance(event.body, ActCompleted))
    data = last.body.observation.content.encode()
    told = {"digest": hashlib.sha256(data).hexdigest(), "verify": verify_episode(store, "ep").result}
store.close()
print(json.dumps(told | {"grown": peak() - before}))
"""


def run(url, what, megabytes, times, deed):
    """Do one thing in a process of its own; return what it told and by how much its memory grew."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, url, what, str(megabytes), str(times), deed],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "megabytes", "times"), [("observation", 64, 1), ("line", 50, 1), ("image", 3, 200)], ids=str
)
def test_a_large_text_is_stored_once_with_bounded_memory_and_listed_without_it(database_url, what, megabytes, times):
    recorded = run(database_url, what, megabytes, times, "record")
    listed = run(database_url, what, megabytes, times, "list")
    read = run(database_url, what, megabytes, times, "read")

    assert (recorded["blobs"], recorded["length"]) == (1, megabytes * MB)
    assert listed["episodes"] == ["ep"]
    assert (read["digest"], read["verify"]) == (recorded["digest"], "consistent")
    assert recorded["grown"] < 6 * megabytes * MB + 40 * MB
    assert listed["grown"] < 20 * MB
    assert read["grown"] < 6 * megabytes * MB + 40 * MB
