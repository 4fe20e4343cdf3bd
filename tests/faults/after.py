"""What must hold after a kill, whenever it came: the whole prefix, the chain, and an honest word on every write."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from spectrace.audit.integrity import CONSISTENT, verify_episode
from spectrace.audit.queries import Reader
from spectrace.audit.recovery import Recovered, recover
from spectrace.core.compare import differences
from spectrace.core.deeds import deeds
from spectrace.core.events import ActCompleted, ActionHeld, ActRequested, EpisodeEnded, Event
from spectrace.store.recovery import INTERRUPTED, RECOVERED
from spectrace.store.sql import SqlEventStore
from tests.faults.scene import executed

CUT = (INTERRUPTED, RECOVERED)


def faults(store: SqlEventStore, episode: str, desk: Path, whole: Sequence[Event]) -> tuple[list[str], Recovered]:
    """Return what is wrong with a killed episode, and what recovering it told; `whole` is the one nobody killed."""
    found: list[str] = []
    events = list(store.read(episode))
    done = executed(desk)
    found += _prefix(store, events, whole)
    found += _writes(events, done)
    state = store.row(episode).state
    over = isinstance(events[-1].body, EpisodeEnded)
    if state != ("ended" if over else "interrupted"):
        found.append(f"its state is {state}")
    told = recover(store, episode)
    after = list(store.read(episode))
    found += _recovered(store, events, after, told)
    if recover(store, episode) != told:
        found.append("recovering twice tells something else")
    if store.row(episode).events != len(after):
        found.append("recovering twice wrote twice")
    if executed(desk) != done:
        found.append("recovering executed something")
    return found, told


def _prefix(store: SqlEventStore, events: Sequence[Event], whole: Sequence[Event]) -> list[str]:
    found = []
    verified = verify_episode(store, events[0].episode)
    if (verified.result, verified.events) != (CONSISTENT, len(events)):
        found.append(f"verify: {verified.result}, {verified.detail}")
    if [event.seq for event in events] != list(range(len(events))):
        found.append("its numbers have gaps")
    skip = frozenset({"fingerprint", "fingerprint_before", "fingerprint_after"})
    for event, other in zip(events[1:], whole[1:], strict=False):
        if isinstance(event.body, EpisodeEnded) and event.body.reason == RECOVERED:
            continue
        if type(event.body) is not type(other.body) or differences(other.body, event.body, skip=skip):
            found.append(f"event {event.seq} is not the one of the whole episode")
    return found


def _writes(events: Sequence[Event], done: Sequence[str]) -> list[str]:
    """A write was done at most once, and never without its request on record; an answer means that it was done."""
    asked = [
        event.body.tool for event in events if isinstance(event.body, ActRequested) and event.body.effect == "write"
    ]
    answered = [
        event.body.tool for event in events if isinstance(event.body, ActCompleted) and event.body.effect == "write"
    ]
    found = [f"{tool} was done {times} times" for tool, times in Counter(done).items() if times > 1]
    found += [f"{tool} was done and is not on record" for tool in done if tool not in asked]
    found += [f"{tool} is on record as done and was not" for tool in answered if tool not in done]
    return found


def _recovered(store: SqlEventStore, events: Sequence[Event], after: Sequence[Event], told: Recovered) -> list[str]:
    found = []
    episode = events[0].episode
    over = isinstance(events[-1].body, EpisodeEnded)
    end = after[-1].body
    if list(after[: len(events)]) != list(events) or len(after) != len(events) + (not over):
        found.append("recovering changed more than the end")
    if not over and not (isinstance(end, EpisodeEnded) and (end.outcome, end.reason) == CUT):
        found.append(f"the end that was written is {end}")
    if told.result != CONSISTENT:
        found.append(f"recovered, and {told.result}: {told.detail}")
    asked = {event.seq for event in events if isinstance(event.body, ActRequested) and event.body.effect != "read"}
    open_ = sorted(asked - {event.body.request for event in events if isinstance(event.body, ActCompleted)})
    if [action.seq for action in told.indeterminate] != open_:
        found.append(f"indeterminate are {told.indeterminate}, should be events {open_}")
    ledger = {deed.seq: deed.outcome for deed in deeds(Reader(store).events(episode))}
    if [seq for seq, outcome in ledger.items() if outcome == "indeterminate"] != open_:
        found.append(f"the ledger says {ledger}")
    held = {event.body.position for event in events if isinstance(event.body, ActionHeld)}
    sent = {event.body.position for event in events if isinstance(event.body, ActRequested)}
    never = {action.position for action in told.never_started}
    if never & sent or (not over and not _awaiting(events) <= never) or not never <= _drafted(events):
        found.append(f"never started are {never}; held {held}, sent {sent}")
    return found


def _awaiting(events: Sequence[Event]) -> set[str]:
    """Return the position of a write whose hold was the last that happened to any action."""
    for event in reversed(events):
        if isinstance(event.body, ActionHeld):
            return {event.body.position}
        if event.type.startswith(("act.", "verdict.", "step.")):
            break
    return set()


def _drafted(events: Sequence[Event]) -> set[str]:
    return {event.body.position for event in events if event.type == "step.drafted"}
