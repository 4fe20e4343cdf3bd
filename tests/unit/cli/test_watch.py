import asyncio
from dataclasses import replace

import pytest

from spectrace.cli.watch import EpisodeWatch, weights_progress
from spectrace.core.types import Outcome
from spectrace.errors import ModelFailed
from spectrace.runs.batch import NotRecorded
from spectrace.runs.live import Labels
from spectrace.store.memory import MemoryEventStore
from tests.episodes import FIND, record_shop


class Seen:
    """A Progress that keeps what it was told."""

    def __init__(self):
        self.lines, self.notes, self.all = {}, [], []

    def show(self, key, *spans):
        words = "".join(span if isinstance(span, str) else span[0] for span in spans)
        self.lines[key] = words
        self.all.append(words)

    def drop(self, key):
        self.lines.pop(key, None)

    def note(self, words, style=""):
        self.notes.append(words)


@pytest.fixture
def seen():
    return Seen()


def test_an_episodes_line_says_who_is_asked_and_what_is_done(seen):
    watch = EpisodeWatch(seen, 1)
    recorded = asyncio.run(record_shop(MemoryEventStore(), watch=watch))
    watch.ended(recorded)
    said = "\n".join(seen.all)

    for words in ("s1.1: the weak model is asked (drafter)", "verdict: reject (premature)", "executing cancel_order"):
        assert words in said
    assert seen.lines == {}
    assert seen.notes[0] == f"{recorded.episode}  cancel-own  begins"
    assert seen.notes[1].startswith(f"{recorded.episode}  cancel-own  completed (finished), reward 1.0  [1 of 1")


def test_what_is_left_out_of_scores_is_noted_without_a_reward(seen):
    watch = EpisodeWatch(seen, 1)
    recorded = asyncio.run(record_shop(MemoryEventStore(), watch=watch))
    watch.ended(replace(recorded, outcome=Outcome("truncated", "tokens_unknown", reward="0.0")))

    assert "truncated (tokens_unknown)  [1 of 1" in seen.notes[-1]


def test_what_was_not_recorded_is_noted(seen):
    EpisodeWatch(seen, 2).ended(NotRecorded("t", 0, ModelFailed("unreachable", "nobody")))

    assert seen.notes == ["t  not recorded  [1 of 2]"]


def test_of_several_protocols_each_episode_is_named_with_its_own_and_the_whole_is_counted(seen):
    watch = EpisodeWatch(seen, 2, protocols=True)
    watch.ended(asyncio.run(record_shop(MemoryEventStore(), labels=Labels(trial=1), watch=watch)))

    assert [note.split("  ")[1] for note in seen.notes] == ["cancel-own #1 (specagent)"] * 2
    assert seen.lines == {"tally": "1 of 2 ended  0 s"}


def test_an_interrupt_names_the_episodes_that_it_cut_short(seen):
    store = MemoryEventStore()
    watch = EpisodeWatch(seen, 1)
    recorded = asyncio.run(record_shop(store))
    watch(recorded.episode, 0, next(store.read(recorded.episode)).body)
    watch.interrupted()

    assert seen.notes[-1] == f"Recorded as interrupted: {recorded.episode}."


def test_an_interrupt_says_how_many_had_not_begun(seen):
    store = MemoryEventStore()
    watch = EpisodeWatch(seen, 3)
    recorded = asyncio.run(record_shop(store, watch=watch))
    watch.ended(recorded)
    watch.interrupted()

    assert seen.notes[-1] == "Not begun: 2 of 3 episodes."


def test_a_failed_episode_is_noted_with_its_last_error(seen):
    watch = EpisodeWatch(seen, 1)
    down = ModelFailed("server", "the server said 500")
    recorded = asyncio.run(record_shop(MemoryEventStore(), weak=[FIND, down], watch=watch))
    watch.ended(recorded)

    assert (recorded.outcome.status, watch.error(recorded)) == ("failed", "the server said 500")
    assert seen.notes[-1] == f"{recorded.episode}  cancel-own  failed: the server said 500"


def test_weights_are_shown_with_their_share_and_dropped_when_they_are_there(seen):
    show = weights_progress(seen)
    for done in (0, 50_000_000, 100_000_000):
        show(done, 100_000_000, "fetching w.gguf")

    assert (seen.notes, seen.lines) == (["fetching w.gguf"], {})
    assert "50 %  50 of 100 MB" in seen.all[-1]
