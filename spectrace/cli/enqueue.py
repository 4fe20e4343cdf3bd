"""`reverify --queue`: a run's episodes put into the queue of its Postgres log as shards, for `spectrace worker`.

What a run has judged already, and what is in the queue, is not put there: the same command again adds what is missing.
"""

from collections.abc import Sequence

import click

from spectrace.audit.lines import counted
from spectrace.cli import console
from spectrace.cli.loop import run_loop
from spectrace.cli.options import Decorator, whole
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


def require_queue(url: str) -> None:
    """Raise before anything is recorded where there can be no queue; make it where there is none yet."""
    queue_schema.prepare(url)


def put_into_queue(store: SqlEventStore, url: str, plan: Plan, episodes: Sequence[str], size: int) -> int:
    """Put what is left of a run that was begun into its queue; return how many shards that makes."""
    if runs.get(store, plan.run).cancelled_at is not None:
        raise UsageError(f"run {plan.run!r} was cancelled: nothing more of it is begun. Give another --name.")
    whole_parts = {(one.parent, one.repeat) for one in runs.items(store, plan.run) if one.verdict_seq == WHOLE}
    repeats = range(1, plan.repeat + 1)
    left = [one for one in episodes if any((one, repeat) not in whole_parts for repeat in repeats)]
    return run_loop(_enqueue(url, plan.run, left, size))


def say_queued(url: str, plan: Plan, shards: int, prompts: str) -> None:
    """Say what was queued, and what works on it."""
    asked = "" if prompts == "recorded" else f" --prompts {prompts}"
    console.say(f"Run {plan.run}: {counted(shards, 'shard')} put into the queue. Start on each machine:")
    console.say(f"  spectrace worker --verifier {plan.verifier}{asked} --run {plan.run} --db {shown(parse_url(url))}")
    console.say(f"How it stands: spectrace runs {plan.run}", style="dim")


async def _enqueue(url: str, run: str, episodes: Sequence[str], size: int) -> int:
    async with open_queue(url) as jobs:
        return await enqueue(jobs, run, episodes, size)
