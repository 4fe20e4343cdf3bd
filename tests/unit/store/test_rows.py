import pytest

from spectrace.core.events import MAX_SEQ, EpisodeEnded, Event, GenerateRequested, ResetRequested, Unknown
from spectrace.errors import StoreError
from spectrace.store.blobs import TextReferences
from spectrace.store.codec import BodyEncoder
from spectrace.store.event_store import Pending
from spectrace.store.messages import MessageWriter
from spectrace.store.rows import EpisodeChain, messages_of, random_salts
from spectrace.store.samples import pending, sample_episode

BODIES = sample_episode(1)


def chain():
    texts = TextReferences()
    return EpisodeChain("ep1", texts, BodyEncoder(texts), lambda: b"s" * 16, MessageWriter())


def test_a_salt_is_16_bytes_and_never_the_same():
    salt, other = random_salts(), random_salts()
    drawn = [*(salt() for _ in range(500)), *(other() for _ in range(500))]

    assert len(set(drawn)) == 1000
    assert {len(one) for one in drawn} == {16}


def test_staging_after_a_rollback_gives_the_same_rows():
    first, second = chain(), chain()
    first.stage(pending(BODIES[:3]))
    first.commit()
    first.stage(pending(BODIES[3:9], 3))
    first.rollback()
    second.stage(pending(BODIES[:3]))
    second.commit()

    assert first.stage(pending(BODIES[3:], 3)) == second.stage(pending(BODIES[3:], 3))


def test_a_rollback_takes_back_the_end():
    one = chain()
    one.stage(pending(BODIES[:3]))
    one.commit()
    one.stage(pending(BODIES[-1:], 3))
    ended = one.ended
    one.rollback()

    assert (ended, one.ended, len(one.told)) == (True, False, 3)


def test_what_is_told_holds_no_message_lists():
    one = chain()
    one.stage(pending(BODIES))

    assert {event.body.messages for event in one.told if isinstance(event.body, GenerateRequested)} == {()}


@pytest.mark.parametrize("seq", [0, 2, 9])
def test_a_number_out_of_turn_is_refused(seq):
    one = chain()
    one.stage(pending(BODIES[:1]))

    with pytest.raises(StoreError, match=f"event 1 of ep1 was expected, event {seq} was offered"):
        one.stage(pending(BODIES[1:2], seq))


def test_a_full_episode_says_so():
    one = chain()
    one.seq = MAX_SEQ + 1

    with pytest.raises(StoreError, match="ep1 is full: an episode holds 1,048,576 events"):
        one.stage([Pending(MAX_SEQ + 1, "", 0, ResetRequested(seed=1))])


def test_resuming_knows_whether_the_episode_had_ended():
    one = chain()
    one.resume(b"l" * 32, [Event("ep1", 0, "", 1, body) for body in BODIES])

    assert (one.ended, one.seq, isinstance(BODIES[-1], EpisodeEnded)) == (True, len(BODIES), True)


def test_an_episode_with_an_unknown_call_is_not_gone_on_with():
    with pytest.raises(StoreError, match="cannot be gone on with"):
        messages_of([Event("ep1", 4, "", 1, Unknown("generate.requested", 2, "{}"))])
