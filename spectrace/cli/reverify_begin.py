"""How a re-verification run begins, and how the same name goes on: with the same work, or not at all.

A run is its verifier, prompts, repeats and data set; a table must never mix two of them. What may change when it goes
on is how fast and for how much money. Nothing that its settings name is opened: the verifier is named again.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from spectrace.audit.answers import Filters
from spectrace.audit.lines import counted
from spectrace.audit.queries import Reader
from spectrace.cli.scoring import reading_of
from spectrace.core.digest import text_digest
from spectrace.core.events import EpisodeStarted
from spectrace.core.money import spent
from spectrace.core.prompts import Prompts
from spectrace.core.rereviews import REVERIFY
from spectrace.core.types import ModelFacts
from spectrace.errors import UsageError
from spectrace.models.replicas import differences
from spectrace.runs.pass_plan import Plan
from spectrace.store import run_offers, runs
from spectrace.store.arbiter import Arbiter, Item
from spectrace.store.run_arbiter import RunArbiter
from spectrace.store.sql import SqlEventStore

_MICRO = 1_000_000


def plan_of(
    run: str,
    verifier: str,
    prompts: Prompts | None,
    *,
    only_rejected: bool,
    repeat: int | None,
    known: runs.Run | None,
    verdict: str | None = None,
    threshold: str | None = None,
) -> Plan:
    """Return what a run is asked for now; what nobody says is as it was begun."""
    begun = known is not None and known.kind == REVERIFY
    before = Plan.from_json(run, known.settings) if known is not None and begun else Plan(run, verifier)
    digest = None if prompts is None else text_digest(prompts.to_json())
    return Plan(
        run,
        verifier,
        digest,
        only_rejected or before.only_rejected,
        repeat or before.repeat,
        *reading_of(verdict, threshold, (before.verdict, before.threshold)),
    )


def begin(store: SqlEventStore, plan: Plan, names: Sequence[str]) -> RunArbiter:
    """Begin the run, or go on with it; raise UsageError for a name that stands for other work."""
    known = runs.find(store, plan.run)
    if known is None:
        runs.begin(store, plan.run, REVERIFY, selection_of(store, names), plan.to_json())
        return RunArbiter(store, plan.run)
    differing = list(_differing(known, plan, names))
    if differing:
        raise UsageError(
            f"run {plan.run!r} exists with {' and '.join(differing)}: the same name goes on with the same work "
            f"(`spectrace reverify --name {plan.run} --verifier MODEL` alone does{_but(plan.run, known)}). "
            "Give another --name."
        )
    if known.cancelled_at is not None:
        raise UsageError(
            f"run {plan.run!r} was cancelled: what it has judged stays, and nothing more of it is begun. "
            "Give another --name."
        )
    return RunArbiter(store, plan.run)


def selection_of(store: SqlEventStore, names: Sequence[str]) -> list[tuple[str, str]]:
    """Return a data set: the same one in whatever order its episodes are named."""
    return sorted((episode, store.row(episode).head.hex()) for episode in names)


def refuse_recorded(reader: Reader, run: str) -> None:
    """Raise UsageError for a name that recorded episodes carry, whether a run of that name was begun or not."""
    for one in reader.iter_episodes(Filters(run=(run,))):
        if one.run == run and one.protocol != REVERIFY:
            raise UsageError(f"run {run!r} is one of recorded episodes ({one.episode}, ...): give another --name.")


def is_begun_by(store: SqlEventStore, plan: Plan, facts: ModelFacts) -> bool:
    """Whether a run's first verdicts were given by this verifier; False while there are none.

    Raises UsageError where another one by that name gave them: a server started otherwise, a function or labels that
    were changed since.
    """
    first = run_offers.first_episode(store, plan.run, REVERIFY)
    if first is None:
        return False
    begun = next(iter(store.read(first, 0, 1))).body
    theirs = begun.models[0] if isinstance(begun, EpisodeStarted) and begun.models else facts
    found = differences(theirs, facts)
    if found and facts.provider == theirs.provider == "labels":
        raise UsageError(_other_labels(plan, theirs, facts))
    if found:
        raise UsageError(
            f"{plan.verifier} is not the model here that run {plan.run!r} was begun with: they differ in {found}. "
            "Name the same one, or give the run of this one another --name."
        )
    return True


def _other_labels(plan: Plan, theirs: ModelFacts, facts: ModelFacts) -> str:
    """Say that a file of labels was changed, in the words of whoever keeps it."""
    then, now = (json.loads(one.server).get("labels") for one in (theirs, facts))
    holds = counted(now, "label") if isinstance(now, int) else "labels"
    held = f"it held {then} then, and holds {holds} now" if then != now else f"it holds {holds}, as then"
    return (
        f"{plan.verifier} is not as it was when run {plan.run!r} was begun: {held}. What a run has judged stands by "
        "the labels of its beginning. Judge by these under another --name."
    )


@dataclass(frozen=True)
class NotBegun:
    """The arbiter of a run that is looked at before it begins: nothing of it is there."""

    selection: Mapping[str, str]

    def head(self, parent: str) -> str | None:
        """Return the head that an episode has now."""
        return self.selection.get(parent)

    def cancelled(self) -> bool:
        """Say no."""
        return False

    def items(self, parent: str) -> Sequence[Item]:
        """Return nothing."""
        del parent
        return ()

    def children(self, parent: str) -> Sequence[str]:
        """Return nothing."""
        del parent
        return ()

    def count(self, item: Item) -> bool:
        """Refuse: nothing can count in a run that was not begun."""
        raise UsageError(f"a verdict on {item.parent} cannot count: its run was not begun.")


def _differing(known: runs.Run, plan: Plan, names: Sequence[str]) -> Iterator[str]:
    if known.kind != REVERIFY:
        yield f"another kind, {known.kind}"
        return
    before = Plan.from_json(plan.run, known.settings)
    if before.verifier != plan.verifier:
        yield f"verifier {before.verifier!r}, now {plan.verifier!r}"
    if before.prompts != plan.prompts:
        yield f"{_prompts(before)}, now {_prompts(plan)}"
    if before.only_rejected != plan.only_rejected:
        yield f"{_only(before)}, now {_only(plan)}"
    if before.repeat != plan.repeat:
        yield f"--repeat {before.repeat}, now {plan.repeat}"
    if before.reading != plan.reading:
        yield f"{before.reading}, now {plan.reading}"
    had, has = {episode for episode, _ in known.selection}, set(names)
    if had != has:
        yield (
            f"another selection of {counted(len(had), 'episode')}: {len(has - had)} of these "
            f"{len(has)} are not in it, and {len(had - has)} of it are not among these"
        )


def _but(run: str, known: runs.Run) -> str:
    other = known.kind == REVERIFY and Plan.from_json(run, known.settings).prompts is not None
    return ", with its --prompts" if other else ""


def _prompts(plan: Plan) -> str:
    return "the recorded prompts" if plan.prompts is None else f"prompts {plan.prompts[:19]}"


def _only(plan: Plan) -> str:
    return "--only rejected" if plan.only_rejected else "all reviews"


def grown(store: SqlEventStore, arbiter: Arbiter, names: Sequence[str]) -> list[str]:
    """Return the episodes whose logs go on past what was selected; they are judged as they were."""
    return [name for name in names if store.row(name).head.hex() != arbiter.head(name)]


def spent_micro_usd(reader: Reader, run: str) -> int:
    """Return what a run's calls have cost so far, as far as that is known; those of killed children are in it."""
    total = 0
    for one in reader.iter_episodes(Filters(run=(run,), protocol=(REVERIFY,))):
        cost = one.cost_usd or one.cost_usd_at_least
        total += round(Decimal(cost) * _MICRO) if cost else spent(reader.events(one.episode, prompts=False)).micro_usd
    return total
