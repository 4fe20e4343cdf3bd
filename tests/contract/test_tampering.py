"""What whoever can write the database may do to a log, on both databases, past the triggers: and what `verify` says.

Each edit is found with its event. Cutting off the end together with the episode's row, and writing the whole anew with
hashes of its own, cannot be found by the log itself: then the word is `consistent`, which proves no more than that.
What is found given a checkpoint, generated from the schema, is in `tests/tampering/`.
"""

import re
from dataclasses import replace

import pytest
import sqlalchemy as sa
from damage import past_the_triggers

from spectrace.audit.integrity import CONSISTENT, INVALID, verify_episode
from spectrace.core.events import ActCompleted, VerdictGiven
from spectrace.core.types import Observation
from spectrace.store import tables
from spectrace.store.compression import pack_blob, pack_body, unpack
from spectrace.store.memory import MemoryEventStore
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.sql import open_store

EVENTS, EPISODES, BLOBS = tables.events, tables.episodes, tables.blobs
SAMPLE = sample_episode(23)
BODIES = [
    replace(body, observation=Observation(f"{body.observation.content} {'long ' * 100}"))
    if isinstance(body, ActCompleted)
    else body
    for body in SAMPLE[: next(n for n, body in enumerate(SAMPLE) if body.TYPE == "segment.committed") + 1]
]
"""From the start to the first committed steps: a prefix whose questions all have their answers."""
OBSERVED = next(n for n, body in enumerate(BODIES) if isinstance(body, ActCompleted))


def written(store, bodies):
    writer = store.create("ep", bodies[0], EPOCH_US)
    writer.append(pending(bodies)[1:], durable=True)
    writer.close()


@pytest.fixture
def log(database_url):
    store = open_store(database_url)
    written(store, BODIES)
    yield store
    store.close()


@pytest.fixture
def attacker(log, database_url):
    """A connection of somebody who owns the database and dropped the triggers."""
    with past_the_triggers(database_url) as connection:
        yield connection


def here(seq):
    """Return the clause that names an event; the log has one episode, number 1."""
    return EVENTS.c.key == (1 << tables.SEQ_BITS) + seq


def found(log):
    result = verify_episode(log, "ep")
    return result.result, result.first_bad_seq


def column(attacker, seq, *names):
    return attacker.execute(sa.select(*(EVENTS.c[name] for name in names)).where(here(seq))).one()


def test_an_untouched_log_is_consistent(log):
    assert found(log) == (CONSISTENT, None)


def test_one_byte_of_an_observation_edited_in_place_is_found(log, attacker):
    digest, codec, data = attacker.execute(
        sa.select(BLOBS.c.digest, BLOBS.c.codec, BLOBS.c.bytes).where(BLOBS.c.digest == observation_digest(log))
    ).one()
    codec, data = pack_blob(b"X" + unpack(codec, data)[1:])
    attacker.execute(BLOBS.update().where(BLOBS.c.digest == digest).values(codec=codec, bytes=data))
    attacker.commit()

    assert found(log) == (INVALID, OBSERVED)


def observation_digest(log):
    body = list(log.stored("ep"))[OBSERVED].body
    return bytes.fromhex(re.search(rb'"content":\{"\$blob":"sha256:([0-9a-f]{64})"', body)[1].decode())


def test_one_byte_of_a_body_edited_in_place_is_found(log, attacker):
    codec, payload = column(attacker, OBSERVED, "codec", "payload")
    codec, payload = pack_body(unpack(codec, payload).replace(b'"error":false', b'"error":true'))
    attacker.execute(EVENTS.update().where(here(OBSERVED)).values(codec=codec, payload=payload))
    attacker.commit()

    assert found(log) == (INVALID, OBSERVED)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("version", 2),
        ("at", EPOCH_US),
        ("outcome", "forged"),
        ("lane", "0"),
        ("authority", "person:eve"),
        ("salt", b"0" * 16),
    ],
)
def test_a_column_changed_is_found(log, attacker, name, value):
    attacker.execute(EVENTS.update().where(here(OBSERVED)).values({name: value}))
    attacker.commit()

    assert found(log) == (INVALID, OBSERVED)


def test_an_episode_filed_under_another_ones_id_is_found(log, attacker):
    attacker.execute(EPISODES.update().where(EPISODES.c.number == 1).values(episode="other"))
    attacker.commit()
    result = verify_episode(log, "other")

    assert (result.result, result.first_bad_seq) == (INVALID, 0)


def test_two_events_in_each_others_place_are_found(log, attacker):
    first, second, aside = OBSERVED, OBSERVED + 1, 1 << 19
    for old, new in ((first, aside), (second, first), (aside, second)):
        attacker.execute(EVENTS.update().where(here(old)).values(key=(1 << tables.SEQ_BITS) + new))
    attacker.commit()

    assert found(log) == (INVALID, first)


def test_an_event_left_out_is_found(log, attacker):
    attacker.execute(EVENTS.delete().where(here(OBSERVED)))
    attacker.commit()

    assert found(log) == (INVALID, OBSERVED)


def test_the_last_three_deleted_are_found_by_the_episodes_row(log, attacker):
    attacker.execute(EVENTS.delete().where(EVENTS.c.key >= (1 << tables.SEQ_BITS) + len(BODIES) - 3))
    attacker.commit()

    assert found(log) == (INVALID, len(BODIES) - 3)


def test_an_end_cut_off_together_with_the_row_is_consistent_and_no_more(log, attacker):
    keep = len(BODIES) - 3
    (head,) = column(attacker, keep - 1, "link")
    attacker.execute(EVENTS.delete().where(EVENTS.c.key >= (1 << tables.SEQ_BITS) + keep))
    attacker.execute(EPISODES.update().where(EPISODES.c.number == 1).values(events=keep, head=head))
    attacker.commit()

    assert found(log) == (CONSISTENT, None)


def test_a_whole_log_written_anew_with_fresh_hashes_is_consistent_and_no_more(log, attacker):
    forged = MemoryEventStore()
    verdict = next(n for n, body in enumerate(BODIES) if isinstance(body, VerdictGiven))
    written(forged, [*BODIES[:verdict], replace(BODIES[verdict], raw="{}"), *BODIES[verdict + 1 :]])
    for event in forged.stored("ep"):
        codec, payload = pack_body(event.body)
        values = {"codec": codec, "payload": payload, "salt": event.salt, "link": event.link}
        attacker.execute(EVENTS.update().where(here(event.seq)).values(values))
    attacker.execute(EPISODES.update().where(EPISODES.c.number == 1).values(head=forged.row("ep").head))
    attacker.commit()

    assert found(log) == (CONSISTENT, None)
    assert list(log.read("ep"))[verdict].body.raw == "{}"
