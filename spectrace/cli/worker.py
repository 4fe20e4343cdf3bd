"""`spectrace worker`: work on the shards that `reverify --queue` put into a Postgres log, on this machine.

A worker that is stopped gives its shards back; one that is killed is found dead by the others, which take them over.
"""

from collections.abc import Sequence

import click

from spectrace.audit.lines import counted
from spectrace.cli import console, document
from spectrace.cli.console import Column, Progress
from spectrace.cli.loop import run_loop
from spectrace.cli.options import Seconds, db_option, dollars, json_option, whole
from spectrace.cli.own_runs import OwnRuns
from spectrace.cli.scoring import reading_of, threshold_option, verdict_option
from spectrace.cli.watch import weights_progress
from spectrace.config import database_url, open_prompts, open_verifier, settings_here, verifier_name
from spectrace.runs.live import describe
from spectrace.runs.purse import Purse, require_prices
from spectrace.runs.queue import Shard, Worker
from spectrace.runs.verifiers import require_scoring
from spectrace.store import queue_schema, runs
from spectrace.store.address import parse_url
from spectrace.store.queue import open_queue
from spectrace.store.redaction_key import redactor_for
from spectrace.store.sql import open_store

_COLUMNS = (
    Column("run"),
    Column("shards done", right=True),
    Column("given back", right=True),
    Column("failed", right=True),
    Column("cancelled", right=True, rank=2),
    Column("taken over", right=True, rank=2),
    Column("episodes", right=True),
    Column("verdicts", right=True),
)
_STATES = ("done", "given_back", "failed", "cancelled", "taken_over")
_STYLES = {"done": "good", "failed": "bad"}


@click.command()
@click.option("--verifier", required=True, metavar="MODEL", help="The verifier, named as in `reverify`.")
@click.option(
    "--prompts",
    default="recorded",
    show_default=True,
    metavar="recorded|current|FILE",
    help="The prompts to ask with, as in `reverify`.",
)
@verdict_option
@threshold_option
@click.option("--run", metavar="NAME", help="Work on this run alone. [default: on all that name this verifier]")
@click.option("--concurrency", type=whole(1), default=1, show_default=True, help="Episodes at once.")
@click.option(
    "--max-cost-usd",
    callback=dollars,
    metavar="USD",
    help="Stop this worker once it has spent so much, by the verifier's price.",
)
@click.option(
    "--wait/--until-empty",
    default=False,
    help="Wait for more work until it is stopped, or end once no shard is queued or worked on. [default: until-empty]",
)
@click.option(
    "--silent-s",
    type=Seconds(min_open=True),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="Take over the shards of a worker that said nothing for so long; the same for all workers of a log.",
)
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    verifier: str,
    prompts: str,
    verdict: str | None,
    threshold: str | None,
    run: str | None,
    concurrency: int,
    max_cost_usd: str | None,
    silent_s: float,
    db: str | None,
    *,
    wait: bool,
    as_json: bool,
) -> None:
    """Work on shards of re-verifications that are queued in a Postgres log, beside other machines."""
    settings, asked, reading = settings_here(), open_prompts(prompts), reading_of(verdict, threshold)
    url = database_url(db, settings)
    queue_schema.require(parse_url(url))
    open_store(url, read_only=True).close()  # refuses what is missing, where opening to write would make it
    with console.progress() as progress:
        with document.kept_clean():
            pool = open_verifier(verifier, settings, progress.note, progress=weights_progress(progress))
        store = open_store(url)
        try:
            if run is not None:
                runs.get(store, run)
            own = OwnRuns(
                store=store,
                pool=pool,
                verifier=verifier_name(verifier, settings),
                prompts=asked,
                reading=reading,
                only=run,
                prices=settings.prices,
                redactor=redactor_for(store, settings.redaction),
                purse=Purse(max_cost_usd, of_run=True),
            )
            shift = _Shift(own, progress)
            interrupted = False
            try:
                with document.kept_clean():
                    run_loop(shift.work(url, concurrency=concurrency, wait=wait, silent_s=silent_s))
            except KeyboardInterrupt:
                interrupted = True
        finally:
            store.close()
    _report(shift.ended, as_json=as_json)
    if shift.stopped is not None:
        console.say(f"Stopped: {shift.stopped}", style="error")
    failed = shift.stopped is not None or any(one.state == "failed" for one in shift.ended)
    # Who waits for more ends in no other way than by being stopped.
    ctx.exit(130 if interrupted and not wait else int(failed))


class _Shift:
    """One worker at work, and what it tells."""

    def __init__(self, own: OwnRuns, progress: Progress) -> None:
        self._own, self._progress = own, progress
        self._said: set[str] = set()
        self.ended: list[Shard] = []
        self.stopped: str | None = None

    async def work(self, url: str, *, concurrency: int, wait: bool, silent_s: float) -> None:
        """Work until it is stopped or nothing is left; close the verifier whatever happens."""
        try:
            if self._own.reading[0] == "scored":
                require_scoring(self._own.pool, self._own.verifier)
            require_prices(await describe({"strong": self._own.pool}, None, self._own.prices), [self._own.purse])
            async with open_queue(url) as jobs:
                worker = Worker(jobs, self._own, concurrency=concurrency, wait=wait, silent_s=silent_s, told=self._told)
                self._say_left(self._own.left(await jobs.standings()))
                await worker.run()
                self.stopped = worker.stopped
                self._say_left(self._own.left(await jobs.standings()))
        finally:
            await self._own.pool.close()

    def _say_left(self, left: Sequence[str]) -> None:
        for said in left:
            if said not in self._said:
                self._said.add(said)
                self._progress.note(f"Left in the queue: {said}", "warning")

    def _told(self, shard: Shard) -> None:
        name = f"shard {shard.number}"
        again = f" (attempt {shard.attempts + 1})" if shard.attempts else ""
        done = f"{shard.judged} of {counted(shard.episodes, 'episode')}, {counted(shard.verdicts, 'verdict')}"
        if shard.state == "doing":
            self._progress.show(name, (name, "name"), f"  run {shard.run}{again}: {done}")
            return
        self.ended.append(shard)
        self._progress.drop(name)
        detail = f". {shard.detail}" if shard.detail else ""
        state = shard.state.replace("_", " ")
        self._progress.note(
            f"{name}  run {shard.run}{again}: {state}, {done}{detail}", _STYLES.get(shard.state, "warning")
        )


def _report(shards: Sequence[Shard], *, as_json: bool) -> None:
    if as_json:
        document.write("worker", [_item(one) for one in shards])
        return
    rows: list[list[console.Cell]] = []
    for run in dict.fromkeys(one.run for one in shards):
        mine = [one for one in shards if one.run == run]
        states = [sum(one.state == state for one in mine) for state in _STATES]
        rows.append([(run, "name"), *states, sum(one.judged for one in mine), sum(one.verdicts for one in mine)])
    console.table(_COLUMNS, rows, "No shard was queued for this verifier.")


def _item(one: Shard) -> dict[str, object]:
    return {
        "run": one.run,
        "shard": one.number,
        "episodes": one.episodes,
        "judged": one.judged,
        "verdicts": one.verdicts,
        "attempts": one.attempts,
        "state": one.state,
        "detail": one.detail or None,
    }
