"""H18: an episode of 50,000 events whose calls each repeat the whole history, recorded through the real store."""

import pytest

from spectrace.audit.answers import Filters
from spectrace.audit.queries import Reader
from spectrace.core.events import ActCompleted, ActRequested, GenerateCompleted, GenerateRequested, StepDrafted
from spectrace.core.types import Call, Message, Observation, Usage
from spectrace.store.event_store import Pending
from spectrace.store.samples import EPOCH_US, sample_episode
from spectrace.store.sql import open_store

STEP = 5
EVENTS = 1 + 10_000 * STEP


def step(seq, messages):
    position = f"s1.{seq // STEP + 1}"
    action = Call("get_order", f'{{"order_id": "W{seq}"}}')
    acted = {"effect": "read", "authority": "read", "tool": "get_order", "position": position}
    said = Message("assistant", f"step {seq}: " + "a few words on what is to be done next " * 3)
    seen = Observation(f"the order {seq} " * 30)
    return (said, Message("tool", seen.content, call_id=position)), (
        GenerateRequested(
            role="drafter",
            who="weak",
            position=position,
            messages=tuple(messages),
            tools_digest=None,
            response_schema=None,
            parameters="{}",
        ),
        GenerateCompleted(
            request=seq,
            role="drafter",
            message=said,
            reasoning=None,
            finish_reason="stop",
            model="weak",
            usage=Usage(9_000, 8_000, 80),
            latency_us=900_000,
            first_token_us=None,
            attempts=(),
            provider_id=None,
            server=None,
            source="live",
        ),
        StepDrafted(
            segment=1,
            index=seq // STEP + 1,
            action=action,
            request=seq,
            effect="read",
            tool="get_order",
            position=position,
        ),
        ActRequested(action=action, requestor="agent", idempotency_key=position, **acted),
        ActCompleted(
            outcome="ok",
            request=seq + 3,
            observation=seen,
            fingerprint_before=None,
            fingerprint_after=None,
            latency_us=100,
            source="live",
            **acted,
        ),
    )


def size(store):
    store.database.checkpoint()
    return store.database.path.stat().st_size


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The log, and its file's size after the first and the second half."""
    store = open_store(str(tmp_path_factory.mktemp("long") / "log.db"))
    writer = store.create("long", sample_episode(1)[0], EPOCH_US)
    messages, sizes = [Message("system", "policy " * 300), Message("user", "hello")], [size(store)]
    for seq in range(1, EVENTS, STEP):
        new, bodies = step(seq, messages)
        writer.append(
            [Pending(seq + at, "", EPOCH_US + seq + at, body) for at, body in enumerate(bodies)], durable=False
        )
        messages += new
        if seq + STEP in {(EVENTS + 1) // 2, EVENTS}:
            sizes.append(size(store))
    writer.close()
    yield store, sizes, messages
    store.close()


class Counted:
    """What a store's log is asked for."""

    def __init__(self, log, monkeypatch):
        self.rows, self.blobs = 0, 0
        ask, blobs = log._ask, log._blobs
        monkeypatch.setattr(log, "_ask", lambda *asked: self._row(ask(*asked)))
        monkeypatch.setattr(
            log, "_blobs", lambda connection, digests, columns: self._blob(blobs, connection, digests, columns)
        )

    def _row(self, found):
        self.rows += len(found)
        return found

    def _blob(self, blobs, connection, digests, columns):
        self.blobs += len(digests)
        return blobs(connection, digests, columns)


@pytest.mark.slow
def test_a_log_grows_with_its_events_not_with_their_square(recorded):
    _, (begun, half, whole), _ = recorded

    assert whole - half <= 1.2 * (half - begun)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("read", "rows", "blobs"),
    [
        (lambda reader: reader.event("long", EVENTS - 1), 10, 2),
        (lambda reader: reader.event("long", EVENTS - STEP, prompt=False), 10, 2),
        (lambda reader: reader.timeline("long", EVENTS - 100), 250, 100),
        (lambda reader: reader.messages("long", EVENTS - STEP, slice(-20, None)), 700, 40),
        (lambda reader: reader.episodes(Filters()), 10, 10),
    ],
    ids=["an event", "a call without its prompt", "the last 100 events", "the end of a prompt", "a listing"],
)
def test_the_end_is_read_without_the_start(recorded, monkeypatch, read, rows, blobs):
    counted = Counted(recorded[0].log, monkeypatch)
    read(Reader(recorded[0]))

    assert (counted.rows <= rows, counted.blobs <= blobs) == (True, True), (counted.rows, counted.blobs)


@pytest.mark.slow
def test_the_last_prompt_is_the_whole_history(recorded):
    store, _, messages = recorded
    prompt = store.prompt("long", EVENTS - STEP)

    assert prompt.total == len(messages) - 2
    assert prompt.messages == tuple(messages[:-2])
