import pytest

from spectrace.audit.reading import Unread
from spectrace.audit.report_open import NO_ANSWER, Word, may_be_open, open_actions
from spectrace.audit.settling import settle
from spectrace.core.deeds import own_deeds
from spectrace.core.events import ActCompleted, ActFailed, ActRequested
from spectrace.store.event_store import Pending
from spectrace.store.sql import open_store
from tests.damage import damage
from tests.forks import desk_events, first
from tests.resumes import cut


def found(store, episode):
    return list(open_actions(store, [one for one in own_deeds(store.read(episode)) if may_be_open(one)]))


@pytest.fixture
def asked(store) -> tuple[str, int]:
    """An episode that ends behind the request of a write, and the number of that request."""
    events = desk_events()
    request = first(events, ActRequested)
    return cut(store, events, request), request


def test_an_action_without_an_answer_is_open(store, asked):
    (one,) = found(store, asked[0])

    assert (one.deed.seq, one.why, one.words, one.settled) == (asked[1], NO_ANSWER, (), False)


def test_every_word_that_was_said_since_is_there_in_its_order(store, asked):
    settle(store, *asked, "ok", evidence="seen", by="Ann", now=1)
    settle(store, *asked, "never", evidence="seen again", by="Bob", now=2)
    (one,) = found(store, asked[0])

    assert one.words == (
        Word(asked[1] + 2, 1, "Ann", "ok", "seen"),
        Word(asked[1] + 3, 2, "Bob", "never", "seen again"),
    )
    assert (one.settled, one.deed.outcome) == (True, "never")


def test_one_that_failed_says_how_also_after_it_was_settled(store):
    events = desk_events()
    answer = events[first(events, ActCompleted)]
    body = events[answer.body.request].body
    failed = ActFailed(
        effect=body.effect,
        authority=body.authority,
        outcome="indeterminate",
        tool=body.tool,
        request=answer.body.request,
        position=body.position,
        kind="timeout",
        error="no answer within 5 s",
        latency_us=None,
        source="live",
    )
    episode = cut(store, events, answer.seq - 1)
    writer = store.reopen(episode)
    writer.append([Pending(answer.seq, "", answer.at, failed)], durable=True)
    writer.close()
    before = found(store, episode)
    settle(store, episode, answer.body.request, "ok", evidence="seen", by="Ann")
    (after,) = found(store, episode)

    assert [one.why for one in (*before, after)] == ["timeout: no answer within 5 s"] * 2
    assert (after.deed.outcome, [word.by for word in after.words]) == ("ok", ["Ann"])


def test_what_was_answered_is_not_open(store, episode):
    assert found(store, episode) == []


def test_an_episode_that_cannot_be_read_is_told(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    events = desk_events()
    episode = cut(store, events, first(events, ActRequested))
    maybe = [one for one in own_deeds(store.read(episode)) if may_be_open(one)]
    store.close()
    damage(tmp_path / "log.db", "UPDATE events SET codec = 99 WHERE key & 1048575 = 3")
    store, lost = open_store(str(tmp_path / "log.db"), read_only=True), list[Unread]()
    open_ = list(open_actions(store, maybe, lost))
    store.close()

    assert [one.deed.seq for one in open_] == [maybe[0].seq]
    assert [one.episode for one in lost] == [episode]
