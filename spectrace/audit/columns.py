"""The columns of a comparison: the episodes of runs, grouped by what made them, one for each (task, trial).

Of several episodes of one cell the first with a result stands, and the others are superseded: counted, never chosen
from. Without a result the last one stands for the cell, and is excluded from scores.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from spectrace.audit.answers import EpisodeSummary, Filters
from spectrace.audit.batches import begun
from spectrace.audit.costing import CostGroup, Costing, Made, cost_groups, read_spendings
from spectrace.audit.near_threshold import ScoredSteps, scored_steps
from spectrace.audit.queries import Reader
from spectrace.audit.reading import Unread
from spectrace.audit.spending import Spending
from spectrace.audit.standing import score_number, standing
from spectrace.core.fold import Episode, fold
from spectrace.core.options import recorded_options
from spectrace.errors import UsageError

_WEAK_ONLY, _STRONG_ONLY = "weak-only", "strong-only"


@dataclass(frozen=True, slots=True)
class Counted:
    """One episode that stands for its cell."""

    summary: EpisodeSummary
    spending: Spending
    score: float | None
    """Its reward, 0 where it was truncated; None where it is left out of scores."""
    unreviewed: int
    """Drafted steps that were committed without a verdict."""
    drafted: int
    """Drafted steps that were committed after a verdict, or without one."""
    by_score: ScoredSteps
    """What scored verdicts judged."""

    @property
    def task(self) -> str:
        """The task as a cluster: environment and digest."""
        return self.spending.task


@dataclass(frozen=True, slots=True, eq=False)
class ComparedColumn:
    """Episodes that were made alike."""

    label: str
    made: Made
    scored: tuple[Counted, ...]
    excluded: tuple[Counted, ...]
    """What says nothing of the agent: infrastructure failures, and episodes without a grade."""
    superseded: int
    cost: CostGroup | None
    """Of the scored episodes; None where there is none."""

    @property
    def episodes(self) -> tuple[Counted, ...]:
        """All that stand for a cell."""
        return (*self.scored, *self.excluded)


def read_columns(reader: Reader, runs: Sequence[str], costing: Costing, lost: list[Unread]) -> list[ComparedColumn]:
    """Return the columns of the runs, in the order of the runs and of their protocols' first episodes.

    `lost` is told what cannot be read: it is in no column.
    """
    found: list[Counted] = []
    for run in dict.fromkeys(runs):
        summaries = [
            one
            for one in reader.episodes(Filters(run=(run,), sort="started_at"), lost=lost)
            if one.protocol != "reverify"
        ]
        if not summaries:
            empty = any((one.name, one.kind) == (run, "run") for one in begun(reader.store))
            what = f"run {run!r} has recorded no episode" if empty else f"no run of episodes is named {run!r}"
            raise UsageError(f"{what}; `spectrace runs` lists them.")
        for one in summaries:
            found += [_counted(reader, one, spending) for spending in read_spendings(reader, [one.episode], lost)]
    groups: dict[Made, list[Counted]] = {}
    for counted in found:
        groups.setdefault(_made(counted), []).append(counted)
    labels = _labels(list(groups))
    return [_column(labels[made], made, group, costing) for made, group in groups.items()]


def _counted(reader: Reader, summary: EpisodeSummary, spending: Spending) -> Counted:
    episode = fold(reader.events(summary.episode, prompts=False))
    unreviewed, reviewed = _reviewed(episode)
    score = score_number(summary.status, summary.end_reason, summary.reward)
    return Counted(summary, spending, score, unreviewed, unreviewed + reviewed, scored_steps(episode))


def _reviewed(episode: Episode) -> tuple[int, int]:
    """Return how many drafted steps were committed without and with a verdict."""
    counts = Counter(
        folded.reviewed for segment in episode.segments for folded in segment.steps if folded.fate == "committed"
    )
    return counts["no"], counts["yes"]


def _made(one: Counted) -> Made:
    started = one.spending.started
    models = {facts.role: f"{facts.provider}:{facts.name}" for facts in started.models}
    return Made(started.protocol, started.run, started.options, models.get("weak"), models.get("strong"))


def _column(label: str, made: Made, group: Sequence[Counted], costing: Costing) -> ComparedColumn:
    stand = standing(group, lambda one: (one.task, one.summary.trial), lambda one: one.score)
    scored = tuple(one for one in stand if one.score is not None)
    costed = cost_groups([one.spending for one in scored], costing)
    return ComparedColumn(
        label,
        made,
        scored,
        tuple(one for one in stand if one.score is None),
        len(group) - len(stand),
        costed[0] if costed else None,
    )


def _labels(mades: Sequence[Made]) -> dict[Made, str]:
    """Return the protocol's name where that says which it is, else with its run, its options, its models."""
    labels = {made: made.protocol for made in mades}
    further: tuple[Callable[[Made, Sequence[Made]], str], ...] = (
        lambda made, _: f"{made.run}/{made.protocol}",
        lambda made, twins: f"{made.run}/{made.protocol}{_options_apart(made, twins)}",
        lambda made, twins: (
            f"{made.run}/{made.protocol}{_options_apart(made, twins)} "
            f"{' + '.join(model for model in (made.weak, made.strong) if model is not None)}"
        ),
    )
    for longer in further:
        twins = {made: [other for other in mades if labels[other] == labels[made]] for made in mades}
        labels = {made: longer(made, twins[made]) if len(twins[made]) > 1 else labels[made] for made in mades}
    return labels


def _options_apart(made: Made, twins: Sequence[Made]) -> str:
    """Return those of the options that are not the same in all."""
    mine, others = recorded_options(made.options) or {}, [recorded_options(one.options) or {} for one in twins]
    apart = [name for name in mine if any(other.get(name) != mine[name] for other in others)]
    return "".join(f" {name}={json.dumps(mine[name])}" for name in apart)


def named_column(columns: Sequence[ComparedColumn], name: str) -> ComparedColumn:
    """Return the one column of that label or protocol; raise UsageError otherwise."""
    found = [one for one in columns if one.label == name] or [one for one in columns if one.made.protocol == name]
    if len(found) != 1:
        there = ", ".join(one.label for one in columns)
        what = f"no column is named {name!r}" if not found else f"{len(found)} columns are of {name!r}"
        raise UsageError(f"{what}; there are {there}.")
    return found[0]


def weak_alone(columns: Sequence[ComparedColumn], beside: ComparedColumn) -> ComparedColumn | None:
    """Return the weak-only column that a column is held against: of its own run, else the only one."""
    return _alone(columns, beside, _WEAK_ONLY)


def strong_alone(columns: Sequence[ComparedColumn], beside: ComparedColumn) -> ComparedColumn | None:
    """Return the strong-only column that a column is held against: of its own run, else the only one."""
    return _alone(columns, beside, _STRONG_ONLY)


def _alone(columns: Sequence[ComparedColumn], beside: ComparedColumn, protocol: str) -> ComparedColumn | None:
    those = [one for one in columns if one.made.protocol == protocol]
    own = [one for one in those if one.made.run == beside.made.run]
    return own[0] if len(own) == 1 else those[0] if len(those) == 1 else None


def environments(columns: Iterable[ComparedColumn]) -> list[str]:
    """Return the environments of all episodes, sorted."""
    return sorted({one.summary.env for column in columns for one in column.episodes})
