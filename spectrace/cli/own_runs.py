"""The runs that a worker may take shards of, and its verifier at work on them.

Nothing named in the database is run: verifier and prompts are those of the worker's own command line. A run is the
worker's own if its settings name the same verifier, prompts and way to read verdicts; of the others it says that they
are left. Two
machines may mean different models by one name: what a run's first verdicts were given by must be what answers here.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from spectrace.audit.lines import counted
from spectrace.cli.reverify_begin import is_begun_by
from spectrace.cli.reverify_report import STOPS
from spectrace.cli.scoring import DECODED
from spectrace.core.digest import text_digest
from spectrace.core.prompts import Prompts
from spectrace.core.rereviews import REVERIFY
from spectrace.errors import ModelFailed, UsageError
from spectrace.redaction.redactor import Redactor
from spectrace.runs.health import Health
from spectrace.runs.live import Prices
from spectrace.runs.pass_plan import Plan
from spectrace.runs.pass_source import CANCELLED
from spectrace.runs.passes import Rejudging
from spectrace.runs.purse import Purse
from spectrace.runs.queue import Judged
from spectrace.runs.recorder import Watcher
from spectrace.runs.verifiers import Pool
from spectrace.store import run_offers, runs
from spectrace.store.jobs import Standing, queue_key
from spectrace.store.run_arbiter import RunArbiter
from spectrace.store.sql import SqlEventStore

_VERIFIER = "strong"
"""The role of the verifier in a child."""


@dataclass(kw_only=True)
class OwnRuns:
    """The work of `runs.queue.Worker` on one log."""

    store: SqlEventStore
    pool: Pool
    verifier: str
    """As it was named on the command line, without where it is reached (`config.verifier_name`)."""
    prompts: Prompts | None = None
    reading: tuple[str, str] = DECODED
    """How verdicts are read: (verdict, threshold)."""
    only: str | None = None
    """The one run to work on."""
    prices: Prices | None = None
    redactor: Redactor | None = None
    purse: Purse = field(default_factory=Purse)
    watch: Watcher | None = None
    _health: Health = field(default_factory=Health, init=False)
    _begun: dict[str, Rejudging] = field(default_factory=dict, init=False)
    _selections: dict[str, frozenset[str]] = field(default_factory=dict, init=False)
    _same: set[str] = field(default_factory=set, init=False)
    """Runs whose first verdicts were given by the model that answers here."""

    @property
    def prompts_digest(self) -> str | None:
        """The digest of the prompts; None where each episode is asked in its recorded ones."""
        return None if self.prompts is None else text_digest(self.prompts.to_json())

    def runs(self) -> Collection[str]:
        """Return the runs that name this verifier and these prompts, and read verdicts in this way."""
        return [plan.run for plan in self._plans() if self._is_own(plan)]

    def selection(self, run: str) -> Collection[str]:
        """Return the episodes of a run, which never change."""
        if run not in self._selections:
            self._selections[run] = frozenset(episode for episode, _ in runs.get(self.store, run).selection)
        return self._selections[run]

    async def judge(self, run: str, episode: str) -> Judged:
        """Judge what is left of an episode, one repeat after the other."""
        work, verdicts = self._rejudging(run), 0
        try:
            await self._require_same(run)
        except UsageError as error:
            return Judged(0, str(error), "stop")
        except ModelFailed as error:
            self._health.failed(_VERIFIER, error)
            return Judged(0, str(error), "again" if self._health.gave_up is None else "stop")
        for repeat in range(1, work.plan.repeat + 1):
            part = await work.judge(episode, repeat)
            verdicts += part.new
            if part.why == CANCELLED:
                return Judged(verdicts, "its run was cancelled", "drop")
            if part.why is not None:
                stopped = work.stopped
                return Judged(verdicts, STOPS.get(stopped or "", stopped or part.why), "stop" if stopped else part.then)
        return Judged(verdicts)

    def left(self, standings: Mapping[str, Standing]) -> list[str]:
        """Say which shards wait that are not this worker's."""
        waiting = {key: one.queued for key, one in standings.items() if one.queued}
        for run in self.runs():
            waiting.pop(queue_key(run), None)
        said = [
            f"{counted(waiting.pop(queue_key(plan.run)), 'shard')} of run {plan.run}: {self._why_not(plan)}."
            for plan in self._plans()
            if queue_key(plan.run) in waiting
        ]
        if waiting:
            jobs = counted(sum(waiting.values()), "job")
            said.append(f"{jobs} of runs that this log does not know or were cancelled.")
        return said

    def _plans(self) -> Iterator[Plan]:
        for name, settings in run_offers.uncancelled(self.store, REVERIFY):
            try:
                yield Plan.from_json(name, settings)
            except (UsageError, ValueError, RecursionError):
                continue  # settings that nobody of us wrote; that its shards are left in the queue is said

    def _is_own(self, plan: Plan) -> bool:
        named = self.only is None or plan.run == self.only
        same = (_name(plan), plan.prompts) == (self.verifier, self.prompts_digest)
        return named and same and (plan.verdict, plan.threshold) == self.reading

    def _why_not(self, plan: Plan) -> str:
        if _name(plan) != self.verifier:
            return f"its verifier is {_name(plan)}"
        if plan.prompts != self.prompts_digest:
            return "it asks with other prompts"
        if (plan.verdict, plan.threshold) != self.reading:
            scored = f"scored --threshold {plan.threshold}"
            return f"it takes {plan.reading}, --verdict {scored if plan.verdict == 'scored' else plan.verdict}"
        return "it is not the run that --run names"

    def _rejudging(self, run: str) -> Rejudging:
        if run not in self._begun:
            plan = Plan.from_json(run, runs.get(self.store, run).settings)
            if not self._is_own(plan):
                raise UsageError(f"run {run!r} is not this worker's: {self._why_not(plan)}.")
            self._begun[run] = Rejudging(
                store=self.store,
                arbiter=RunArbiter(self.store, run),
                plan=plan,
                pool=self.pool,
                prompts=self.prompts,
                prices=self.prices,
                redactor=self.redactor,
                purse=self.purse,
                health=self._health,
                watch=self.watch,
            )
        return self._begun[run]

    async def _require_same(self, run: str) -> None:
        """Raise UsageError where the model of this name here is not the one that the run began with."""
        if run in self._same:
            return
        if is_begun_by(self.store, self._rejudging(run).plan, await self.pool.facts()):  # else with the next episode
            self._same.add(run)


def _name(plan: Plan) -> str:
    """Return the name of a run's verifier; each machine reaches it where its own command line says."""
    return plan.verifier.partition("@http")[0]
