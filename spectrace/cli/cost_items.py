"""The items of `spectrace cost --json`: one a phase, and one for all phases of a group, which has R."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from math import isfinite

from spectrace.audit.costing import CostGroup
from spectrace.audit.relative import InMeasure, Relative
from spectrace.cost.accounting import Account, Proposition
from spectrace.cost.phases import MEASURES, TOKENS, PhaseCost
from spectrace.cost.prediction import Prediction

Item = Mapping[str, object]

ALL = "all"
"""The phase of the item that sums a group."""


def items(group: CostGroup, r: Relative | str) -> Iterator[dict[str, object]]:
    """Yield a group's items; R stands with the last one."""
    for (phase, who), cost in group.phases.items():
        yield _item(group, phase, who, cost) | _NO_R
    spendings = group.spendings
    steps = sum(one.steps for one in spendings)
    yield (
        _item(group, ALL, None, group.total)
        | _r(r)
        | {
            "episodes": len(spendings),
            "tasks": len(group.tasks),
            "steps": steps,
            "per_step": _shares(group.total, steps),
            "per_episode": _shares(group.total, len(spendings)),
            "steps_per_episode": steps / len(spendings),
            "wall_s_per_episode": sum(one.wall_us for one in spendings) / len(spendings) / 1e6,
            "concurrency": sorted({one for one in group.concurrency if one is not None}),
        }
    )


def _shares(total: PhaseCost, parts: int) -> dict[str, float | None]:
    """Return what falls on each part, where all of it is known."""
    exact = {measure: total.sums[measure].exact for measure in MEASURES}
    return {measure: None if sum_ is None or not parts else sum_ / parts for measure, sum_ in exact.items()}


_NO_R: dict[str, object] = {"r_accounting": None, "r_proposition": None, "r_predicted": None}


def _item(group: CostGroup, phase: str, who: str | None, cost: PhaseCost) -> dict[str, object]:
    sums = cost.sums
    made = group.made
    return {
        "protocol": made.protocol,
        "run": made.run,
        "options": made.options,
        "weak": made.weak,
        "strong": made.strong,
        "phase": phase,
        "who": who,
        "calls": cost.calls,
        "failed": cost.failed,
        "retries": cost.retries,
        "tokens": {name: None if (least := sums[name].least) is None else int(least) for name in TOKENS},
        **{name: sums[name].least for name in MEASURES},
        "unknown": {name: sums[name].unknown for name in (*TOKENS, *MEASURES) if sums[name].unknown},
    }


def _r(r: Relative | str) -> dict[str, object]:
    if isinstance(r, str):
        return {**_NO_R, "r_unknown": r, "r": {}}
    each = {measure: r_item(values) for measure, values in r.measures.items()}
    p, n = r.judged or (None, None)
    return {
        "r_accounting": {measure: one["r_accounting"] for measure, one in each.items()},
        "r_proposition": {measure: one["r_proposition"] for measure, one in each.items()},
        "r_predicted": {measure: one["r_predicted"] for measure, one in each.items()},
        "r_unknown": None,
        "r": each,
        "r_tasks": r.tasks,
        "latency": r.latency and asdict(r.latency),
        "p_judged": p,
        "drafted_per_review": n,
    }


def r_item(values: InMeasure) -> dict[str, object]:
    """Return R in one measure, with all that it is made of; where a value is null, `why` says why."""
    lines = values.accounted if isinstance(values.accounted, Account) else None
    formula = values.proposition if isinstance(values.proposition, Proposition) else None
    test = values.predicted if isinstance(values.predicted, Prediction) else None
    return {
        "r_accounting": lines and lines.r,
        "r_proposition": formula and formula.r,
        "r_predicted": test and test.predicted,
        "why": values.accounted if isinstance(values.accounted, str) else None,
        "why_no_proposition": values.proposition if isinstance(values.proposition, str) else None,
        "why_no_prediction": values.predicted if isinstance(values.predicted, str) else None,
        "d": lines and lines.d,
        "v_over_d": lines.v_over_d if lines and lines.reviews else None,
        "rho": lines.rho if lines and lines.reviews and lines.v is not None else None,
        "reviews_per_step": lines and lines.reviews / lines.steps,
        "repairs_per_step": lines and lines.repairs / lines.steps,
        "acting": lines and lines.acting,
        "apart": values.apart,
        "p": formula and formula.p,
        "n": formula.n if formula and isfinite(formula.n) else None,
        "per_task": values.per_task,
        "per_task_all": values.per_task_all,
        "left_out": values.left_out,
        "predicted": test
        and {
            "predicted": test.predicted,
            "accounted": test.accounted,
            "error": test.error,
            "low": test.low,
            "high": test.high,
            "fitted_on": test.fitted_on,
            "tested_on": test.tested_on,
            "method": test.method,
        },
    }


def sentences(r: Relative, words: Mapping[str, str]) -> Iterator[str]:
    """Yield what stands under a table of R: the p and n behind Proposition 1, and how good each prediction was."""
    formula = next((one.proposition for one in r.measures.values() if isinstance(one.proposition, Proposition)), None)
    if formula is not None and r.judged is not None:
        yield (
            f"Proposition 1 has p = {formula.p:.3f} and n = {formula.n:.2f}, solved from repairs and reviews: it "
            f"repeats R. Of the judged steps {r.judged[0]:.3f} stood, and {r.judged[1]:.2f} were drafted for a review."
        )
    if r.latency is not None:
        yield (
            f"a weak call takes {r.latency.kappa:.3f} strong steps (kappa), drafting {r.latency.drafting:.3f} for each "
            f"committed step: all models together take {r.latency.relative:.3f} of the strong one's time alone."
        )
    left_out = max(one.left_out for one in r.measures.values())
    if left_out:
        yield f"{left_out} failed calls of the strong model, whose cost nobody knows, are left out of R."
    for measure, values in r.measures.items():
        test = values.predicted
        if isinstance(test, Prediction):
            halves = f"fitted on {test.fitted_on} tasks, tested on {test.tested_on}"
            interval = "too few for an interval"
            if test.low is not None and test.high is not None:
                interval = f"[{test.low:+.3f}, {test.high:+.3f}] ({test.method})"
            yield f"prediction in {words[measure]}, {halves}: error {test.error:+.3f}, {interval}."
