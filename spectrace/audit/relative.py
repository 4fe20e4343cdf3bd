"""R of a group of episodes against a strong-only run on the same tasks: accounted, by Proposition 1, predicted.

Three values in each measure, never mixed (PROTOCOL section 4). Without a reference nothing says what a strong model's
own step costs, and R is unknown. An answered call whose cost is unknown makes R unknown in that measure; one that
failed and told nothing is left out and counted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum

from spectrace.audit.costing import CostGroup
from spectrace.audit.spending import Asked, Spending
from spectrace.core.types import Usage
from spectrace.cost.accounting import Account, Proposition, RoundCost, StrongCost, account, proposition
from spectrace.cost.phases import MEASURES
from spectrace.cost.prediction import Prediction, TaskRounds, plain_parameters, predict

_STRONG, _BOTH = frozenset({"strong"}), frozenset({"strong", "weak"})
REFERENCE = "strong-only"
"""The protocol of a reference; a one-model recording from elsewhere (`imported`) is one too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InMeasure:
    """R in one measure. Where a value is a text, it says why there is none."""

    accounted: Account | str
    proposition: Proposition | str
    predicted: Prediction | str
    apart: float | None
    """Re-asks and turns that an unusable reply led to, per committed step: beside R, known also where R is not."""
    per_task: float | None
    """All strong calls of a task over those of the reference, mean over tasks; None where something is unknown."""
    per_task_all: float | None
    """The same with the weak model's calls: what the protocol costs in all."""
    left_out: int
    """Failed calls of unknown cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Time per committed step in strong steps, accounted as Proposition 2 has it."""

    kappa: float
    """What a call of the weak model takes."""
    drafting: float
    """What the weak model takes for each committed step: kappa and how often it is called."""
    relative: float
    """All that the models take: R in time, its line apart, and the drafting. Below 1 the task ends sooner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relative:
    """R of a group, on the tasks that the reference has too."""

    tasks: int
    measures: dict[str, InMeasure]
    """By MEASURES."""
    judged: tuple[float, float] | None
    """Judged steps that stood, and drafted steps per review: the p and n of Proposition 1's assumptions, measured."""
    latency: Latency | None
    """None where R in time is unknown, or no weak model wrote."""


def relative(group: CostGroup, reference: Sequence[CostGroup]) -> Relative | str:
    """Return R of a group, or why there is none. Of the reference only the strong-only episodes count."""
    alone = [one for one in reference if _acts_alone(one)]
    if not alone:
        return f"the reference has no {REFERENCE} episode" if reference else "no reference was named (--reference)"
    common = group.tasks & {task for one in alone for task in one.tasks}
    if not common:
        return "the reference has none of these tasks"
    mine = [one for one in group.spendings if one.task in common]
    measures = {measure: _in_measure(measure, group, mine, alone, common) for measure in MEASURES}
    return Relative(
        tasks=len(common),
        measures=measures,
        judged=plain_parameters(_task_rounds(mine, None)),
        latency=_latency(group, mine, measures["seconds"].accounted),
    )


def _acts_alone(group: CostGroup) -> bool:
    return group.made.protocol == REFERENCE or (group.made.protocol == "imported" and group.made.weak is None)


def _latency(group: CostGroup, mine: Sequence[Spending], strong: Account | str) -> Latency | None:
    weak = [asked for one in mine for asked in one.calls if asked.who == "weak"]
    took = _Ledger("seconds", [group]).cost(weak)
    if isinstance(strong, str) or took is None or not weak:
        return None
    drafting = took / strong.steps / strong.d
    return Latency(kappa=took / len(weak) / strong.d, drafting=drafting, relative=strong.r + strong.apart + drafting)


def _in_measure(
    measure: str, group: CostGroup, mine: Sequence[Spending], alone: Sequence[CostGroup], common: set[str]
) -> InMeasure:
    here = _Ledger(measure, [group])
    there = _Ledger(measure, alone)
    theirs = [one for reference in alone for one in reference.spendings if one.task in common]
    d, cost = there.step(theirs), here.strong_cost(mine)
    if isinstance(d, str):
        return _unknown(f"reference: {d}", here)
    if isinstance(cost, str):
        return _unknown(cost, here)
    lines = account(cost, d)
    return InMeasure(
        accounted=lines,
        proposition=lines if isinstance(lines, str) else proposition(lines),
        predicted=_predicted(lines, mine, here, d),
        apart=cost.beside / cost.steps / d if cost.steps and d > 0 else None,
        per_task=_per_task((here, mine), (there, theirs), common, _STRONG),
        per_task_all=_per_task((here, mine), (there, theirs), common, _BOTH),
        left_out=here.left_out,
    )


