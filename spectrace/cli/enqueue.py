"""`reverify --queue`: a run's episodes put into the queue of its Postgres log as shards, for `spectrace worker`.

What a run has judged already, and what is in the queue, is not put there: the same command again adds what is missing.
"""

from collections.abc import Sequence

import click

from spectrace.audit.lines import counted
from spectrace.cli import console
from spectrace.cli.options import Decorator, whole
from spectrace.cli.reverify_report import typed
from spectrace.errors import UsageError
from spectrace.runs.pass_plan import Plan
from spectrace.runs.shards import SHARD, enqueue
from spectrace.store import queue_schema, runs
from spectrace.store.address import parse_url, shown
from spectrace.store.arbiter import WHOLE
from spectrace.store.queue import open_queue
from spectrace.store.sql import SqlEventStore

queue_option: Decorator = click.option(
    "--queue", is_flag=True, help="Only put the work into the log's queue (Postgres), for `spectrace worker`."
)
shard_option: Decorator = click.option(
    "--shard", type=whole(1), default=SHARD, show_default=True, metavar="N", help="Episodes of one job of the queue."
)


def require_queue(url: str, max_cost_usd: str | None) -> None:
    """Raise UsageError, before anything is recorded, where there can be no queue."""
    queue_schema.require(parse_url(url))
    if max_cost_usd is not None:
        raise UsageError("--queue asks nothing and spends nothing: give --max-cost-usd to `spectrace worker`.")


async def put_into_queue(store: SqlEventStore, plan: Plan, episodes: Sequence[str], size: int) -> int:
    """Put what is left of a run that was begun into its queue; return how many shards that makes."""
    whole_parts = {(one.parent, one.repeat) for one in runs.items(store, plan.run) if one.verdict_seq == WHOLE}
    repeats = range(1, plan.repeat + 1)
    left = [one for one in episodes if any((one, repeat) not in whole_parts for repeat in repeats)]
    async with open_queue(store.database.url.render_as_string(hide_password=False)) as jobs:
        return await enqueue(jobs, plan.run, left, size)


def say_queued(plan: Plan, shards: int, prompts: str, url: str) -> None:
    """Say what was queued, and what works on it."""
    asked = "" if prompts == "recorded" else f" --prompts {prompts}"
    asked += f" --verdict scored --threshold {plan.threshold}" if plan.verdict == "scored" else ""
    where = f"--run {plan.run} --db {shown(parse_url(url))}"
    console.say(f"{counted(shards, 'shard')} of run {plan.run} put into the queue. What works on them, on any machine:")
    console.say(f"  spectrace worker --verifier {typed(plan.verifier)}{asked} {where}")
    console.say(f"How it stands: spectrace runs {plan.run}", style="dim")
