"""Altering a recording: one event's fields, events behind one, the numbers anew; and finding what is in it."""

from collections.abc import Sequence
from dataclasses import replace

from spectrace.core.events import ActCompleted, ActRequested, Event
from spectrace.core.types import Effect
from spectrace.store.event_store import EventStore, Pending

Recording = list[Event]


def renumbered(events: Sequence[Event]) -> Recording:
    """Number the events anew, and let those that name others name them as they are now."""
    now = {event.seq: number for number, event in enumerate(events)}
    return [replace(event, seq=number, body=_renamed(event.body, now)) for number, event in enumerate(events)]


def _renamed(body: object, now: dict[int, int]) -> object:
    changed: dict[str, object] = {}
    for name in ("request", "verdict", "review", "guess"):
        if isinstance(getattr(body, name, None), int | float):
            changed[name] = now.get(getattr(body, name), getattr(body, name))
    kind, colon, number = (getattr(body, "authority", None) or "").partition(":")
    if colon and number.isdigit():
        changed["authority"] = f"{kind}:{now.get(int(number), number)}"
    return replace(body, **changed)  # type: ignore[type-var]


def store_all(store: EventStore, events: Sequence[Event], episode: str | None = None) -> str:
    """Put a recording into a store as if it had been recorded so; return its id."""
    name = episode or events[0].episode
    writer = store.create(name, events[0].body, events[0].at)
    writer.append([Pending(one.seq, one.lane, one.at, one.body) for one in events[1:]], durable=True)
    writer.close()
    return name


def put(events: Sequence[Event], seq: int, **fields: object) -> Recording:
    """Change fields of one event's body."""
    return [replace(e, body=replace(e.body, **fields)) if e.seq == seq else e for e in events]


def behind(events: Sequence[Event], seq: int, *bodies: object) -> Recording:
    """Write more events behind one; what answers the first of them names it by -1."""
    place = next(n for n, event in enumerate(events) if event.seq == seq) + 1
    new = [replace(events[place - 1], seq=-1 - n, body=body) for n, body in enumerate(bodies)]
    return renumbered([*events[:place], *new, *events[place:]])


def each(events: Sequence[Event], type_: type, /, **fields: object) -> list[Event]:
    """Return the events of a kind whose fields are so."""
    return [e for e in events if isinstance(e.body, type_) and all(getattr(e.body, k) == v for k, v in fields.items())]


def first(events: Sequence[Event], type_: type, /, **fields: object) -> Event | None:
    return next(iter(each(events, type_, **fields)), None)


def answer_to(events: Sequence[Event], act: Event) -> Event | None:
    return first(events, ActCompleted, request=act.seq)


def approved(events: Sequence[Event], effect: str | None = "write") -> list[Event]:
    """Return the acts on a verdict that were answered."""
    acts = [e for e in each(events, ActRequested) if e.body.authority.startswith("verdict:") and answer_to(events, e)]
    return [act for act in acts if effect in {None, act.body.effect}]


def on(events: Sequence[Event], act: Event, authority: str) -> Recording:
    """Let an act and its answer name another authority."""
    answer = answer_to(events, act)
    changed = put(events, act.seq, authority=authority)
    return changed if answer is None else put(changed, answer.seq, authority=authority)


def looks(events: Sequence[Event], authority: str | None = None) -> list[Event]:
    """Return the answered look-ups."""
    acts = [e for e in each(events, ActRequested, effect=Effect.READ) if answer_to(events, e)]
    return [act for act in acts if authority in {None, act.body.authority}]