def _predicted(lines: Account | str, mine: Sequence[Spending], here: "_Ledger", d: float) -> Prediction | str:
    if isinstance(lines, str):
        return lines
    return predict(_task_rounds(mine, here), d) if lines.reviews else "nothing was reviewed"


def _unknown(why: str, here: "_Ledger") -> InMeasure:
    return InMeasure(
        accounted=why,
        proposition=why,
        predicted=why,
        apart=None,
        per_task=None,
        per_task_all=None,
        left_out=here.left_out,
    )


class _Ledger:
    """Looks up what calls cost in one measure."""

    def __init__(self, measure: str, groups: Iterable[CostGroup]) -> None:
        self._measure = measure
        self._calls = {asked: call for group in groups for asked, call in group.calls.items()}
        self.left_out = 0

    def cost(self, calls: Iterable[Asked]) -> float | None:
        """Return the sum; None where an answered call's cost is unknown."""
        costs = []
        for asked in calls:
            call = self._calls[asked]
            cost = call.cost(self._measure)
            if cost is None and not (call.failed and call.usage == Usage()):
                return None
            costs.append(cost or 0.0)
        return fsum(costs)

    def strong_cost(self, spendings: Sequence[Spending]) -> StrongCost | str:
        """Return all strong calls as the accounting takes them, or why that cannot be."""
        rounds, acting, apart = [], [], []
        for one in spendings:
            parts = [(self.cost(made.review), self.cost(made.repair)) for made in one.rounds]
            others = self.cost(one.acting), self.cost(one.apart)
            if None in others or any(None in pair for pair in parts):
                return self._unknown(spendings)
            for made, (review, repair) in zip(one.rounds, parts, strict=True):
                rounds.append(RoundCost(made.round.accepts, review or 0.0, repair or 0.0))
            acting.append(others[0] or 0.0)
            apart.append(others[1] or 0.0)
        self.left_out = sum(
            self._calls[asked].cost(self._measure) is None for one in spendings for asked in _strong(one)
        )
        steps = sum(one.steps for one in spendings)
        return StrongCost(steps=steps, rounds=rounds, acting=fsum(acting), apart=fsum(apart))

    def step(self, spendings: Sequence[Spending]) -> float | str:
        """Return d: what a strong model's own step costs, re-asks left out as they are of R."""
        steps = sum(one.steps for one in spendings)
        if not steps:
            return "no step was committed"
        spent = self.cost(asked for one in spendings for asked in one.acting)
        return self._unknown(spendings) if spent is None else spent / steps

    def total(self, one: Spending, whose: frozenset[str]) -> float | None:
        """Return what all calls of these models cost in an episode."""
        return self.cost(asked for asked in one.calls if asked.who in whose)

    def _unknown(self, spendings: Sequence[Spending]) -> str:
        calls = [self._calls[asked] for one in spendings for asked in _strong(one)]
        unknown = sum(call.cost(self._measure) is None for call in calls)
        needs = {
            "seconds": "no latency",
            "usd": "no price, or no count of tokens",
        }.get(self._measure, "no count of tokens, or a model whose architecture is unknown (--profile)")
        return f"{unknown} of {len(calls)} strong calls have {needs}"


def _strong(one: Spending) -> list[Asked]:
    return [asked for asked in one.calls if asked.who == "strong"]


def _task_rounds(spendings: Sequence[Spending], ledger: _Ledger | None) -> list[TaskRounds]:
    """Return the rounds of each task, all trials together, with their cost if there is a ledger."""
    by_task: dict[str, list[Spending]] = {}
    for one in spendings:
        by_task.setdefault(one.task, []).append(one)
    found = []
    for task, trials in by_task.items():
        rounds = [
            made.round.costing(0.0 if ledger is None else ledger.cost((*made.review, *made.repair)) or 0.0)
            for one in trials
            for made in one.rounds
        ]
        found.append(TaskRounds(task, rounds, sum(one.tail for one in trials)))
    return found


def _per_task(
    mine: tuple[_Ledger, Sequence[Spending]],
    theirs: tuple[_Ledger, Sequence[Spending]],
    common: set[str],
    whose: frozenset[str],
) -> float | None:
    """Return the ratio of what a task costs, each task's trials taken as their mean."""
    sums = []
    for ledger, spendings in (mine, theirs):
        means = []
        for task in sorted(common):
            costs = [ledger.total(one, whose) for one in spendings if one.task == task]
            known = [cost for cost in costs if cost is not None]
            if len(known) < len(costs):
                return None
            means.append(fsum(known) / len(known))
        sums.append(fsum(means))
    return sums[0] / sums[1] if sums[1] else None
