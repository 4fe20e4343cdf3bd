"""A run to be judged again: shop episodes that differ, and a verifier whose verdicts follow from the prompt alone."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Sequence

from spectrace.core.types import Action, Finish, ModelRequest
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.pass_plan import Plan
from spectrace.runs.passes import Rejudging, judge_shard
from spectrace.runs.verifiers import Single
from spectrace.store import runs
from spectrace.store.run_arbiter import RunArbiter
from spectrace.store.sql import SqlEventStore
from tests.episodes import CANCEL, FIND, READ, STRONG, record_shop
from tests.playbook import accept, reject


def shop_episodes(store: SqlEventStore, number: int) -> list[str]:
    """Record so many episodes with three reviews each, no two with the same prompts."""

    async def record() -> list[str]:
        found = []
        for n in range(number):
            weak = [CANCEL, *[READ] * (1 + n % 2), CANCEL, Finish(f"W200 is cancelled, as order {n}.")]
            found.append((await record_shop(store, weak=weak, strong=STRONG)).episode)
        return found

    return asyncio.run(record())


def by_prompt(request: ModelRequest) -> str:
    """Accept, reject or say nothing that can be read, as the prompt's digest has it."""
    text = "\0".join(message.content for message in request.messages)
    drawn = int(hashlib.sha256(text.encode()).hexdigest(), 16) % 10
    return "?" if drawn == 0 else reject(1, FIND if drawn % 2 else None) if drawn < 5 else accept()


def verifier(reply: object = by_prompt) -> ScriptedModel:
    return ScriptedModel(reply, name="second")


def begun(store: SqlEventStore, episodes: Sequence[str], plan: Plan) -> RunArbiter:
    """Begin a run, or go on with it."""
    pairs = [(name, store.row(name).head.hex()) for name in episodes]
    if runs.find(store, plan.run) is None:
        runs.begin(store, plan.run, "reverify", pairs, plan.to_json())
    return RunArbiter(store, plan.run)


def work(store: SqlEventStore, episodes: Sequence[str], plan: Plan, model: object = None, **more: object) -> Rejudging:
    """Return a run at work, its verifier `by_prompt` unless another is given."""
    arbiter = more.pop("arbiter", None) or begun(store, episodes, plan)
    return Rejudging(store=store, arbiter=arbiter, plan=plan, pool=Single(model or verifier()), **more)


def judged(at_work: Rejudging, episodes: Sequence[str], concurrency: int = 1) -> list:
    return asyncio.run(judge_shard(at_work, episodes, concurrency=concurrency))


def scores(*log_odds: float) -> str:
    """Log-probabilities of yes and no, as a scored verdict is answered; a positive difference is above one half."""
    return json.dumps({"yes": [f"{min(x, 0)}" for x in log_odds], "no": [f"{min(-x, 0)}" for x in log_odds]})


def reason(replacement: Action | None = None) -> str:
    """Return what a scored rejection decodes."""
    return reject(1, replacement).replace('"verdict": "reject", "first_wrong": 1, ', "")


def scoring(log_odds: Callable[[ModelRequest], float], asked: list[ModelRequest] | None = None) -> ScriptedModel:
    """A verifier that scores every step of a review alike, and explains what it rejects."""

    def answer(request: ModelRequest) -> str:
        if asked is not None:
            asked.append(request)
        assert request.scoring is not None, "it was asked to write its verdict"
        return scores(*[log_odds(request)] * request.scoring.steps) if request.scoring.rejected is None else reason()

    return ScriptedModel(answer, name="second")
