"""A re-verification at work for the command line, from the first look at its verifier to the last verdict."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from spectrace.audit.lines import counted
from spectrace.audit.passes import Pass
from spectrace.audit.queries import Reader
from spectrace.cli import console, reverify_report
from spectrace.cli.console import Progress
from spectrace.cli.enqueue import put_into_queue
from spectrace.cli.label_check import require_meant
from spectrace.cli.reverify_begin import (
    NotBegun,
    begin,
    grown,
    is_begun_by,
    refuse_recorded,
    selection_of,
    spent_micro_usd,
)
from spectrace.cli.reverify_watch import PassWatch
from spectrace.config import settings_here
from spectrace.core.prompts import Prompts
from spectrace.core.types import ModelFacts
from spectrace.errors import ModelFailed, StoreError, UsageError
from spectrace.runs.live import Prices, describe
from spectrace.runs.pass_estimate import Estimate, estimate
from spectrace.runs.pass_plan import Part, Plan
from spectrace.runs.passes import Rejudging, judge_shard
from spectrace.runs.purse import Purse, require_prices
from spectrace.runs.verifiers import JudgePool, Pool, require_scoring
from spectrace.store import runs
from spectrace.store.arbiter import Arbiter
from spectrace.store.redaction_key import redactor_for
from spectrace.store.sql import SqlEventStore


@dataclass
class Passing:
    """A run at work, from the first look at its verifier to the last verdict."""

    reader: Reader
    plan: Plan
    pool: Pool
    names: Sequence[str]
    prompts: Prompts | None
    prices: Prices
    progress: Progress
    estimate: Estimate = field(default_factory=Estimate)
    parts: list[Part] = field(default_factory=list)
    watch: PassWatch | None = None
    stopped: str | None = None
    shards: int = 0
    """Put into the queue."""
    _interrupted: bool = False
    _unused: Sequence[str] = ()
    """Which labels are of no review that was looked at."""

    @property
    def begun(self) -> bool:
        """Whether anything was to be judged yet."""
        return self.watch is not None

    def has_left(self, found: Pass) -> bool:
        """Whether something was not judged."""
        return bool(reverify_report.left_of(self.estimate, found) or self.estimate.unread)

    def say(self, found: Pass, stopped: str | None) -> None:
        """Say what was not judged and why, and how much was."""
        for words in self.watch.say_troubles() if self.watch is not None else ():
            console.say(words, style="error")
        if self.watch is not None and self.watch.elsewhere and self.has_left(found):
            parts = counted(self.watch.elsewhere, "part")
            console.say(f"{parts} left to another process, which is judging there.", style="warning")
        style, new = "warning" if self.has_left(found) else "dim", sum(part.new for part in self.parts)
        for words in reverify_report.after(self.estimate, found, new, stopped):
            console.say(words, style=style)
        for words in self._unused:  # last, where it is seen
            console.say(words, style="warning")

    async def go(self, concurrency: int, max_cost_usd: str | None) -> None:
        """Ask who the verifier is, begin or go on, say what it will take, and judge what is left."""
        try:
            self._require_scoring()
            (facts,) = await describe({"strong": self.pool}, None, self.prices)
            require_prices([facts], [Purse(max_cost_usd)])
            work = await self._begun(facts, max_cost_usd)
            self.watch = work.watch = PassWatch(self.progress, self.estimate.calls)
            try:
                await judge_shard(work, self.names, concurrency=concurrency, told=self._told)
            finally:
                self.stopped = work.stopped
        finally:
            await self.pool.close()

    async def queue(self, shard: int) -> None:
        """Begin or go on, say what it will take, and leave the work to workers; they must reach the verifier."""
        try:
            self._require_scoring()
            try:
                (facts,) = await describe({"strong": self.pool}, None, self.prices)
            except ModelFailed as error:
                self.progress.note(f"The verifier does not answer here, so its price is not known: {error}", "warning")
                facts = ModelFacts("strong", "", self.plan.verifier)
            work = await self._begun(facts, None)
            for words in self._unused:
                self.progress.note(words, "warning")
            self.shards = await put_into_queue(self._store(), work.plan, self.names, shard)
        finally:
            await self.pool.close()

    def _require_scoring(self) -> None:
        if self.plan.verdict == "scored":
            require_scoring(self.pool, self.plan.verifier)

    async def _begun(self, facts: ModelFacts, max_cost_usd: str | None) -> Rejudging:
        """Look and begin in a thread, which a Ctrl-C must not wait for."""
        try:
            return await asyncio.to_thread(self._begin, facts, max_cost_usd)
        except asyncio.CancelledError:
            self._interrupted = True
            raise

    def _store(self) -> SqlEventStore:
        if not isinstance(self.reader.store, SqlEventStore):
            raise UsageError("a re-verification is recorded in a database: name one with --db.")
        return self.reader.store

    def _begin(self, facts: ModelFacts, max_cost_usd: str | None) -> Rejudging:
        store = self._store()
        known = runs.find(store, self.plan.run)
        if known is None:
            refuse_recorded(self.reader, self.plan.run)
            arbiter: Arbiter = NotBegun(dict(selection_of(store, self.names)))
        else:
            arbiter = begin(store, self.plan, self.names)
            if facts.provider:  # where it does not answer, the workers compare
                is_begun_by(store, self.plan, facts)
        spent = spent_micro_usd(self.reader, self.plan.run) if max_cost_usd is not None else 0
        work = Rejudging(
            store=store,
            arbiter=arbiter,
            plan=self.plan,
            pool=self.pool,
            prompts=self.prompts,
            prices=self.prices,
            redactor=redactor_for(store, settings_here().redaction),
            purse=Purse(max_cost_usd, of_run=True, spent=spent),
        )
        self.estimate = estimate(work, facts, self._shown())
        self._unused = self.pool.judge.unused() if isinstance(self.pool, JudgePool) else ()
        if known is None:
            for why in self.estimate.unread.values():  # of what it selects, everything can be judged
                raise StoreError(why)
            require_meant(self.pool, store, self.estimate, only_rejected=self.plan.only_rejected)
            work.arbiter = begin(store, self.plan, self.names)
        self._say_before(facts)
        changed = grown(store, work.arbiter, self.names)
        if changed:
            more = "" if len(changed) == 1 else f" and {len(changed) - 1} more"
            self.progress.note(f"{changed[0]}{more} went on since the run began: judged as it was then.", "warning")
        return work

    def _say_before(self, facts: ModelFacts) -> None:
        for words in reverify_report.before(self.estimate, self.plan, facts):
            self.progress.note(words)

    def _shown(self) -> Iterator[str]:
        for number, name in enumerate(self.names, start=1):
            if self._interrupted:
                raise asyncio.CancelledError
            self.progress.show("look", f"{number} of {len(self.names)} episodes looked at")
            yield name
        self.progress.drop("look")

    def _told(self, part: Part) -> None:
        self.parts.append(part)
        if self.watch is not None:
            self.watch.part(part)
