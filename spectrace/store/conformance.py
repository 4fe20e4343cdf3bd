"""What every event store must do, as checks that run against a real one: the contract of the `event_store` port.

The test suite runs them over memory, SQLite and Postgres; whoever writes a store, or doubts a server, runs them too.
A check is given a function that opens the same log again, writes episodes with ids of its own and raises StoreError
with what was expected and found.
"""

import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from spectrace.core.digest import body_proof, first_link, link_over, text_digest
from spectrace.core.events import Body, EpisodeStarted, Event, GenerateRequested
from spectrace.core.types import Message
from spectrace.errors import Conflict, EpisodeNotFound, StoreError
from spectrace.store.event_store import EventStore, StoredEvent
from spectrace.store.samples import EPOCH_US, pending, sample_episode

Open = Callable[[], EventStore]
Check = Callable[[Open], None]

AWKWARD = (
    "",
    "\0",
    "a\0b",
    "\ud800",
    "\udfff\ud800",
    "é" * 127,
    "é" * 128,
    "x" * 255,
    "x" * 256,
    "🙂" * 5000,
    "\u2028",
)
"""Texts that databases and JSON like to lose."""


def run_checks(open_store: Open) -> Iterator[tuple[str, str | None]]:
    """Yield each check's name with what went wrong, or None."""
    for check in CHECKS:
        try:
            check(open_store)
        except StoreError as error:
            yield name_of(check), str(error)
        else:
            yield name_of(check), None


def name_of(check: Check) -> str:
    """Return the claim that a check makes."""
    return check.__name__.replace("_", " ")


def every_event_type_reads_back_equal(open_store: Open) -> None:
    """Write an episode of every type; read it through another connection."""
    bodies = sample_episode(1)
    episode = _write(open_store(), bodies)
    _equal("bodies", [event.body for event in open_store().read(episode)], bodies)


def position_time_and_lane_read_back_equal(open_store: Open) -> None:
    """Compare whole events."""
    bodies = sample_episode(2, segments=1)
    episode = _write(open_store(), bodies)
    _equal(
        "events",
        list(open_store().read(episode)),
        [Event(episode, item.seq, item.lane, item.at, item.body) for item in pending(bodies)],
    )


def any_text_reads_back_exactly(open_store: Open) -> None:
    """Write NUL, lone surrogates, emoji and long texts, also as message, tool name and authority."""
    store, bodies = open_store(), sample_episode(3)
    asked = next(body for body in bodies if isinstance(body, GenerateRequested))
    odd = [_with_text(asked, text) for text in AWKWARD]
    episode = _write(store, [bodies[0], *odd])
    _equal("awkward texts", [event.body for event in open_store().read(episode)][1:], odd)


def reading_from_the_middle_gives_the_same_events(open_store: Open) -> None:
    """Message ordinals that were defined before the start must be found."""
    episode = _write(open_store(), sample_episode(4))
    whole = list(open_store().read(episode))
    for start in range(0, len(whole) + 1, 7):
        _equal(f"events from {start}", list(open_store().read(episode, start)), whole[start:])


def the_chain_verifies_from_stored_bytes(open_store: Open) -> None:
    """Recompute every link from header, salt and body, and compare the head."""
    store = open_store()
    episode = _write(store, sample_episode(5))
    stored = list(store.stored(episode))
    _equal("links", [event.link for event in stored], list(_links(episode, stored)))
    _equal("head", store.row(episode).head, stored[-1].link)
    _equal("stored from 3", list(store.stored(episode, 3)), stored[3:])


def salts_are_never_used_twice(open_store: Open) -> None:
    """An erased body could be guessed from a salt that stands beside another."""
    store, bodies = open_store(), sample_episode(6)
    salts = [event.salt for _ in range(2) for event in store.stored(_write(store, bodies))]
    _equal("distinct salts", len(set(salts)), 2 * len(bodies))


def a_log_grows_linearly_with_its_calls(open_store: Open) -> None:
    """200 calls of a growing history: each message is stored once."""
    store, bodies = open_store(), sample_episode(7)
    asked = next(body for body in bodies if isinstance(body, GenerateRequested))
    history = [Message("user", f"message {number} of this history") for number in range(200)]
    calls = [_with_messages(asked, history[: number + 1]) for number in range(200)]
    episode = _write(store, [bodies[0], *calls])
    sizes = [len(event.body or b"") for event in store.stored(episode)][1:]
    if max(sizes[100:]) > 2 * max(sizes[:100]):
        raise StoreError(
            f"call bodies grow with the history: {max(sizes[:100])} bytes before, {max(sizes[100:])} after."
        )
    _equal("calls", [event.body for event in store.read(episode)][1:], calls)


def an_episode_row_says_where_it_stands(open_store: Open) -> None:
    """Running while written, ended after `episode.ended`, interrupted when let go before."""
    store, bodies = open_store(), sample_episode(8, segments=1)
    first, second = _id(), _id()
    writer = store.create(first, _started(bodies), EPOCH_US)
    _equal("state", (store.row(first).state, store.row(first).events), ("running", 1))
    writer.append(pending(bodies)[1:], durable=True)
    writer.close()
    ended = store.row(first)
    at = pending(bodies)[-1].at
    _equal("row", (ended.state, ended.events, ended.started_at, ended.ended_at), ("ended", len(bodies), EPOCH_US, at))
    store.create(second, _started(bodies), EPOCH_US).close()
    _equal("state after close", store.row(second).state, "interrupted")


