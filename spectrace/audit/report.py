"""A report on a log, or a part of it, as values: what is unknown, what broke a rule, what ran, how far it is proved.

It asks what the commands of the audit ask, over the same episodes, so its numbers are theirs. The log is read part by
part: one that is written to meanwhile may be further on in a later part than in an earlier one, so a report says from
when to when it was read. `report_page` makes a page of it.
"""

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from spectrace import __version__
from spectrace.audit.answers import Filters
from spectrace.audit.checkpoint_files import Held
from spectrace.audit.covering import covering
from spectrace.audit.integrity import VerifyResult
from spectrace.audit.ledger import Between
from spectrace.audit.lines import counted
from spectrace.audit.queries import Reader
from spectrace.audit.reading import Unread, begins_erased
from spectrace.audit.report_figures import Figures
from spectrace.audit.report_log import LogIdentity, identity
from spectrace.audit.report_open import OpenAction, may_be_open, open_actions
from spectrace.audit.report_proof import Trust, Witness, verify, witness
from spectrace.audit.report_records import Record, records
from spectrace.audit.report_rows import Deeds
from spectrace.audit.rules import RULES, Rule, Tally, Violation
from spectrace.audit.rules_reading import broken
from spectrace.audit.unknowns import NotKnown
from spectrace.audit.unknowns_reading import unknowns_of
from spectrace.audit.unreviewed import Unreviewed, unreviewed
from spectrace.core.deeds import Deed
from spectrace.errors import EpisodeNotFound
from spectrace.store.process import operator

MOST_ROWS = 5_000
"""Rows of a table, unless more are asked for."""

Told = Callable[[str], None]
"""Is told what is being done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a report is to be about."""

    title: str
    url: str
    """The log, as it was named."""
    selection: str
    """Which episodes, in the words of the command line."""
    episodes: Collection[str] | None = None
    """None: those that pass the filters."""
    filters: Filters = field(default_factory=Filters)
    between: Between = (None, None)
    """Actions asked, or else drafted, in this time, and the episodes that lie in it with any part of them."""
    rows: int | None = MOST_ROWS
    """Of each table; None: all."""
    rules: Sequence[Rule] = tuple(RULES.values())
    trust: Trust | None = None


@dataclass(slots=True, kw_only=True)
class Report:
    """All that the page says. The tables `ran` and `never` can be read while the report is lent."""

    wanted: Wanted
    log: LogIdentity
    made_by: str
    spectrace: str
    begun_at: int
    ran: Deeds
    """Actions that were sent, whatever came of them."""
    never: Deeds
    """Drafted, and held, rejected or dropped: they never ran."""
    read_until: int = 0
    episodes: list[str] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    figures: Figures = field(default_factory=Figures)
    unknowns: list[NotKnown] = field(default_factory=list)
    unreviewed: list[Unreviewed] = field(default_factory=list)
    open: list[OpenAction] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    unasked: list[str] = field(default_factory=list)
    """Episodes of which no rule could be asked: their beginnings are erased."""
    records: list[Record] = field(default_factory=list)
    verified: list[tuple[VerifyResult, str | None]] = field(default_factory=list)
    """Each with the head of the episode, in hex; None where there is no such episode."""
    witness: Witness | None = None
    lost: list[Unread] = field(default_factory=list)
    """What cannot be read, each once."""


@contextmanager
def report(reader: Reader, wanted: Wanted, told: Told = lambda _: None) -> Iterator[Report]:
    """Read a log and lend what is to be said of it."""
    with ExitStack() as open_files:
        ran, never = Deeds(wanted.rows), Deeds(wanted.rows)
        open_files.callback(ran.close)
        open_files.callback(never.close)
        by = operator()
        made = Report(
            wanted=wanted,
            log=identity(reader, wanted.url, lambda done, of: told(f"{100 * done // of} % of the file hashed")),
            made_by=f"{by.user}@{by.host}",
            spectrace=__version__,
            begun_at=time.time_ns() // 1000,
            ran=ran,
            never=never,
        )
        _gather(reader, made, told)
        yield made


def _gather(reader: Reader, made: Report, told: Told) -> None:
    wanted = made.wanted
    acting = _actions(reader, made, told)
    _choose(reader, made, acting)
    of = counted(len(made.episodes), "episode")
    trust = wanted.trust
    proved = trust if trust is not None and isinstance(trust.held, Held) else None
    covered = covering(reader.store, None) if proved is None else covering(reader.store, proved.path, proved.key)
    made.unknowns = list(
        unknowns_of(reader.store, made.episodes, covered, made.lost, lambda done: told(f"unknowns: {done:,} of {of}"))
    )
    for number, name in enumerate(made.episodes, 1):
        told(f"rules: {number:,} of {of}")
        events = reader.account(name, made.lost)
        made.unreviewed += unreviewed(events)
        if begins_erased(events):  # who may do what is not known: `audit violations` asks no rule of it either
            made.unasked.append(name)
        else:
            made.violations += broken(reader.store, name, events, wanted.rules, made.tally)
    logs = reader.administrative()
    made.records = records(reader.store, logs, made.lost)
    _verify(reader, made, logs, told)
    made.lost = list({(one.episode, one.detail): one for one in made.lost}.values())
    made.read_until = time.time_ns() // 1000


def _actions(reader: Reader, made: Report, told: Told) -> set[str]:
    """Read the ledger; return the episodes that it names."""
    wanted, acting, maybe = made.wanted, set[str](), list[Deed]()
    filters = replace(wanted.filters, sort="started_at")

    def show(done: int, of: int) -> None:
        told(f"actions: {done:,}{f' of {of:,}' if of else ''} episodes")

    for deed in reader.actions(filters, episodes=wanted.episodes, between=wanted.between, lost=made.lost, told=show):
        acting.add(deed.episode)
        made.figures.count(deed)
        (made.ran if deed.requested_at is not None else made.never).add(deed)
        if may_be_open(deed):
            maybe.append(deed)
    made.open = list(open_actions(reader.store, maybe, made.lost))
    return acting


def _choose(reader: Reader, made: Report, acting: Collection[str]) -> None:
    """Name the episodes: those that lie in the time with any part of them, or that an action in it belongs to."""
    low, high = made.wanted.between
    for one in reader.iter_episodes(replace(made.wanted.filters, sort="started_at"), lost=made.lost):
        if made.wanted.episodes is not None and one.episode not in made.wanted.episodes:
            continue
        began = high is None or one.started_at < high
        lasted = low is None or one.ended_at is None or one.ended_at >= low
        if (began and lasted) or one.episode in acting:
            made.episodes.append(one.episode)
            made.statuses[one.status] += 1


def _verify(reader: Reader, made: Report, logs: Sequence[str], told: Told) -> None:
    wanted = made.wanted
    whole = wanted.episodes is None and wanted.filters == Filters() and wanted.between == (None, None)

    def show(done: int, of: int) -> None:
        told(f"verify: {done:,} of {of:,}")

    filters = wanted.filters if wanted.between[1] is None else replace(wanted.filters, until=wanted.between[1])
    chosen_by = None if whole or wanted.episodes is not None else filters
    results = verify(reader, [*made.episodes, *logs], wanted.trust, wanted.url if whole else None, show, chosen_by)
    made.witness = None if wanted.trust is None else witness(wanted.trust)
    for result in results:
        try:
            head = reader.store.row(result.episode).head.hex()
        except EpisodeNotFound:  # it was removed, or it is no episode: the result says so
            head = None
        made.verified.append((result, head))
