"""Asking a store what is not known: episode after episode, each read once, nothing kept of those that are done."""

import time
from collections.abc import Callable, Iterable, Iterator

from spectrace.audit.covering import Covering
from spectrace.audit.hidden import only_project, told_of
from spectrace.audit.reading import Unread, read_events, unread
from spectrace.audit.unknowns import LOG, NotKnown, of_row, unknowns
from spectrace.errors import EpisodeNotFound, StoreError
from spectrace.store.blob_presence import Presence
from spectrace.store.listing import Listable

Told = Callable[[int], None]


def unknowns_of(
    store: Listable,
    episodes: Iterable[str],
    covered: Covering | None,
    lost: list[Unread],
    told: Told | None = None,
) -> Iterator[NotKnown]:
    """Yield what is not known of these episodes, and of the log where no checkpoint of it is there.

    `lost` is told what cannot be read, and what cannot be told because of it.
    """
    if covered is None:
        yield NotKnown(LOG, None, "uncovered", "there is no checkpoint: nothing outside the database vouches for it")
    elif covered.doubt is not None:
        yield NotKnown(LOG, None, "uncovered", covered.doubt)
    yield from _not_shown(store, covered)
    presence, now = Presence(store), time.time_ns() // 1000
    for number, episode in enumerate(episodes, 1):
        if told is not None:
            told(number)
        row = store.row(episode)
        if covered is not None and (lacking := covered.lacking(episode, row.events)) is not None:
            yield NotKnown(episode, lacking[0], "uncovered", lacking[1])
        yield from of_row(episode, row.started_at, row.ended_at, row.events, now)
        try:
            for seq, type_, digest in presence.missing(episode):
                yield NotKnown(episode, seq, "missing_blob", f"{type_} refers to {digest}")
            events = list(read_events(store, episode, prompts=False))
            lost += unread(episode, events, row.events, told_from=False, store=store, untold=())
            yield from unknowns(events, running=row.state == "running")
        except EpisodeNotFound:
            raise
        except StoreError as error:
            lost.append(Unread(episode, None, str(error)))


def _not_shown(store: Listable, covered: Covering | None) -> Iterator[NotKnown]:
    """Say once what the role of one project is not shown: a list without it is no list of the whole log."""
    project = only_project(store)
    if project is None:
        return
    others = set() if covered is None else {name for name, one in covered.projects.items() if one != project}
    if covered is not None and others:
        yield NotKnown(LOG, None, "uncovered", told_of(len(others), project, covered.name.rstrip(",")))
    else:
        detail = f"this role is shown the project {project!r} and administrative logs: of others nothing is known"
        yield NotKnown(LOG, None, "uncovered", detail)
