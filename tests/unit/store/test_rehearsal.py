from typing import get_args

import pytest

from spectrace.core.events import TYPE_NUMBERS, ActCompleted, AdminBody, GenerateCompleted, VerdictGiven
from spectrace.store.rehearsal import rehearsed_episode, sentences
from spectrace.store.samples import EPOCH_US, pending
from spectrace.store.sql import open_store

EPISODES = [rehearsed_episode(seed) for seed in range(12)]


def all_of(cls):
    return [body for episode in EPISODES for body in episode if isinstance(body, cls)]


def test_an_episode_holds_every_event_type():
    assert {type(body) for body in EPISODES[0]} == set(TYPE_NUMBERS) - set(get_args(AdminBody))


def test_equal_seeds_give_equal_episodes():
    assert rehearsed_episode(5) == EPISODES[5] != EPISODES[6]


def test_episodes_differ_in_what_real_ones_differ_in():
    assert {bool(body.message.calls) for body in all_of(GenerateCompleted)} == {True, False}
    assert {body.fingerprint_before is None for body in all_of(ActCompleted)} == {True, False}
    assert {body.outcome for body in all_of(VerdictGiven)} == {"accept", "reject"}


@pytest.mark.parametrize("word", ["tau", "airline", "certificate", "gift_card", "basic_economy", "no longer needed"])
def test_no_benchmarks_words_are_among_the_sentences(word):
    assert not any(word in sentence.lower() for sentence in sentences())


def test_an_episode_can_be_recorded_and_read(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    writer = store.create("e", EPISODES[0][0], EPOCH_US)
    writer.append(pending(EPISODES[0][1:], 1), durable=False)

    assert [event.body for event in store.read("e")] == EPISODES[0]
    store.close()
