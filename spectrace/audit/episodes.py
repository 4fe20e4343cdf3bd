"""The listing of episodes: rows and ends -> summaries, filtered, sorted and paged.

An ended episode is told by its first and last event; only what its header does not say (unfinished totals, a tool, a
text) makes it be read whole.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import fields
from itertools import islice

from spectrace.audit.answers import EpisodeSummary, Filters
from spectrace.audit.lines import plain
from spectrace.audit.reading import Unread, read_events
from spectrace.core.events import ActRequested, EpisodeEnded, EpisodeStarted, Event, StepDrafted, Totals, Unknown
from spectrace.core.fold import ERASED
from spectrace.core.money import stated_usd
from spectrace.core.tally import Tally
from spectrace.errors import StoreError, UsageError
from spectrace.store.counting import totals_so_far
from spectrace.store.event_store import EventStore
from spectrace.store.listing import Listable, Listed, listed
from spectrace.store.projections import AT_LEAST
from spectrace.store.sql import SqlEventStore

UNKNOWN = "unknown"
"""The status of an episode that has ended, by its row, and whose end cannot be read."""
_UNREAD = "?"
"""In place of what an event 0 that cannot be read would have said."""
_SORTABLE = tuple(item.name for item in fields(EpisodeSummary) if item.name != "labels")


def summaries(store: Listable, filters: Filters, lost: list[Unread] | None = None) -> Iterator[EpisodeSummary]:
    """Yield the episodes that pass the filters, in their order; without `lost` a StoreError ends them."""
    found = _passing(store, filters, lost)
    if filters.sort != "-started_at":
        found = iter(_sorted(found, filters.sort))
    if filters.after is not None:
        found = _after(found, store.resolve(filters.after))
    return islice(found, filters.limit)


def summary(listed_: Listed, store: EventStore) -> EpisodeSummary:
    """Return one line about an episode."""
    row, started, ended = listed_.row, _started(listed_), _ended(listed_)
    totals = ended.totals if ended is not None else _counted(store, row.episode)
    models = {facts.role: f"{facts.provider}:{facts.name}" for facts in started.models} if started else {}
    cost, at_least = _cost(listed_.cost)
    unread = ERASED if _is_erased(store, listed_.first) else _UNREAD
    status, reason = _end(store, listed_, ended)
    return EpisodeSummary(
        episode=row.episode,
        started_at=row.started_at,
        ended_at=row.ended_at,
        status=status,
        end_reason=reason,
        env=started.environment.name if started else unread,
        task=started.task.id if started else unread,
        trial=started.trial if started else 0,
        protocol=started.protocol if started else unread,
        weak=models.get("weak"),
        strong=models.get("strong"),
        project=started.project if started else unread,
        labels=started.labels if started else (),
        run=started.run if started else None,
        events=row.events,
        steps=totals.steps,
        segments=_segments(listed_.segments, totals),
        reviews=totals.reviews,
        writes=totals.writes,
        rejections=totals.rejections,
        unusable=totals.unusable,
        repairs=totals.repairs,
        weak_calls=totals.weak_calls,
        strong_calls=totals.strong_calls,
        reward=ended.reward if ended is not None else None,
        cost_usd=cost,
        cost_usd_at_least=at_least,
        stated_usd=stated_usd(started) if started else None,
        parent=started.parent.episode if started and started.parent else None,
        parent_seq=started.parent.seq if started and started.parent else None,
        origin=started.origin.file if started and started.origin else None,
    )


def _end(store: EventStore, found: Listed, ended: EpisodeEnded | None) -> tuple[str, str | None]:
    """Return status and reason; of an erased end its header tells the status."""
    if found.row.ended_at is None:
        # An end that the row does not know is no end: the episode was saved from a damaged file, with a gap before it.
        return found.row.state, ended.reason if ended is not None else None
    if ended is not None:
        return ended.outcome, ended.reason
    body = found.ended.body if _is_erased(store, found.ended) and found.ended is not None else None
    return (body.outcome or UNKNOWN, ERASED) if isinstance(body, Unknown) else (UNKNOWN, None)


def _is_erased(store: EventStore, event: Event | None) -> bool:
    """Whether an event is erased, and its proof there: a body that is only missing is damage."""
    gone = event is not None and isinstance(event.body, Unknown) and event.body.erased
    return gone and event is not None and event.seq in store.proofs(event.episode)


def _segments(summary: int | None, totals: Totals) -> int | None:
    """Return how many segments there are; totals count those that were closed, which some protocols never do."""
    if summary is not None:
        return summary
    return totals.segments if totals.segments or not totals.steps else None


def _cost(text: str | None) -> tuple[str | None, str | None]:
    """Return a cost that is known, and the known part of one that is not."""
    if text is None or not text.startswith(AT_LEAST):
        return text, None
    return None, text.removeprefix(AT_LEAST)


def _started(found: Listed) -> EpisodeStarted | None:
    return found.first.body if found.first is not None and isinstance(found.first.body, EpisodeStarted) else None


def _ended(found: Listed) -> EpisodeEnded | None:
    return found.ended.body if found.ended is not None and isinstance(found.ended.body, EpisodeEnded) else None


def _counted(store: EventStore, episode: str) -> Totals:
    """Count what an episode without an end has done so far."""
    tally = Tally()
    with suppress(StoreError):  # as far as it can be read; `verify` says what is wrong
        if isinstance(store, SqlEventStore):
            return totals_so_far(store.database, store.log.number(episode))
        for event in store.read(episode, prompts=False):
            tally.count(event.body)
    return tally.totals


def _passing(store: Listable, filters: Filters, lost: list[Unread] | None) -> Iterator[EpisodeSummary]:
    tests = _tests(filters)
    for found in listed(store, since=filters.since, until=filters.until):
        started = _started(found)
        if started is None and tests:
            continue
        if started is not None and not _fits(started, filters):
            continue
        one = summary(found, store)
        try:
            passes = all(test(one, store) for test in tests)
        except StoreError as error:
            if lost is None:
                raise
            lost.append(Unread(one.episode, None, str(error)))
            continue
        if passes:
            yield one


def _fits(started: EpisodeStarted, filters: Filters) -> bool:
    """Whether event 0 fits: asked first, because it costs nothing more."""
    names = [f"{facts.provider}:{facts.name}" for facts in started.models]
    return (
        _among(started.environment.name, filters.env)
        and _among(started.protocol, filters.protocol)
        and _among(started.task.id, filters.task)
        and _among(started.project, filters.project)
        and _among(started.run, filters.run)
        and set(filters.labels) <= set(started.labels)
        and (not filters.model or any(part in name for part in filters.model for name in names))
    )


def _among(value: str | None, wanted: tuple[str, ...]) -> bool:
    return not wanted or value in wanted


Test = Callable[[EpisodeSummary, EventStore], bool]


def _tests(filters: Filters) -> list[Test]:
    """Return the tests that need a summary or the events, the cheap ones first."""
    tests: list[Test] = []
    if filters.status:
        tests.append(lambda one, _: one.status in filters.status)
    if filters.rejected:
        tests.append(lambda one, _: one.rejections > 0)
    if filters.tool:
        tests.append(lambda one, store: _has_used(store, one.episode, filters.tool))
    if filters.grep is not None:
        wanted = filters.grep.casefold()
        tests.append(lambda one, store: any(wanted in text for text in _texts(read_events(store, one.episode))))
    return tests


def _has_used(store: EventStore, episode: str, tools: tuple[str, ...]) -> bool:
    events = read_events(store, episode, prompts=False)
    return any(isinstance(event.body, StepDrafted | ActRequested) and event.body.tool in tools for event in events)


def _texts(events: Iterable[Event]) -> Iterator[str]:
    for event in events:
        yield from _leaves(plain(event.body))


def _leaves(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value.casefold()
        case dict():
            for item in value.values():
                yield from _leaves(item)
        case list():
            for item in value:
                yield from _leaves(item)
        case _:
            return


def _sorted(found: Iterable[EpisodeSummary], sort: str) -> list[EpisodeSummary]:
    """Sort by a field; episodes without a value come last either way."""
    name, backwards = sort.removeprefix("-"), sort.startswith("-")
    if name not in _SORTABLE:
        raise UsageError(f"episodes cannot be sorted by {name!r}; they can by {', '.join(_SORTABLE)}.")
    every = list(found)
    known = [one for one in every if getattr(one, name) is not None]
    known.sort(key=lambda one: _order(getattr(one, name)), reverse=backwards)
    return known + [one for one in every if getattr(one, name) is None]


def _order(value: object) -> tuple[int, object]:
    """Numbers, also those kept as text (a reward), sort as numbers, before any other text."""
    try:
        return 0, json.loads(value) if isinstance(value, str) and value[:1].isdigit() else float(str(value))
    except ValueError:
        return 1, str(value)


def _after(found: Iterable[EpisodeSummary], episode: str) -> Iterator[EpisodeSummary]:
    iterator = iter(found)
    for one in iterator:
        if one.episode == episode:
            yield from iterator
            return
    raise UsageError(f"episode {episode} is not in this listing: `after` goes on with the same filters.")
