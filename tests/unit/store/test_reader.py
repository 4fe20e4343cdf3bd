"""The reader over rows that the chain made, nothing in between."""

import pytest

from spectrace.core.events import Event, GenerateRequested, Unknown
from spectrace.errors import StoreError
from spectrace.store.blobs import TextReferences
from spectrace.store.codec import BodyEncoder
from spectrace.store.messages import MessageWriter
from spectrace.store.reader import EpisodeReader
from spectrace.store.rows import EpisodeChain
from spectrace.store.samples import pending, sample_episode

BODIES = sample_episode(1)
CALLS = [seq for seq, body in enumerate(BODIES) if isinstance(body, GenerateRequested)]


class Written:
    """An episode's rows and blobs, and which blobs were asked for."""

    def __init__(self):
        texts = TextReferences()
        chain = EpisodeChain("ep1", texts, BodyEncoder(texts), lambda: b"s" * 16, MessageWriter())
        self.events = pending(BODIES)
        self.rows = chain.stage(self.events)
        self.blobs = {f"sha256:{digest.hex()}": data for digest, data in chain.fresh.items()}
        self.asked = set()

    def fetch(self, digests):
        self.asked |= digests
        return {digest: self.blobs[digest] for digest in digests if digest in self.blobs}

    def expected(self, start=0):
        return [Event("ep1", one.seq, one.lane, one.at, one.body) for one in self.events[start:]]


@pytest.fixture
def written():
    return Written()


def test_rows_come_back_as_the_events_that_were_staged(written):
    assert list(EpisodeReader("ep1", written.fetch).events(written.rows)) == written.expected()


def test_from_any_event_on_the_events_are_the_same(written):
    start = CALLS[-1]
    reader = EpisodeReader("ep1", written.fetch, lambda: [written.rows[seq] for seq in CALLS if seq < start])

    assert list(reader.events(written.rows[start:])) == written.expected(start)


def test_earlier_rows_are_not_asked_for_where_no_message_needs_them(written):
    start = CALLS[-1] + 1
    reader = EpisodeReader("ep1", written.fetch, lambda: pytest.fail("asked for"))

    assert list(reader.events(written.rows[start:])) == written.expected(start)


def test_an_event_with_a_missing_text_is_named_and_those_before_it_are_read(written):
    digest = next(iter(written.blobs))
    first = next(seq for seq, row in enumerate(written.rows) if digest.encode() in row.body)
    del written.blobs[digest]
    found, events = [], EpisodeReader("ep1", written.fetch).events(written.rows)

    with pytest.raises(StoreError, match=f"event {first} of ep1 cannot be read: blob {digest} is missing"):
        found.extend(events)
    assert found == written.expected()[:first]


def test_a_type_that_is_not_known_is_kept_as_it_is(written):
    row = written.rows[2]
    stranger = type(row)(row.seq, row.lane, "no.such", 3, row.at, row.lifted, b'{"a":1}', row.salt, row.link)
    (event,) = EpisodeReader("ep1", written.fetch).events([stranger])

    assert event.body == Unknown("no.such", 3, '{"a":1}')
