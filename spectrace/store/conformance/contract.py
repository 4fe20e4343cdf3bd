"""The contract of the port itself: what is written is read, in order, linked, once, and by one writer."""

from dataclasses import replace
from functools import partial

from spectrace.core.digest import text_digest
from spectrace.core.events import Body, Event, GenerateRequested
from spectrace.core.types import Message
from spectrace.errors import Conflict, EpisodeNotFound, StoreError
from spectrace.store.conformance.check import Check, Open, check, equal, links, new_id, raises, started, write
from spectrace.store.samples import EPOCH_US, pending, sample_episode

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


@check("C1")
def every_event_type_reads_back_equal(open_store: Open) -> None:
    """Write an episode of every type; read it through another connection."""
    bodies = _bodies(1)
    episode = write(open_store(), bodies)
    equal("bodies", [event.body for event in open_store().read(episode)], bodies)


@check("C2")
def position_time_and_lane_read_back_equal(open_store: Open) -> None:
    """Compare whole events."""
    bodies = _bodies(2, segments=1)
    episode = write(open_store(), bodies)
    equal(
        "events",
        list(open_store().read(episode)),
        [Event(episode, item.seq, item.lane, item.at, item.body) for item in pending(bodies)],
    )


@check("C3")
def any_text_reads_back_exactly(open_store: Open) -> None:
    """Write NUL, lone surrogates, emoji and long texts, also as message, tool name and authority."""
    store, bodies = open_store(), _bodies(3)
    asked = next(body for body in bodies if isinstance(body, GenerateRequested))
    odd = [_with_text(asked, text) for text in AWKWARD]
    episode = write(store, [bodies[0], *odd])
    equal("awkward texts", [event.body for event in open_store().read(episode)][1:], odd)


@check("C4")
def reading_from_the_middle_gives_the_same_events(open_store: Open) -> None:
    """Message ordinals that were defined before the start must be found."""
    episode = write(open_store(), _bodies(4))
    whole = list(open_store().read(episode))
    for start in range(0, len(whole) + 1, 7):
        equal(f"events from {start}", list(open_store().read(episode, start)), whole[start:])


@check("C5")
def the_chain_verifies_from_stored_bytes(open_store: Open) -> None:
    """Recompute every link from header, salt and body, and compare the head."""
    store = open_store()
    episode = write(store, _bodies(5))
    stored = list(store.stored(episode))
    equal("links", [event.link for event in stored], list(links(episode, stored)))
    equal("head", store.row(episode).head, stored[-1].link)
    equal("stored from 3", list(store.stored(episode, 3)), stored[3:])


@check("C6")
def salts_are_never_used_twice(open_store: Open) -> None:
    """An erased body could be guessed from a salt that stands beside another."""
    store, bodies = open_store(), _bodies(6)
    salts = [event.salt for _ in range(2) for event in store.stored(write(store, bodies))]
    equal("distinct salts", len(set(salts)), 2 * len(bodies))


@check("H18")
def a_log_grows_linearly_with_its_calls(open_store: Open) -> None:
    """200 calls of a growing history: each message is stored once."""
    store, bodies = open_store(), _bodies(7)
    asked = next(body for body in bodies if isinstance(body, GenerateRequested))
    history = [Message("user", f"message {number} of this history") for number in range(200)]
    calls = [replace(asked, messages=tuple(history[: number + 1])) for number in range(200)]
    episode = write(store, [bodies[0], *calls])
    sizes = [len(event.body or b"") for event in store.stored(episode)][1:]
    if max(sizes[100:]) > 2 * max(sizes[:100]):
        raise StoreError(
            f"call bodies grow with the history: {max(sizes[:100])} bytes before, {max(sizes[100:])} after."
        )
    equal("calls", [event.body for event in store.read(episode)][1:], calls)


