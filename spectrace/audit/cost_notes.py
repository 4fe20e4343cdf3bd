"""What to know beside costs: where an assumption fails, what does not compare, what is the best case or a guess."""

from collections.abc import Sequence

from spectrace.audit.costing import CostGroup, Costing
from spectrace.audit.lines import counted
from spectrace.cost.architecture import Architecture
from spectrace.cost.hardware import balance_point
from spectrace.cost.profiles import HARDWARE, architecture_of


def notes(groups: Sequence[CostGroup], costing: Costing) -> list[str]:
    """Return what a reader of the figures must know: where an assumption fails, what does not compare."""
    found = []
    hardware = (costing.profile.strong.hardware if costing.profile else None) or HARDWARE["H20"]
    balance = balance_point(hardware)
    most = max((at_once for group in groups for at_once in group.concurrency if at_once is not None), default=0)
    if most > balance:
        found.append(
            f"{most} episodes ran at once: past {balance:.0f} sequences on {hardware.name} Assumption 1 fails: "
            "decoding is no longer bound by memory, and added FLOPs cost time."
        )
    unequal = len({frozenset(group.concurrency) for group in groups}) > 1 or any(
        len(group.concurrency) > 1 for group in groups
    )
    if unequal or _elsewhere(groups):
        found.append("Wall times compare only at equal concurrency on the same deployment; here they differ.")
    best = best_case(groups, costing)
    if best is not None:
        found.append(best)
    estimated = sum(group.estimated for group in groups)
    if estimated:
        found.append(f"{estimated} calls have no counts of their servers: four bytes are taken for one token.")
    superseded = sum(group.superseded for group in groups)
    if superseded:
        found.append(
            f"{counted(superseded, 'superseded episode')} left out: another of the same run, task and trial stands. "
            "`spectrace cost EP` says what one cost."
        )
    parents = [one.started.parent for group in groups for one in group.spendings]
    for kind, noun in (("fork", "fork"), ("resume", "resumed episode")):
        children = sum(parent is not None and parent.kind == kind for parent in parents)
        if not children:
            continue
        late = "" if kind == "fork" else " Wall times are those of going on alone."
        found.append(
            f"{counted(children, noun)}: the calls taken over from a parent's record are counted as if they had been "
            f"made here; nobody paid them twice, and `spectrace ls` says what was paid.{late}"
        )
    return found


def best_case(groups: Sequence[CostGroup], costing: Costing) -> str | None:
    """Return what is assumed of hybrid models, where it is the best case."""
    hybrid = sorted({model.name for model in _architectures(groups, costing) if model.gdn_layers})
    if not hybrid or costing.checkpoint_every is not None:
        return None
    return (
        f"{', '.join(hybrid)} keep a state in place of keys and values in some layers; any prefix is taken to be "
        "found, which is the best case. --checkpoint-every 0 gives the other one."
    )


def _architectures(groups: Sequence[CostGroup], costing: Costing) -> list[Architecture]:
    if costing.profile is not None:
        return [costing.profile.weak.architecture, costing.profile.strong.architecture]
    names = {name for group in groups for _, _, name, _ in group.deployments}
    return [model for name in names if (model := architecture_of(name)) is not None]


def _elsewhere(groups: Sequence[CostGroup]) -> bool:
    """Whether a role was filled by different deployments."""
    places: dict[str, set[tuple[str, str, str | None]]] = {}
    for group in groups:
        for role, *place in group.deployments:
            provider, name, url = place
            places.setdefault(role, set()).add((str(provider), str(name), url))
    return any(len(found) > 1 for found in places.values())
