"""Re-verification of several episodes in one process, with no run to go on with: everything is judged anew.

What the library does. Counterpart of `passes`, which goes on with a run that was begun and works beside others.
"""

from collections.abc import Iterator, Sequence

from spectrace.core.prompts import Prompts
from spectrace.redaction.redactor import Redactor
from spectrace.runs.live import Prices
from spectrace.runs.pass_plan import Plan
from spectrace.runs.purse import Purse
from spectrace.runs.reverify import Recheck, reverify_episode
from spectrace.runs.together import together
from spectrace.runs.verifiers import Pool, require_scoring
from spectrace.store.event_store import EventStore


async def reverify_all(  # noqa: PLR0913 - what the parts share
    store: EventStore,
    episodes: Sequence[str],
    pool: Pool,
    plan: Plan,
    *,
    prompts: Prompts | None = None,
    prices: Prices | None = None,
    purse: Purse | None = None,
    concurrency: int = 1,
    redactor: Redactor | None = None,
) -> list[Recheck]:
    """Judge every repeat of every episode, `concurrency` at once; return them by episode, then by repeat.

    The first repeat of all comes before the second of any. Nothing is begun once the purse is empty.
    """
    if plan.verdict == "scored":
        require_scoring(pool, plan.verifier)
    names, purse = list(dict.fromkeys(episodes)), purse or Purse()
    waiting = iter([(one, repeat) for repeat in range(1, plan.repeat + 1) for one in names])
    found: dict[tuple[str, int], list[Recheck]] = {}

    async def work(waiting: Iterator[tuple[str, int]]) -> None:
        for one, repeat in waiting:
            if purse.empty is not None:
                return
            found[one, repeat], _ = await reverify_episode(
                list(store.read(one)),
                pool,
                store,
                plan.run,
                prompts=prompts,
                scope=plan.scope(repeat),
                prices=prices,
                purse=purse,
                concurrency=concurrency,
                redactor=redactor,
            )

    await together(work(waiting) for _ in range(concurrency))
    repeats = range(1, plan.repeat + 1)
    return [row for one in names for repeat in repeats for row in found.get((one, repeat), ())]
