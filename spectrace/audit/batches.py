"""Named runs, told from their episodes: what each is about, how far it is, what came of it."""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from spectrace.audit.answers import EpisodeSummary, RunSummary
from spectrace.audit.lines import counted
from spectrace.core.digest import digest_of

_FAILED = ("failed", "interrupted")


def run_summaries(episodes: Iterable[EpisodeSummary]) -> list[RunSummary]:
    """Group the episodes that belong to a run; the run that began last comes first."""
    groups: dict[tuple[str, str], list[EpisodeSummary]] = {}
    for one in episodes:
        if one.run is not None:
            groups.setdefault((one.run, kind_of(one)), []).append(one)
    found = [_summary(run, kind, group) for (run, kind), group in groups.items()]
    return sorted(found, key=lambda one: (-one.started_at, one.run, one.kind))


def kind_of(one: EpisodeSummary) -> str:
    """Return run, import or reverify."""
    return {"reverify": "reverify", "imported": "import"}.get(one.protocol, "run")


def _summary(run: str, kind: str, group: Sequence[EpisodeSummary]) -> RunSummary:
    failed = sum(one.status in _FAILED for one in group)
    running = sum(one.status == "running" for one in group)
    costs = [(one.cost_usd, one.cost_usd_at_least) for one in group]
    partly = any(cost is None for cost, _ in costs)
    return RunSummary(
        run=run,
        kind=kind,
        selection=_selection(kind, group),
        selection_digest=digest_of(sorted(_identity(kind, one) for one in group)),
        started_at=min(one.started_at for one in group),
        total=len(group),
        done=len(group) - failed - running,
        failed=failed,
        reviews=sum(one.reviews for one in group),
        rejections=sum(one.rejections for one in group),
        unusable=sum(one.unusable for one in group),
        cost_usd=None if partly else dollars_of(cost for cost, _ in costs),
        state="running" if running else "ended",
        cost_usd_at_least=dollars_of(cost or least for cost, least in costs) if partly else None,
    )


def dollars_of(costs: Iterable[str | None]) -> str | None:
    """Return the sum of those that are known; None where none is."""
    known = [Decimal(cost) for cost in costs if cost is not None]
    return format(sum(known, Decimal(0)).normalize(), "f") if known else None


def _selection(kind: str, group: Sequence[EpisodeSummary]) -> str:
    environments = ", ".join(sorted({one.env for one in group}))
    if kind == "reverify":
        return f"reviews of {counted(len({one.parent for one in group}), 'episode')} on {environments}"
    tasks, trials = len({(one.env, one.task) for one in group}), len({one.trial for one in group})
    return f"{environments}: {counted(tasks, 'task')}, {counted(trials, 'trial')}"


def _identity(kind: str, one: EpisodeSummary) -> list[str]:
    if kind == "reverify":
        return [one.parent or "", str(one.parent_seq)]
    return [one.env, one.task, str(one.trial)]
