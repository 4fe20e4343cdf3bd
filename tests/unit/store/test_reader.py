"""The reader over rows that the chain made, nothing in between."""

from dataclasses import replace

import pytest

from spectrace.core.events import Event, GenerateRequested, Unknown
from spectrace.errors import StoreError
from spectrace.store.blobs import TextReferences
from spectrace.store.codec import BodyEncoder
from spectrace.store.event_store import Prompt
from spectrace.store.messages import MessageWriter
from spectrace.store.reader import EpisodeReader
from spectrace.store.rows import EpisodeChain
from spectrace.store.samples import pending, sample_episode
from spectrace.store.texts import Head

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


def test_without_prompts_only_the_messages_are_left_out(written):
    events = list(EpisodeReader("ep1", written.fetch, prompts=False).events(written.rows))
    expected = [
        replace(one, body=replace(one.body, messages=())) if isinstance(one.body, GenerateRequested) else one
        for one in written.expected()
    ]

    assert events == expected


def test_a_part_of_a_prompt_asks_for_the_texts_of_no_other(written):
    seq = CALLS[-1]
    earlier = [written.rows[call] for call in reversed(CALLS) if call < seq]
    whole = written.events[seq].body.messages
    found = EpisodeReader("ep1", written.fetch, lambda: earlier, part=slice(-2, None)).prompt(written.rows[seq])

    assert found == Prompt(len(whole), whole[-2:])
    texts = {text for message in whole[-2:] for text in (message.content, *(call.arguments for call in message.calls))}
    assert {written.blobs[digest].decode() for digest in written.asked} <= texts


def test_earlier_calls_are_read_only_as_far_back_as_messages_reach(written):
    seq, read = CALLS[-1], []

    def earlier():
        for call in reversed([one for one in CALLS if one < seq]):
            read.append(call)
            yield written.rows[call]

    EpisodeReader("ep1", written.fetch, earlier, part=slice(-1, None)).prompt(written.rows[seq])

    assert len(read) < len(CALLS) - 1


def test_what_is_no_call_has_no_prompt(written):
    assert EpisodeReader("ep1", written.fetch).prompt(written.rows[0]) is None


def test_a_glance_counts_the_messages_that_it_leaves_out(written):
    heads = {digest: Head(data, len(data)) for digest, data in written.blobs.items()}
    glances = list(EpisodeReader("ep1", written.fetch, prompts=False, heads=lambda _: heads).glances(written.rows))
    expected = [len(one.body.messages) if isinstance(one.body, GenerateRequested) else 0 for one in written.events]

    assert [one.messages for one in glances] == expected
    assert [one.event.seq for one in glances] == list(range(len(BODIES)))


def test_a_call_that_leans_on_an_erased_message_is_kept_as_it_is(written):
    first = CALLS[0]
    written.rows[first] = written.rows[first]._replace(body=None, salt=None)
    events = list(EpisodeReader("ep1", written.fetch).events(written.rows))

    assert [event.seq for event in events if isinstance(event.body, Unknown)] == CALLS


def test_bodies_are_plain_json_with_everything_in_its_place(written):
    plain = list(EpisodeReader("ep1", written.fetch, typed=False).plain(written.rows))
    spelled = [len(body["messages"]) for row, body in plain if row.type == GenerateRequested.TYPE]

    assert spelled == [len(written.events[seq].body.messages) for seq in CALLS]
    assert "$blob" not in str([body for _, body in plain])
