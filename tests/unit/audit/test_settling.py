import asyncio
import threading

import pytest

from spectrace.audit.integrity import verify_episode
from spectrace.audit.recovery import interrupted, recover
from spectrace.audit.settling import settle, unmoved
from spectrace.core.deeds import deeds
from spectrace.core.events import ActCompleted, ActRequested, Event, OutcomeSettled, ResetCompleted
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Observation
from spectrace.environments.functions import FunctionEnvironment, Task, tool
from spectrace.errors import Conflict, StoreError, UsageError
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live import record
from spectrace.runs.replay import replay_episode
from spectrace.store import admin
from spectrace.store.event_store import Pending
from spectrace.store.memory import MemoryEventStore
from spectrace.store.sql import open_store
from tests.damage import damage
from tests.episodes import recorded_events
from tests.playbook import accept

AT = 1_800_000_000_000_000
ASKED = 30
WORD = {"evidence": "looked", "by": "ann"}


def cut(store, after: int) -> str:
    """Write an episode that stops after that event, its writer gone."""
    events = recorded_events()
    writer = store.create("cut", events[0].body, events[0].at)
    pending = [Pending(event.seq, event.lane, event.at, event.body) for event in events[1 : after + 1]]
    writer.append(pending, durable=True)
    writer.close()
    return "cut"


def types(store, episode: str) -> list[str]:
    return [event.type for event in store.read(episode)]


def timed_out(store, release: threading.Event) -> str:
    """Record an episode in which a write got no answer in time: it ended, and nobody knows whether that was done."""

    @tool(effect="write", timeout_s=0.02)
    def send(state: list[int]) -> str:
        """Send it."""
        release.wait(5)
        return "sent"

    environment = FunctionEnvironment.from_functions("post", [send], "Send.", reset=lambda: [0])
    models = {"weak": ScriptedModel([Call("send", "{}")]), "strong": ScriptedModel([accept()])}
    return asyncio.run(record(Task("t", "Send it."), environment, models, SpecAgent(), store)).episode


def test_a_write_that_timed_out_in_an_ended_episode_is_settled_and_the_episode_still_replays():
    store, release = MemoryEventStore(), threading.Event()
    episode = timed_out(store, release)
    release.set()
    (open_,) = [deed for deed in deeds(store.read(episode)) if deed.outcome == "indeterminate"]
    before = len(list(store.read(episode)))
    found = settle(store, episode, open_.seq, "never", **WORD)
    events = list(store.read(episode))
    replayed = asyncio.run(replay_episode(events))

    assert (found.seq, found.before, len(events)) == (before, "indeterminate", before + 1)
    assert [deed.outcome for deed in deeds(events)] == ["never"]
    assert (replayed.result, replayed.compared, replayed.total) == ("same", before - 1, before - 1)
    assert replayed.detail == f"all {before - 1} events after the start are the same"


@pytest.mark.parametrize("ended", [False, True])
def test_an_interrupted_episode_gets_its_end_first_and_once(database_url, ended):
    store = open_store(database_url)
    episode = cut(store, ASKED)
    if ended:
        recover(store, episode, AT)
    settle(store, episode, ASKED, "ok", **WORD, now=AT)
    settle(store, episode, ASKED, "error", **WORD, now=AT)
    found, result, listed = (
        types(store, episode)[ASKED + 1 :],
        verify_episode(store, episode).result,
        interrupted(store),
    )
    store.close()

    assert (found, result) == (["episode.ended", "outcome.settled", "outcome.settled"], "consistent")
    assert listed == [episode]


def test_a_settled_episode_is_still_listed_as_it_ended():
    store = MemoryEventStore()
    settle(store, cut(store, ASKED), ASKED, "ok", **WORD)

    assert interrupted(store) == ["cut"]


def test_an_episode_that_is_being_written_is_refused_and_gets_no_end(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    events = recorded_events()
    writer = store.create("now", events[0].body, AT)
    writer.append([Pending(e.seq, e.lane, e.at, e.body) for e in events[1 : ASKED + 1]], durable=True)
    with pytest.raises(Conflict, match="being written"):
        settle(store, "now", ASKED, "ok", **WORD)
    assert len(types(store, "now")) == ASKED + 1
    writer.close()
    store.close()


def test_a_damaged_episode_is_left_alone(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    cut(store, ASKED)
    damage(tmp_path / "log.db", "UPDATE events SET link = zeroblob(32) WHERE key > 0 AND (key & 1048575) = 12")
    with pytest.raises(StoreError, match="cut is invalid, so nothing is added to it: event 12"):
        settle(store, "cut", ASKED, "ok", **WORD)
    assert store.row("cut").events == ASKED + 1
    store.close()


def test_a_read_without_an_answer_is_nothing_to_settle():
    store = MemoryEventStore()
    events = recorded_events()
    read = next(event.seq for event in events if event.type == "act.requested" and event.body.effect == "read")
    cut(store, read)

    with pytest.raises(UsageError, match=r"is act\.requested, and no write that was asked and has no outcome"):
        settle(store, "cut", read, "ok", **WORD)
    assert len(types(store, "cut")) == read + 1


def test_a_word_without_evidence_is_refused():
    store = MemoryEventStore()
    cut(store, ASKED)

    with pytest.raises(UsageError, match="--evidence TEXT must not be empty"):
        settle(store, "cut", ASKED, "ok", evidence=" \n", by="ann")
    assert len(types(store, "cut")) == ASKED + 1


def test_an_administrative_log_has_nothing_to_settle(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    (log,) = admin.episodes(store.database)
    with pytest.raises(UsageError, match="is an administrative log"):
        settle(store, log, 0, "ok", **WORD)
    store.close()


def after_the_word(outcome: str, state: str | None):
    """A write that got no answer, a read that then met a state, and a word on the write; event numbers are as told."""

    def asked(effect: str, name: str, position: str) -> ActRequested:
        return ActRequested(
            effect=effect,
            authority="actor",
            tool=name,
            position=position,
            action=Call(name, "{}"),
            requestor="agent",
            idempotency_key="",
        )

    write, read = asked("write", "pay", "s1.1"), asked("read", "look", "s2.1")
    answer = ActCompleted(
        effect="read",
        authority="read",
        outcome="ok",
        tool="look",
        request=3,
        position="s2.1",
        observation=Observation("1"),
        fingerprint_before=state,
        fingerprint_after=state,
        latency_us=1,
        source="live",
    )
    begun = ResetCompleted(request=0, messages=(), done=False, fingerprint="sha256:before", latency_us=1, source="live")
    word = OutcomeSettled(authority="person:Ann", outcome=outcome, request=2, evidence="seen")
    bodies = (begun, write, read, answer, word)
    return [Event("ep", seq, "", seq, body) for seq, body in enumerate(bodies, 1)]


@pytest.mark.parametrize(
    ("outcome", "state", "warned"),
    [
        ("ok", "sha256:before", True),
        ("ok", "sha256:other", False),
        ("ok", None, False),
        ("never", "sha256:before", False),
    ],
)
def test_an_ok_behind_which_the_state_is_as_before_is_warned_of(outcome, state, warned):
    said = unmoved(after_the_word(outcome, state))

    assert [one.split(" is settled")[0] for one in said] == (["ep:2"] if warned else [])