@check("C7")
def an_episode_row_says_where_it_stands(open_store: Open) -> None:
    """Running while written, ended after `episode.ended`, interrupted when let go before."""
    store, bodies = open_store(), _bodies(8, segments=1)
    first, second = new_id(), new_id()
    writer = store.create(first, started(bodies), EPOCH_US)
    equal("state", (store.row(first).state, store.row(first).events), ("running", 1))
    writer.append(pending(bodies)[1:], durable=True)
    writer.close()
    ended = store.row(first)
    at = pending(bodies)[-1].at
    equal("row", (ended.state, ended.events, ended.started_at, ended.ended_at), ("ended", len(bodies), EPOCH_US, at))
    store.create(second, started(bodies), EPOCH_US).close()
    equal("state after close", store.row(second).state, "interrupted")


@check("C8")
def a_reopened_episode_goes_on_where_it_stopped(open_store: Open) -> None:
    """Nobody else may while its writer lives; then numbers, chain and messages go on."""
    store, bodies, episode = open_store(), _bodies(13), new_id()
    events = pending(bodies)
    writer = store.create(episode, started(bodies), EPOCH_US)
    writer.append(events[1:30], durable=False)
    raises(Conflict, lambda: store.reopen(episode))
    writer.close()
    again = open_store().reopen(episode)
    again.append(events[30:], durable=True)
    again.close()
    equal("bodies", [event.body for event in open_store().read(episode)], bodies)
    stored = list(store.stored(episode))
    equal("links", [event.link for event in stored], list(links(episode, stored)))


@check("C9")
def an_append_is_whole_or_nothing(open_store: Open) -> None:
    """A refused event takes its batch with it, and the writer can go on."""
    store, bodies = open_store(), _bodies(9, segments=1)
    episode = new_id()
    writer = store.create(episode, started(bodies), EPOCH_US)
    wrong = [*pending(bodies[1:4], 1), *pending(bodies[4:5], 9)]
    raises(StoreError, lambda: writer.append(wrong, durable=False))
    equal("events after a refused batch", store.row(episode).events, 1)
    writer.append(pending(bodies[1:], 1), durable=False)
    writer.close()
    equal("bodies", [event.body for event in open_store().read(episode)], bodies)


@check("C10")
def an_episode_id_is_used_once(open_store: Open) -> None:
    """A second `create` is a conflict and leaves the first alone."""
    store, bodies = open_store(), _bodies(10)
    episode = write(store, bodies)
    raises(Conflict, lambda: store.create(episode, started(bodies), EPOCH_US))
    equal("events", store.row(episode).events, len(bodies))


@check("C11")
def a_prefix_names_one_episode_or_none(open_store: Open) -> None:
    """An exact id wins over longer ones; several are named."""
    store, bodies, stem = open_store(), _bodies(11, segments=1), new_id()
    for tail in ("a1", "a2", "b"):
        store.create(stem + tail, started(bodies), EPOCH_US).close()
    equal("prefix", store.resolve(stem + "b"), stem + "b")
    equal("short prefix", store.resolve((stem + "a1")[:-1] + "1"), stem + "a1")
    error = raises(EpisodeNotFound, lambda: store.resolve(stem + "a"))
    if stem + "a1" not in str(error) or stem + "a2" not in str(error):
        raise StoreError(f"the candidates were expected in: {error}")
    for unknown in ("", "nothing-starts-so", "x\0", "\ud800"):
        raises(EpisodeNotFound, partial(store.resolve, unknown))
    raises(EpisodeNotFound, lambda: store.row("nothing-starts-so"))
    raises(EpisodeNotFound, lambda: list(store.read("nothing-starts-so")))


@check("C12")
def blobs_are_named_by_their_digest(open_store: Open) -> None:
    """A long text is stored once and found by its digest; an unknown digest is None."""
    store, bodies = open_store(), _bodies(12)
    write(store, bodies)
    instructions = started(bodies).instructions
    digest = text_digest(instructions)
    equal("blob", store.blob(digest), instructions.encode())
    equal("unknown blob", store.blob("sha256:" + "0" * 64), None)


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


def _bodies(seed: int, segments: int = 4) -> list[Body]:
    """Return a sample episode's bodies, filed under the checks' own project."""
    bodies = sample_episode(seed, segments)
    return [started(bodies), *bodies[1:]]


def _with_text(asked: GenerateRequested, text: str) -> GenerateRequested:
    return replace(asked, messages=(Message("tool", text, (), text),), position=text, response_schema=text)
