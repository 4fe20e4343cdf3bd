"""Beginnings of texts, read through a real database."""

from dataclasses import replace

import pytest

from spectrace.core.digest import digest
from spectrace.core.events import ActCompleted
from spectrace.errors import StoreError
from spectrace.store import heads
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.sql import open_store
from spectrace.store.texts import HEAD_BYTES
from tests.damage import damage

BODIES = sample_episode(1)
SEQ = next(seq for seq, body in enumerate(BODIES) if isinstance(body, ActCompleted))
VARIED = "".join(digest(str(number).encode()) for number in range(30_000))
"""2 MB that packs badly, as a picture does."""
TEXTS = {"varied": VARIED, "even": "x" * 3_000_000, "short": "y" * 400}


@pytest.fixture(params=TEXTS)
def text(request):
    return TEXTS[request.param]


@pytest.fixture
def store(database_url, text):
    opened = open_store(database_url)
    bodies = list(BODIES)
    bodies[SEQ] = replace(BODIES[SEQ], observation=replace(BODIES[SEQ].observation, content=text))
    writer = opened.create("ep", bodies[0], EPOCH_US)
    writer.append(pending(bodies)[1:], durable=False)
    writer.close()
    yield opened
    opened.close()


def test_a_beginning_and_its_whole_length_are_told(store, text):
    name = digest(text.encode())

    assert store.log.heads({name}) == {name: heads.Head(text.encode()[:HEAD_BYTES], len(text))}


def test_at_a_glance_an_event_has_the_beginning_and_the_digest(store, text):
    (one,) = store.glance("ep", SEQ, SEQ + 1)
    said = one.event.body.observation.content

    assert said == text if len(text) < 2_000 else said.startswith(text[:2_000])
    assert (len(said) < 2_200, len(text) < 2_000 or digest(text.encode()) in said) == (True, True)


def test_what_cannot_be_unpacked_is_named(store, text):
    if store.database.sqlite:
        damaged = f"codec = 1, bytes = zeroblob(70000) WHERE length = {len(text)}"
        damage(store.database.path, f"UPDATE blobs SET {damaged}")  # noqa: S608 - a number

        with pytest.raises(StoreError, match=rf"blob {digest(text.encode())}: .* cannot be unpacked"):
            store.log.heads({digest(text.encode())})
