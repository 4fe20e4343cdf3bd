"""What every store makes of events that this spectrace does not know: unknown types and fields, newer versions."""

import asyncio
import json
from dataclasses import dataclass
from typing import ClassVar

import pytest

from spectrace.audit.integrity import verify_episode
from spectrace.audit.queries import Reader
from spectrace.audit.reading import Unread
from spectrace.core.deeds import deeds
from spectrace.core.events import Unknown, VerdictGiven
from spectrace.core.fold import fold
from spectrace.core.versions import CLASSES
from spectrace.errors import NewerSchema
from spectrace.runs.replay import replay_episode
from spectrace.runs.reverify import reverify_episode
from spectrace.store import decoding, upcasts
from spectrace.store.memory import MemoryEventStore
from spectrace.store.recovery import end_interrupted
from spectrace.store.upcasts import Step
from tests.episodes import record_shop
from tests.stored_episodes import blobs_of, chained, put, told_lines

EXTRA = {"deep": [1, {"text": "é\0"}], "later": None}


@pytest.fixture(scope="module")
def shop():
    store = MemoryEventStore()
    return store, asyncio.run(record_shop(store)).episode


def stored(into, shop, change):
    """Put the shop's episode into a store, its events changed and chained anew."""
    store, episode = shop
    events = told_lines(store, episode)
    change(events)
    lines = chained("foreign", events)
    return lines, put(into, lines, blobs_of(store, lines))


def with_unknown_type(events):
    header = [*events[4][0][:3], "tool.approved", 3, events[4][0][5], None, "person:Ana", "granted", None]
    events.insert(-1, (header, {"by": "Ana", "scope": EXTRA}))


def with_unknown_fields(events):
    for _, body in events:
        body["later"] = EXTRA
        for inner in body.values():
            if isinstance(inner, dict) and "$blob" not in inner and inner is not EXTRA:
                inner["minor"] = 1


def with_newer_version(type_):
    def change(events):
        at = next(number for number, (header, _) in enumerate(events) if header[3] == type_)
        header, body = events[at]
        events[at] = ([*header[:4], CLASSES[type_].VERSION + 1, *header[5:]], {**body, "renamed": True})

    return change


def newer(type_):
    """What is said of a version that is one too new."""
    return f"{type_} version {CLASSES[type_].VERSION + 1}; this spectrace knows version {CLASSES[type_].VERSION}"


CHANGES = {
    "unknown type": with_unknown_type,
    "unknown fields": with_unknown_fields,
    "newer fact": with_newer_version("verdict.given"),
    "newer start": with_newer_version("episode.started"),
    "newer question": with_newer_version("generate.requested"),
}


@pytest.fixture
def memory():
    return MemoryEventStore()


def replayed(store, episode):
    return asyncio.run(replay_episode(list(store.read(episode))))


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_not_known_is_kept_verbatim_shown_and_given_back_equal(event_store, shop, change):
    lines, episode = stored(event_store, shop, CHANGES[change])
    rows = [line.row for line in lines]
    reader = Reader(event_store)

    assert [(event.body, event.salt, event.link) for event in event_store.stored(episode)] == [
        (row.body, row.salt, row.link) for row in rows
    ]
    assert verify_episode(event_store, episode).result == "consistent"
    assert [(one.seq, one.type) for one in reader.timeline(episode)] == [(row.seq, row.type) for row in rows]
    assert [one.stored_body for one in reader.details(episode)] == [row.body.decode() for row in rows]


def test_an_unknown_type_is_read_as_unknown_with_its_json(event_store, shop):
    lines, episode = stored(event_store, shop, with_unknown_type)

    assert list(event_store.read(episode))[-2].body == Unknown("tool.approved", 3, lines[-2].row.body.decode())


def test_an_unknown_type_is_shown(memory, shop):
    lines, episode = stored(memory, shop, with_unknown_type)
    reader = Reader(memory)
    seq = lines[-2].row.seq
    shown = reader.event(episode, seq)

    assert (shown.type, shown.version, shown.authority, json.loads(shown.body)) == (
        "tool.approved",
        3,
        "person:Ana",
        {"by": "Ana", "scope": EXTRA},
    )
    assert 'tool.approved version 3 is not known to this spectrace: {"by":"Ana"' in reader.timeline(episode)[-2].summary


def test_an_unknown_type_is_passed_over_by_what_interprets(memory, shop):
    store, original = shop
    _, episode = stored(memory, shop, with_unknown_type)
    told, known = fold(memory.read(episode)), fold(store.read(original))
    result = replayed(memory, episode)

    assert (told.totals, len(told.segments)) == (known.totals, len(known.segments))
    assert (result.result, "; 1 of types that this spectrace does not know are passed over" in result.detail) == (
        "same",
        True,
    )


