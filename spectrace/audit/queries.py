"""The questions that the command line and the viewer ask of a log; typed answers, see `answers`.

    with open_reader("sqlite:///spectrace.db") as reader:
        for one in reader.episodes(Filters(rejected=True)):
            print(reader.why(one.episode))

A reader never writes: SQLite is opened read-only, and nothing named in a recording is run.
"""

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Self

from spectrace.audit import episodes as listing
from spectrace.audit import ledger
from spectrace.audit.answers import (
    EpisodeSummary,
    EventDetail,
    EventLine,
    Filters,
    RejectionCount,
    RunSummary,
    WhyItem,
    WhyStep,
)
from spectrace.audit.batches import begun, run_summaries
from spectrace.audit.details import detail
from spectrace.audit.erasures import erased_words, on_record
from spectrace.audit.lines import line, tool_name
from spectrace.audit.reading import Unread, begins_erased, explained, read_events, require_start, unread
from spectrace.audit.rules import Rule, Tally, Violation
from spectrace.audit.rules_reading import broken
from spectrace.audit.why import segment_starts, why_items
from spectrace.core.deeds import UNTOLD, Deed, changes_state, own_deeds
from spectrace.core.events import Event, GenerateRequested
from spectrace.core.fold import Episode, fold
from spectrace.core.types import Message
from spectrace.core.versions import first_newer, newer_version
from spectrace.errors import EpisodeNotFound, StoreError, UsageError
from spectrace.store import admin
from spectrace.store.event_store import Glance, Prompt
from spectrace.store.evidence import Evidence, lend
from spectrace.store.listing import Listable
from spectrace.store.sql import SqlEventStore, open_store

__all__ = [
    "EpisodeSummary",
    "EventDetail",
    "EventLine",
    "Filters",
    "Reader",
    "RejectionCount",
    "RunSummary",
    "Unread",
    "Violation",
    "WhyItem",
    "WhyStep",
    "open_reader",
]

REJECTIONS_BY = ("category", "tool", "env", "cause")


def open_reader(url: str, told: Callable[[str], None] | None = None) -> "Reader":
    """Open a database for reading: `sqlite:///FILE`, `postgresql://...` or a path.

    Of an older file, or one that is no database, a temporary copy is read; `told` is told of what, with its digest.
    """
    evidence = lend(url)
    try:
        reader = Reader(open_store(evidence.url, read_only=True), evidence)
    except BaseException:
        evidence.close()
        raise
    if told is not None and evidence.note is not None:
        told(evidence.note)
    return reader