def a_reopened_episode_goes_on_where_it_stopped(open_store: Open) -> None:
    """Nobody else may while its writer lives; then numbers, chain and messages go on."""
    store, bodies, episode = open_store(), sample_episode(13), _id()
    events = pending(bodies)
    writer = store.create(episode, _started(bodies), EPOCH_US)
    writer.append(events[1:30], durable=False)
    _raises(Conflict, lambda: store.reopen(episode))
    writer.close()
    again = open_store().reopen(episode)
    again.append(events[30:], durable=True)
    again.close()
    _equal("bodies", [event.body for event in open_store().read(episode)], bodies)
    stored = list(store.stored(episode))
    _equal("links", [event.link for event in stored], list(_links(episode, stored)))


def an_append_is_whole_or_nothing(open_store: Open) -> None:
    """A refused event takes its batch with it, and the writer can go on."""
    store, bodies = open_store(), sample_episode(9, segments=1)
    episode = _id()
    writer = store.create(episode, _started(bodies), EPOCH_US)
    wrong = [*pending(bodies[1:4], 1), *pending(bodies[4:5], 9)]
    _raises(StoreError, lambda: writer.append(wrong, durable=False))
    _equal("events after a refused batch", store.row(episode).events, 1)
    writer.append(pending(bodies[1:], 1), durable=False)
    writer.close()
    _equal("bodies", [event.body for event in open_store().read(episode)], bodies)


def an_episode_id_is_used_once(open_store: Open) -> None:
    """A second `create` is a conflict and leaves the first alone."""
    store, bodies = open_store(), sample_episode(10)
    episode = _write(store, bodies)
    _raises(Conflict, lambda: store.create(episode, _started(bodies), EPOCH_US))
    _equal("events", store.row(episode).events, len(bodies))


def a_prefix_names_one_episode_or_none(open_store: Open) -> None:
    """An exact id wins over longer ones; several are named."""
    store, bodies, stem = open_store(), sample_episode(11, segments=1), _id()
    for tail in ("a1", "a2", "b"):
        store.create(stem + tail, _started(bodies), EPOCH_US).close()
    _equal("prefix", store.resolve(stem + "b"), stem + "b")
    _equal("short prefix", store.resolve((stem + "a1")[:-1] + "1"), stem + "a1")
    error = _raises(EpisodeNotFound, lambda: store.resolve(stem + "a"))
    if stem + "a1" not in str(error) or stem + "a2" not in str(error):
        raise StoreError(f"the candidates were expected in: {error}")
    for unknown in ("", "nothing-starts-so", "x\0", "\ud800"):
        _raises(EpisodeNotFound, partial(store.resolve, unknown))
    _raises(EpisodeNotFound, lambda: store.row("nothing-starts-so"))
    _raises(EpisodeNotFound, lambda: list(store.read("nothing-starts-so")))


def blobs_are_named_by_their_digest(open_store: Open) -> None:
    """A long text is stored once and found by its digest; an unknown digest is None."""
    store, bodies = open_store(), sample_episode(12)
    _write(store, bodies)
    instructions = _started(bodies).instructions
    digest = text_digest(instructions)
    _equal("blob", store.blob(digest), instructions.encode())
    _equal("unknown blob", store.blob("sha256:" + "0" * 64), None)


CHECKS: tuple[Check, ...] = (
    every_event_type_reads_back_equal,
    position_time_and_lane_read_back_equal,
    any_text_reads_back_exactly,
    reading_from_the_middle_gives_the_same_events,
    the_chain_verifies_from_stored_bytes,
    salts_are_never_used_twice,
    a_log_grows_linearly_with_its_calls,
    an_episode_row_says_where_it_stands,
    a_reopened_episode_goes_on_where_it_stopped,
    an_append_is_whole_or_nothing,
    an_episode_id_is_used_once,
    a_prefix_names_one_episode_or_none,
    blobs_are_named_by_their_digest,
)


def _id() -> str:
    return f"conformance-{uuid.uuid4().hex}"


def _write(store: EventStore, bodies: Sequence[Body]) -> str:
    episode = _id()
    writer = store.create(episode, _started(bodies), EPOCH_US)
    events = pending(bodies)[1:]
    for first in range(0, len(events), 5):
        writer.append(events[first : first + 5], durable=first % 2 == 0)
    writer.close()
    return episode


def _started(bodies: Sequence[Body]) -> EpisodeStarted:
    if not isinstance(bodies[0], EpisodeStarted):
        raise StoreError("a sample episode begins with episode.started.")
    return bodies[0]


def _with_text(asked: GenerateRequested, text: str) -> GenerateRequested:
    return replace(asked, messages=(Message("tool", text, (), text),), position=text, response_schema=text)


def _with_messages(asked: GenerateRequested, messages: Sequence[Message]) -> GenerateRequested:
    return replace(asked, messages=tuple(messages))


def _links(episode: str, stored: Sequence[StoredEvent]) -> Iterator[bytes]:
    link = first_link(episode)
    for event in stored:
        link = link_over(link, event.header, body_proof(event.salt or b"", event.body or b""))
        yield link


def _equal(what: str, found: object, expected: object) -> None:
    if found != expected:
        raise StoreError(f"{what}: expected {expected!r:.300}, found {found!r:.300}")


def _raises(kind: type[StoreError], act: Callable[[], object]) -> StoreError:
    try:
        act()
    except kind as error:
        return error
    raise StoreError(f"{kind.__name__} was expected, nothing was raised.")