def test_an_account_without_an_unknown_type_says_so(event_store, shop):
    lines, episode = stored(event_store, shop, with_unknown_type)
    lost: list[Unread] = []
    ledger = list(Reader(event_store).actions(lost=lost))

    assert (len(ledger), [(one.episode, one.seq) for one in lost]) == (3, [(episode, lines[-2].row.seq)])
    assert "(tool.approved) of foreign cannot be read: this spectrace does not know its type" in lost[0].detail


def test_unknown_fields_change_nothing_that_is_read(event_store, shop):
    store, original = shop
    _, episode = stored(event_store, shop, with_unknown_fields)

    assert [event.body for event in event_store.read(episode)] == [event.body for event in store.read(original)]
    assert replayed(event_store, episode).result == "same"


def test_unknown_fields_are_shown(memory, shop):
    lines, episode = stored(memory, shop, with_unknown_fields)
    seq = next(line.row.seq for line in lines if line.row.type == "act.completed")
    shown = Reader(memory).event(episode, seq)

    assert {path: json.loads(text) for path, text in shown.unknown} == {
        "body.later": EXTRA,
        "body.observation.minor": 1,
    }


@pytest.mark.parametrize("type_", ["verdict.given", "act.completed", "episode.started", "generate.requested"])
def test_a_newer_version_is_refused_by_what_interprets_naming_it(memory, shop, type_):
    _, episode = stored(memory, shop, with_newer_version(type_))
    events = list(memory.read(episode))
    said = rf"event \d+ of foreign is {newer(type_)}\. Read it with the spectrace th"

    for interpret in (fold, deeds, lambda told: asyncio.run(reverify_episode(told, None, memory, "again"))):
        with pytest.raises(NewerSchema, match=said):
            interpret(events)


@pytest.mark.parametrize("type_", ["verdict.given", "episode.started"])
def test_a_newer_version_cannot_be_replayed(memory, shop, type_):
    _, episode = stored(memory, shop, with_newer_version(type_))
    result = replayed(memory, episode)

    assert (result.result, f"is {newer(type_)}" in result.detail) == (
        "untestable",
        True,
    )


@pytest.mark.parametrize("type_", ["verdict.given", "episode.started", "generate.requested"])
def test_no_account_is_made_of_an_episode_with_a_newer_version(memory, shop, type_):
    _, episode = stored(memory, shop, with_newer_version(type_))
    reader, lost = Reader(memory), []

    assert list(reader.actions(lost=lost, episodes=[episode])) == []
    assert newer(type_) in lost[0].detail
    with pytest.raises(NewerSchema, match=newer(type_)):
        list(reader.actions(episodes=[episode]))


def test_an_interrupted_episode_with_a_newer_version_is_given_no_end(event_store, shop):
    def cut(events):
        del events[30:]
        with_newer_version("verdict.given")(events)

    _, episode = stored(event_store, shop, cut)

    with pytest.raises(NewerSchema, match=r"verdict\.given version 2"):
        end_interrupted(event_store, episode, 1)
    assert event_store.row(episode).events == 30


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewGiven:
    """`verdict.given` as a version 3 might have it: renamed, two fields become one, the header's outcome still used."""

    TYPE: ClassVar[str] = "review.given"
    VERSION: ClassVar[int] = 3
    outcome: str
    segment: int
    share: tuple[int, int]
    raw: str


def test_an_old_version_is_read_as_the_newest_and_its_bytes_stay(event_store, shop, monkeypatch):
    lines, episode = stored(event_store, shop, lambda events: None)
    old = [event for event in event_store.read(episode) if isinstance(event.body, VerdictGiven)]
    wanted = ("outcome", "segment", "share", "raw")
    for before, step in {
        1: Step("verdict.given", 2, lambda body: {**body, "share": [body["accepted"], body["drafted"]]}),
        2: Step("review.given", 3, lambda body: {name: body[name] for name in wanted}),
    }.items():
        monkeypatch.setitem(upcasts.UPCASTS, ("verdict.given", before), step)
    monkeypatch.setitem(decoding._READABLE, ("verdict.given", 1), ReviewGiven)
    read = [event for event in event_store.read(episode) if isinstance(event.body, ReviewGiven)]

    assert [event.body for event in read] == [
        ReviewGiven(
            outcome=event.body.outcome,
            segment=event.body.segment,
            share=(event.body.accepted, event.body.drafted),
            raw=event.body.raw,
        )
        for event in old
    ]
    assert [event.body for event in event_store.stored(episode)] == [line.row.body for line in lines]
    assert verify_episode(event_store, episode).result == "consistent"