class Reader:
    """Asks one store."""

    def __init__(self, store: Listable, evidence: Evidence | None = None) -> None:
        """Read `store`; closing the reader closes it, and lets go of the evidence that it lies in."""
        self.store = store
        self._evidence = evidence

    def __enter__(self) -> Self:
        """Use in a `with` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def close(self) -> None:
        """Release the connections."""
        self.store.close()
        if self._evidence is not None:
            self._evidence.close()

    def resolve(self, prefix: str) -> str:
        """Return the one episode whose id starts so; raise EpisodeNotFound otherwise."""
        return self.store.resolve(prefix)

    def episodes(self, filters: Filters | None = None, *, lost: list[Unread] | None = None) -> list[EpisodeSummary]:
        """Return the episodes that pass the filters."""
        return list(self.iter_episodes(filters, lost=lost))

    def iter_episodes(
        self, filters: Filters | None = None, *, lost: list[Unread] | None = None
    ) -> Iterator[EpisodeSummary]:
        """Yield the episodes that pass the filters, as they are found.

        `lost` is told of those that cannot be read where a filter needs it; without it that is a StoreError.
        """
        return listing.summaries(self.store, filters or Filters(), lost)

    def administrative(self) -> list[str]:
        """Return the ids of the database's administrative logs, the newest epoch first."""
        return admin.episodes(self.store.database) if isinstance(self.store, SqlEventStore) else []

    def state(self, episode: str) -> str:
        """Return running, interrupted or ended."""
        return self.store.row(episode).state

    def episode(self, episode: str) -> Episode:
        """Return an episode as its events tell it."""
        return fold(self.events(episode))

    def first(self, episode: str) -> Event:
        """Return the first event that is there, of whatever version; raise StoreError where there is none."""
        found = next(iter(read_events(self.store, episode, 0, 1)), None)
        return found if found is not None else require_start(episode, [])[0]

    def events(self, episode: str, start: int = 0, *, prompts: bool = True) -> list[Event]:
        """Return the events themselves, from event 0 on only if that one can be read."""
        found = list(read_events(self.store, episode, start, prompts=prompts))
        return found if start else list(require_start(episode, found, self.store))

    def unread(self, episode: str) -> list[Unread]:
        """Return which events are missing, have lost their bodies without a record of it, or cannot be read."""
        expected = self.store.row(episode).events  # asked first: a running episode grows meanwhile
        lost: list[Unread] = []
        with _told_to(lost, episode):
            events = list(read_events(self.store, episode, prompts=False))
        if lost:
            return lost
        return unread(episode, events, expected, told_from=False, store=self.store, untold=())

    def erased(self, episode: str) -> str | None:
        """Say which events of it are erased, by which records; None where none is."""
        return erased_words(self.store, episode, sorted(self.store.proofs(episode)))[0]

    def timeline(self, episode: str, start: int = 0, *, lost: list[Unread] | None = None) -> list[EventLine]:
        """Return one line for each event from `start` on; up to one that cannot be read, if `lost` is to be told."""
        lines: list[EventLine] = []
        with _told_to(lost, episode), explained(self.store, episode):
            lines.extend(line(event, messages) for event, messages in self.store.glance(episode, start))
        return lines

    def glances(self, episode: str, start: int = 0) -> list[Glance]:
        """Return the events from `start` on for a timeline: no prompts, of each long text only the beginning."""
        with explained(self.store, episode):
            return list(self.store.glance(episode, start))

    def event(self, episode: str, seq: int, *, prompt: bool = True) -> EventDetail:
        """Return one event in full; without `prompt`, the messages of a model call are left out."""
        event = self._event(episode, seq, prompt=prompt)
        stored = next(self.store.stored(episode, seq, seq + 1))
        return detail(event, stored, on_record(self.store, episode, [] if stored.body is not None else [seq]).get(seq))

    def details(self, episode: str, *, lost: list[Unread] | None = None) -> Iterator[EventDetail]:
        """Yield every event in full; up to one that cannot be read, if `lost` is to be told."""
        with _told_to(lost, episode):
            erased = on_record(self.store, episode, self.store.proofs(episode))
            for event, stored in zip(read_events(self.store, episode), self.store.stored(episode), strict=True):
                yield detail(event, stored, erased.get(event.seq))

    def prompt(self, episode: str, seq: int) -> tuple[Message, ...]:
        """Return the exact messages of a generate.requested; of an answer, those of its question."""
        return self.messages(episode, seq).messages

    def messages(self, episode: str, seq: int, part: slice = slice(None)) -> Prompt:
        """Return a part of a prompt (see `prompt`) and how many messages it has in all; no others are read."""
        event = self._event(episode, seq, prompt=False)
        asked = getattr(event.body, "request", None)
        if not isinstance(event.body, GenerateRequested) and isinstance(asked, int):
            event = self._event(episode, asked, prompt=False)
        with explained(self.store, episode):
            found = self.store.prompt(episode, event.seq, part)
        if found is None and event.type == GenerateRequested.TYPE:
            raise StoreError(f"the prompt of event {event.seq} of {episode} is gone: it leans on an erased event.")
        if found is None:
            raise UsageError(
                f"event {seq} of {episode} is {event.type}: only a generate.requested, or its answer, has a prompt."
            )
        return found

    def why(self, episode: str, seq: int | None = None, *, lost: list[Unread] | None = None) -> list[WhyItem]:
        """Return the reviews that did not accept everything; with `seq`, the review of the segment that it lies in.

        `lost` is told what cannot be read: the answer is incomplete then. Without it that is a StoreError.
        """
        events = self._told(episode, lost)
        if not events:
            return []
        try:
            return self._why(episode, seq, events)
        except StoreError as error:
            _no_account(episode, lost, error)
            return []

    def _why(self, episode: str, seq: int | None, events: Sequence[Event]) -> list[WhyItem]:
        items = why_items(events)
        if seq is None:
            return [item for item in items if item.decision != "accept"]
        if not 0 <= seq <= events[-1].seq:
            raise UsageError(f"episode {episode} has the events 0 to {events[-1].seq}, not {seq}.")
        begun = [segment for segment, start in segment_starts(events).items() if start <= seq]
        found = [item for item in items if begun and item.segment == begun[-1]]
        if not found:
            where = f"segment {begun[-1]}, which was not reviewed" if begun else "no segment"
            raise UsageError(f"event {seq} of {episode} lies in {where}: there is no verdict to explain.")
        return found

    def rejections(
        self,
        by: Sequence[str] = ("category",),
        filters: Filters | None = None,
        *,
        lost: list[Unread] | None = None,
    ) -> list[RejectionCount]:
        """Count rejections, and unusable reviews apart from them, by category, tool, env or cause; most first.

        Re-verifications judge the same drafts again: they are left out unless `filters.protocol` asks for them.
        `lost` is told what cannot be read, see `why`.
        """
        unknown = [name for name in by if name not in REJECTIONS_BY]
        if unknown:
            named = ", ".join(repr(name) for name in unknown)
            raise UsageError(f"rejections are counted by {', '.join(REJECTIONS_BY)}; not by {named}.")
        counts: Counter[tuple[str, ...]] = Counter()
        where: dict[tuple[str, ...], list[tuple[str, int]]] = {}
        for one in self.iter_episodes(filters, lost=lost):
            again = one.protocol == "reverify" and "reverify" not in (filters or Filters()).protocol
            for item in self._counted(one, lost) if not again else ():
                key = tuple(_rejection_key(name, one, item) for name in by)
                counts[key] += 1
                where.setdefault(key, []).append((one.episode, item.verdict_seq))
        return [
            RejectionCount(key, n, len({episode for episode, _ in where[key]}), "{}:{}".format(*where[key][0]))
            for key, n in sorted(counts.items(), key=lambda counted: (-counted[1], counted[0]))
        ]

    def runs(self, name: str | None = None) -> list[RunSummary]:
        """Return the named runs, newest first; with `name` that one; one that has recorded nothing too."""
        recorded = self.iter_episodes(Filters(run=() if name is None else (name,)))
        found = run_summaries(self.store, recorded, (one for one in begun(self.store) if name in (None, one.name)))
        if name is not None and not found:
            raise UsageError(f"no run is named {name!r}; `spectrace runs` lists them.")
        return found

    def actions(  # noqa: PLR0913 - what is asked for, and who is told
        self,
        filters: Filters | None = None,
        *,
        reads: bool = False,
        episodes: Collection[str] | None = None,
        between: ledger.Between = (None, None),
        lost: list[Unread] | None = None,
        told: ledger.Told | None = None,
    ) -> Iterator[Deed]:
        """Yield the ledger: what changed or may have changed something, what was drafted to and never ran.

        `filters.tool` chooses the actions of that tool, `between` those asked, or else drafted, in that time. Plain
        reads are left out unless asked for, and so is what a resumed episode took over from its parent, where it is
        told. `lost` is told what cannot be read of the episodes that are read, and the
        ledger goes on; without it that is a StoreError. `told` is told how many episodes of how many (0: nobody
        knows) were read.
        """
        filters = filters or Filters()
        kept = isinstance(self.store, SqlEventStore) and ledger.can_choose(self.store, filters)
        if isinstance(self.store, SqlEventStore) and kept and not reads and episodes is None:
            yield from ledger.chosen(self.store, filters, between, lambda name: self._deeds(name, lost), told)
            return
        for number, one in enumerate(self.iter_episodes(replace(filters, tool=())), 1):
            if told is not None:
                told(number, 0)
            if episodes is not None and one.episode not in episodes:
                continue
            for deed in self._deeds(one.episode, lost):
                fits = not filters.tool or deed.tool in filters.tool
                if fits and (reads or changes_state(deed)) and ledger.within(deed, between):
                    yield deed

    def violations(
        self,
        episode: str,
        *,
        rules: Sequence[Rule] | None = None,
        lost: list[Unread] | None = None,
        tally: Tally | None = None,
    ) -> list[Violation]:
        """Return which rules an episode breaks, of all or of those given.

        `lost` is told what cannot be read, see `why`; `tally` counts what was judged, and hears of rules that raise.
        """
        return broken(self.store, episode, self._told(episode, lost), rules, tally)

    def account(self, episode: str, lost: list[Unread]) -> list[Event]:
        """Return the events that an account is made from, without prompts; `lost` is told what cannot be read."""
        return self._told(episode, lost, untold=())

    def _deeds(self, episode: str, lost: list[Unread] | None) -> list[Deed]:
        try:
            return own_deeds(self._told(episode, lost, untold=UNTOLD))
        except StoreError as error:
            _no_account(episode, lost, error)
            return []

    def _counted(self, one: EpisodeSummary, lost: list[Unread] | None) -> list[WhyItem]:
        """Return the reviews to count; an episode whose totals say that there is none is not read."""
        items = self.why(one.episode, lost=lost) if one.rejections or one.unusable else []
        return [item for item in items if not item.taken_over]  # a fork's own; its parent's are counted there

    def _told(self, episode: str, lost: list[Unread] | None, *, untold: Container[str] | None = None) -> list[Event]:
        """Return the events that an account is made from; what cannot be read of them goes to `lost`.

        With `untold`, headers of erased events are enough, but for those of these types.
        """
        expected = self.store.row(episode).events  # asked first: a running episode grows meanwhile
        try:
            events = list(read_events(self.store, episode, prompts=False))  # they would grow with the square of it
            if untold is None or not begins_erased(events):
                require_start(episode, events, self.store)
        except EpisodeNotFound:
            raise
        except StoreError as error:
            if lost is None:
                raise
            lost.append(Unread(episode, None, str(error)))
            return []
        missing, newer = unread(episode, events, expected, store=self.store, untold=untold), first_newer(events)
        if missing and lost is None:
            raise StoreError(missing[0].detail) if newer is None else newer_version(newer)
        if lost is not None:
            lost += missing
        return events if newer is None else []  # an account that may be misread is none

    def _event(self, episode: str, seq: int, *, prompt: bool = True) -> Event:
        row = self.store.row(episode)
        there = read_events(self.store, episode, seq, seq + 1, prompts=prompt) if 0 <= seq < row.events else iter(())
        found = next(there, None)
        if found is None or found.seq != seq:
            raise UsageError(f"episode {episode} has the events 0 to {row.events - 1}, not {seq}.")
        return found


@contextmanager
def _told_to(lost: list[Unread] | None, episode: str) -> Iterator[None]:
    """Tell `lost` of what cannot be read, and end there; without it, raise."""
    try:
        yield
    except EpisodeNotFound:
        raise
    except StoreError as error:
        _no_account(episode, lost, error)


def _no_account(episode: str, lost: list[Unread] | None, error: StoreError) -> None:
    """Tell `lost` of events that make no account, unless it knows of some that are missing; without it, raise."""
    if lost is None:
        raise error
    if all(one.episode != episode for one in lost):
        lost.append(Unread(episode, None, str(error)))


def _rejection_key(by: str, one: EpisodeSummary, item: WhyItem) -> str:
    match by:
        case "category":
            return item.category or item.decision
        case "tool":
            return tool_name(item.rejected.action) if item.rejected else "-"
        case "env":
            return one.env
        case _:
            return item.cause or "-"
