"""Named runs: what each was asked for, how much of it is done, failed or left, and what came of it."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from spectrace.audit.answers import EpisodeSummary, RunSummary
from spectrace.audit.lines import counted
from spectrace.audit.results import has_result
from spectrace.core.digest import digest_of
from spectrace.core.endings import infrastructure
from spectrace.core.events import EpisodeStarted
from spectrace.core.rereviews import REVERIFY, scope_of
from spectrace.store.asked import Key, cells_asked
from spectrace.store.listing import Listable
from spectrace.store.runs import Run, every, whole_parts
from spectrace.store.sql import SqlEventStore

Cell = tuple[str | int, ...]
"""A piece of a run: (task, trial, protocol), of a re-verification (episode, repeat)."""


def run_summaries(store: Listable, episodes: Iterable[EpisodeSummary], begun: Iterable[Run] = ()) -> list[RunSummary]:
    """Return the runs that episodes belong to, or that were begun, recorded or not; the last one begun first."""
    known = {(run.name, run.kind): run for run in begun}
    groups: dict[tuple[str, str], list[EpisodeSummary]] = {of: [] for of in known}
    for one in episodes:
        if one.run is not None:
            groups.setdefault((one.run, kind_of(one)), []).append(one)
    found = [_summary(store, run, kind, group, known.get((run, kind))) for (run, kind), group in groups.items()]
    return sorted(found, key=lambda one: (-one.started_at, one.run, one.kind))


def begun(store: Listable) -> list[Run]:
    """Return the runs that a database knows by themselves; none in a log that is no database."""
    return every(store) if isinstance(store, SqlEventStore) else []


def asked_of(store: Listable, run: str) -> frozenset[Key]:
    """Return what a run of episodes was asked for: (task, trial, protocol); none where nobody kept it."""
    return frozenset(cell for one in begun(store) if one.name == run for cell in cells_asked(one.settings))


def kind_of(one: EpisodeSummary) -> str:
    """Return run, import or reverify."""
    return {REVERIFY: "reverify", "imported": "import"}.get(one.protocol, "run")


@dataclass(frozen=True, slots=True)
class _Progress:
    total: int
    done: int
    failed: int
    running: int
    asked: frozenset[Cell]

    @property
    def left(self) -> int:
        return self.total - self.done - self.failed - self.running

    @property
    def state(self) -> str:
        if self.running:
            return "running"
        return "stopped" if self.asked and self.done < self.total else "ended"


def _progress(store: Listable, kind: str, group: Sequence[EpisodeSummary], known: Run | None) -> _Progress:
    """Count cells, not episodes: one that failed and was run again is done, once."""
    states: dict[Cell, set[str]] = {cell: {"done"} for cell in _whole(store, known)}
    repeats = _repeats(known)
    for one in group:
        states.setdefault(_cell(store, kind, one, repeats), set()).add(_state(store, kind, one))
    counts = [
        next(state for state in ("done", "running", "failed", "left") if state in each) for each in states.values()
    ]
    asked = _asked(known)
    return _Progress(
        len(asked | set(states)), counts.count("done"), counts.count("failed"), counts.count("running"), asked
    )


def _asked(known: Run | None) -> frozenset[Cell]:
    if known is None:
        return frozenset()
    repeats = range(1, _repeats(known) + 1)
    selected = frozenset((episode, repeat) for episode, _ in known.selection for repeat in repeats)
    return selected | cells_asked(known.settings)


def _repeats(known: Run | None) -> int:
    """Return how often a re-verification judges everything; 0 where no run says."""
    settings = json.loads(known.settings) if known is not None else None
    found = settings.get("repeat", 1) if isinstance(settings, dict) else 0
    return found if type(found) is int else 0


def _whole(store: Listable, known: Run | None) -> Collection[Cell]:
    """Return the parts of which a run says that nothing is left, one without anything to review among them."""
    if known is None or known.kind != REVERIFY or not isinstance(store, SqlEventStore):
        return ()
    return whole_parts(store, known.name)


def _cell(store: Listable, kind: str, one: EpisodeSummary, repeats: int) -> Cell:
    match kind:
        case "reverify":
            return one.parent or one.episode, 1 if repeats == 1 else _repeat(store, one)
        case "import":  # a file may hold a task and trial twice
            return (one.episode,)
        case _:
            return one.task, one.trial, one.protocol


def _repeat(store: Listable, one: EpisodeSummary) -> int:
    """Return which repeat a child belongs to: only its first event says it."""
    first = next(iter(store.read(one.episode, 0, 1)), None)
    return scope_of(first.body).repeat if first is not None and isinstance(first.body, EpisodeStarted) else 1


def _state(store: Listable, kind: str, one: EpisodeSummary) -> str:
    if one.status == "running":
        return "running"
    if kind == "reverify" and one.status == "interrupted":
        return "left"  # cut off, by whatever: nothing of it failed, and it goes on where it stopped
    # Only a run's own episodes are graded here.
    done = has_result(store, one) if kind == "run" else not infrastructure(one.status, one.end_reason)
    return "done" if done else "failed"


def _summary(store: Listable, run: str, kind: str, group: Sequence[EpisodeSummary], known: Run | None) -> RunSummary:
    progress = _progress(store, kind, group, known)
    costs = [(one.cost_usd, one.cost_usd_at_least) for one in group]
    partly = any(cost is None for cost, _ in costs)
    began = [one.started_at for one in group] + ([known.created_at] if known is not None else [])
    selected = _selected(kind, group, known)
    return RunSummary(
        run=run,
        kind=kind,
        selection=_in_words(kind, group, selected, known),
        selection_digest=_digest(kind, selected, known),
        started_at=min(began),
        total=progress.total,
        done=progress.done,
        failed=progress.failed,
        left=progress.left,
        episodes=len(group),
        reviews=sum(one.reviews for one in group),
        rejections=sum(one.rejections for one in group),
        unusable=sum(one.unusable for one in group),
        cost_usd=None if partly else dollars_of(cost for cost, _ in costs),
        state="cancelled" if known is not None and known.cancelled_at is not None else progress.state,
        cost_usd_at_least=dollars_of(cost or least for cost, least in costs) if partly else None,
        stated_usd=dollars_of(one.stated_usd for one in group),
    )


def _digest(kind: str, selected: Collection[tuple[str, ...]], known: Run | None) -> str:
    if kind == REVERIFY and known is not None:
        return known.selection_digest
    # A name may hold half a pair, which JSON cannot: said as an escape; a name that looks so too gives the same digest.
    said = sorted(tuple(name.encode("utf-8", "backslashreplace").decode() for name in one) for one in selected)
    return digest_of(said)


def dollars_of(costs: Iterable[str | None]) -> str | None:
    """Return the sum of those that are known; None where none is."""
    known = [Decimal(cost) for cost in costs if cost is not None]
    return format(sum(known, Decimal(0)).normalize(), "f") if known else None


def _selected(kind: str, group: Sequence[EpisodeSummary], known: Run | None) -> set[tuple[str, ...]]:
    """Return (environment, task, trial), or of a re-verification (episode, its last event's number), each once."""
    if kind == "reverify":
        return {(one.parent or "", str(one.parent_seq)) for one in group}
    own = _environment(known)
    found = {(own or one.env, one.task, str(one.trial)) for one in group}
    asked = cells_asked(known.settings) if known is not None else frozenset()
    return found | {(own or "?", task, str(trial)) for task, trial, _ in asked}


def _environment(known: Run | None) -> str | None:
    """Return the environment as it was named on the command line; None where no run says."""
    settings = json.loads(known.settings) if known is not None else None
    name = settings.get("env") if isinstance(settings, dict) else None
    return name if isinstance(name, str) else None


def _in_words(
    kind: str, group: Sequence[EpisodeSummary], selected: Collection[tuple[str, ...]], known: Run | None
) -> str:
    if kind == "reverify":
        on = f" on {', '.join(sorted({one.env for one in group}))}" if group else ""
        episodes = {parent for parent, _ in selected} | {
            episode for episode, _ in (known.selection if known is not None else ())
        }
        times = f", {repeats} times" if (repeats := _repeats(known)) > 1 else ""
        return f"reviews of {counted(len(episodes), 'episode')}{on}{times}"
    environments = ", ".join(sorted({env for env, _, _ in selected}))
    tasks, trials = len({(env, task) for env, task, _ in selected}), len({trial for _, _, trial in selected})
    return f"{environments}: {counted(tasks, 'task')}, {counted(trials, 'trial')}"
