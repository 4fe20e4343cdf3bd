"""Shards: a run's episodes in pieces of a few dozen, as the jobs of a queue. Whoever takes them: `queue.Worker`.

Nothing named in a queue is run. A job names a run and episodes of its selection, and nothing else; one that does not is
refused here, so that whatever somebody wrote into the database cannot make a worker do more than its own work.
"""

from collections.abc import Collection, Sequence

from spectrace.errors import UsageError
from spectrace.store.jobs import JSON, REVERIFY_TASK, Job, Jobs

SHARD = 64
"""Episodes of one: under 1 % of the time goes into the queue, and a worker that dies leaves little."""


def shards(run: str, episodes: Sequence[str], size: int = SHARD) -> list[JSON]:
    """Return the jobs of a run's episodes."""
    return [{"run": run, "episodes": list(episodes[first : first + size])} for first in range(0, len(episodes), size)]


def episodes_of(job: Job, selection: Collection[str]) -> tuple[str, ...]:
    """Return the episodes that a job names; raise UsageError for one that nobody of us can have put there."""
    if job.task != REVERIFY_TASK:
        raise UsageError(f"expected a job {REVERIFY_TASK}, found {job.task[:80]!r}")
    if not isinstance(job.args, dict) or set(job.args) != {"run", "episodes"}:
        raise UsageError(f"expected a run and episodes, found {str(job.args)[:80]!r}")
    if job.args["run"] != job.run:
        raise UsageError(f"it lay in the queue of run {job.run!r} and names {str(job.args['run'])[:80]!r}")
    named = job.args["episodes"]
    if not isinstance(named, list) or not named or not all(isinstance(one, str) for one in named):
        raise UsageError(f"expected a list of episodes, found {str(named)[:80]!r}")
    foreign = next((one for one in named if one not in selection), None)
    if foreign is not None:
        raise UsageError(f"episode {foreign[:80]!r} is not in the selection of run {job.run!r}")
    return tuple(dict.fromkeys(named))


async def enqueue(jobs: Jobs, run: str, episodes: Sequence[str], size: int = SHARD) -> int:
    """Put those of a run's episodes into its queue that are not there yet; return how many shards that makes.

    A shard that failed is no longer there: its episodes get another.
    """
    there: set[object] = set()
    for args in await jobs.pending(run):
        named = args.get("episodes") if isinstance(args, dict) else None
        there.update(one for one in (named if isinstance(named, list) else ()) if isinstance(one, str))
    made = shards(run, [one for one in episodes if one not in there], size)
    await jobs.forget(run)
    await jobs.defer(run, made)
    return len(made)
