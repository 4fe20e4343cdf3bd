"""Writers under strain: one that vanishes, several at once, a clock that goes back, a text that never ends."""

import base64
import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Barrier

from spectrace.core.digest import text_digest
from spectrace.core.events import ActCompleted, ActRequested, Body, Event
from spectrace.core.types import Observation
from spectrace.errors import Conflict, StoreError
from spectrace.store.conformance.check import Check, Open, check, equal, links, new_id, raises, started, write
from spectrace.store.event_store import EventStore, Pending
from spectrace.store.samples import EPOCH_US, pending, sample_episode

_WRITERS, _EVENTS, _PATIENCE_S = 4, 50, 60
_REPEATS, _LARGE_MB = 20, 4


@check("H12")
def a_vanished_writer_leaves_a_whole_prefix_and_an_unanswered_write(open_store: Open) -> None:
    """What was asked of the world last has no answer, and gets none by being read or gone on with."""
    store, bodies, episode = open_store(), sample_episode(212), new_id()
    asked = next(n for n, body in enumerate(bodies) if isinstance(body, ActRequested) and body.effect == "write")
    writer = store.create(episode, started(bodies), EPOCH_US)
    writer.append(pending(bodies)[1 : asked + 1], durable=True)
    writer.close()
    prefix = [started(bodies), *bodies[1 : asked + 1]]
    equal("state", store.row(episode).state, "interrupted")
    for _ in range(2):
        equal("prefix", [event.body for event in open_store().read(episode)], prefix)
        store.reopen(episode).close()


@check("H15")
def writers_at_the_same_time_lose_nothing_and_leave_no_gap(open_store: Open) -> str:
    """Each of its own episode, through a connection of its own; and of one episode only one of two."""
    stores = [open_store() for _ in range(_WRITERS)]
    with ThreadPoolExecutor(_WRITERS) as pool:
        together = Barrier(_WRITERS)
        episodes = list(pool.map(partial(_writes, together), stores, range(_WRITERS)))
    reader = open_store()
    for seed, episode in enumerate(episodes):
        stored = list(reader.stored(episode))
        equal("numbers", [event.seq for event in stored], list(range(_EVENTS)))
        equal("links", [event.link for event in stored], list(links(episode, stored)))
        equal("bodies", [event.body for event in reader.read(episode)], _repeated(seed))
    running = new_id()
    writer = stores[0].create(running, started(sample_episode(215)), EPOCH_US)
    raises(Conflict, partial(stores[1].reopen, running))
    writer.close()
    return f"{_WRITERS} writers, {_EVENTS} events each"


@check("H16")
def a_clock_that_goes_back_changes_no_order(open_store: Open) -> None:
    """Events are ordered by their numbers; their times are kept as they were taken."""
    store, bodies, episode = open_store(), sample_episode(216), new_id()
    events = [replace(item, at=item.at - 90_000_000 * (item.seq > 20)) for item in pending(bodies)]  # noqa: PLR2004 - midway
    writer = store.create(episode, started(bodies), EPOCH_US)
    writer.append(events[1:], durable=False)
    writer.close()
    expected = [Event(episode, item.seq, item.lane, item.at, item.body) for item in events[1:]]
    equal("events", list(open_store().read(episode, 1)), expected)


@check("H17")
def a_large_text_is_stored_once_however_often_it_is_said(open_store: Open) -> str:
    """Twenty answers of the same 4 MB, in two episodes: bodies stay small, the text is there, whole."""
    store, bodies = open_store(), sample_episode(217)
    large = _incompressible(_LARGE_MB << 20)
    answer = next(body for body in bodies if isinstance(body, ActCompleted))
    said = replace(answer, observation=Observation(large))
    for _ in range(2):
        episode = write(store, [bodies[0], *[said] * (_REPEATS // 2)])
        stored = list(store.stored(episode, 1))
        if max(len(event.body or b"") for event in stored) > 1000:  # noqa: PLR2004 - an envelope has a few hundred bytes
            raise StoreError("the bodies hold the text itself, not its digest: it is stored as often as it is said.")
        last = list(open_store().read(episode))[-1]
        equal("the last answer", last.body, said)
    equal("the text by its digest", store.blob(text_digest(large)), large.encode())
    return f"{_LARGE_MB} MB, {_REPEATS} times"


CHECKS: tuple[Check, ...] = (
    a_vanished_writer_leaves_a_whole_prefix_and_an_unanswered_write,
    writers_at_the_same_time_lose_nothing_and_leave_no_gap,
    a_clock_that_goes_back_changes_no_order,
    a_large_text_is_stored_once_however_often_it_is_said,
)


def _repeated(seed: int) -> list[Body]:
    """Return exactly so many bodies."""
    bodies = sample_episode(300 + seed)
    return [started(bodies), *(bodies[1:-1] * _EVENTS)[: _EVENTS - 1]]


def _writes(together: Barrier, store: EventStore, seed: int) -> str:
    """Write an episode once all have begun theirs."""
    bodies, episode = _repeated(seed), new_id()
    try:
        writer = store.create(episode, started(bodies), EPOCH_US)
        together.wait(_PATIENCE_S)
    except BaseException:
        together.abort()
        raise
    events: Sequence[Pending] = pending(bodies)[1:]
    for item in events:
        writer.append([item], durable=item.seq % 10 == 0)
    writer.close()
    return episode


def _incompressible(length: int) -> str:
    """Return base64 text of a screenshot's kind; equal for equal lengths."""
    raw = b"".join(hashlib.sha256(number.to_bytes(4)).digest() for number in range(length // 43 + 1))
    return base64.b64encode(raw).decode()[:length]
