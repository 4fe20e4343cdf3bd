"""A log with recorded reviews and runs that judged them again: three reviews an episode, verdicts drawn."""

import asyncio
import json
import random

from spectrace.core.baselines import WeakOnly
from spectrace.core.fold import fold
from spectrace.core.rereviews import Scope, selected
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Finish
from spectrace.environments.functions import FunctionEnvironment, tool
from spectrace.environments.tasks import Task
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.drive import Driver
from spectrace.runs.live import Labels, begin, describe, new_episode_id, record, run_recorded
from spectrace.runs.reverify import asks_again, child_started
from spectrace.runs.sources import ModelSource
from tests.playbook import accept, reject
from tests.verifying import reason, scores

CATEGORIES = ("premature", "wrong_arguments", "policy_violation")
OTHER = Call("change", json.dumps({"what": "another"}))


@tool(effect="write")
def change(state: dict, what: str) -> str:
    """Change something."""
    state[what] = True
    return f"{what} is changed"


def open_changes(tasks=20):
    """An environment whose odd tasks pass."""
    listed = [Task(f"t{n:02}", f"Change number {n}.", grade=lambda _, n=n: n % 2 == 1) for n in range(tasks)]
    return FunctionEnvironment.from_functions(
        "changes", [change], "Change what is asked.", reset=lambda task, seed: {}, tasks=listed
    )


def verdicts(draw, accepting, n=3):
    """Verdicts on segments of one step each."""
    return [
        accept() if draw.random() < accepting else reject(1, OTHER, category=draw.choice(CATEGORIES)) for _ in range(n)
    ]


def drafts():
    return [*(Call("change", json.dumps({"what": what})) for what in ("first", "second")), Finish("Done.")]


async def _record(store, tasks, run, protocol, accepting, seed):  # noqa: PLR0913
    draw, environment, ids = random.Random(seed), open_changes(tasks), []  # noqa: S311 - a simulation
    for task in environment.tasks():
        models = {"weak": ScriptedModel(drafts()), "strong": ScriptedModel(verdicts(draw, accepting), name="first")}
        models = {role: models[role] for role in protocol.MODELS}
        made = await record(task, environment.fresh(), models, protocol, store, labels=Labels(run=run))
        ids.append(made.episode)
    return ids


def record_reviews(store, tasks=20, run="first", accepting=0.7, seed=1):
    """Record an episode of each task under review; return their ids."""
    return asyncio.run(_record(store, tasks, run, SpecAgent(), accepting, seed))


def record_alone(store, tasks=20, run="alone"):
    """Record an episode of each task by one model: their reviews are derived."""
    return asyncio.run(_record(store, tasks, run, WeakOnly(), 1, 1))


def judge_again(store, episodes, run, accepting=0.6, seed=2, *, name="second", unusable=(), **of_pass):  # noqa: PLR0913
    """Judge episodes again with drawn verdicts; those numbered in `unusable` get an answer that is none, twice.

    `of_pass`: repeats, only_rejected, prompts, scored_at (a threshold: then the answers are log-odds around 0).
    """
    draw = random.Random(seed)  # noqa: S311 - a simulation
    for repeat in range(1, of_pass.pop("repeats", 1) + 1):
        for number, episode in enumerate(episodes):
            replies = verdicts(draw, accepting)
            said = ["?", "?", *replies[1:]] if number in unusable else replies
            model = ScriptedModel(said, name=name) if "scored_at" not in of_pass else _scoring(draw, accepting, name)
            asyncio.run(_pass(store, episode, run, model, repeat, **of_pass))


def _scoring(draw, accepting, name):
    """Score near the threshold of one half as often as far from it."""

    def answer(request):
        if request.scoring.rejected is not None:
            return reason()
        sign = 1 if draw.random() < accepting else -1
        return scores(*[sign * draw.choice((0.1, 2.0)) for _ in range(request.scoring.steps)])

    return ScriptedModel(answer, name=name)


async def _pass(store, parent, run, verifier, repeat, *, only_rejected=False, prompts=None, scored_at=None):  # noqa: PLR0913
    episode = fold(store.read(parent))
    chosen = selected(episode, only_rejected=only_rejected)
    reading = {} if scored_at is None else {"verdict": "scored", "threshold": scored_at}
    scope = Scope(only_rejected, repeat, tuple(one.segment for one in chosen), **reading)
    (facts,) = await describe({"strong": verifier}, None)
    first = child_started(episode, facts, run, scope, prompts)
    recorder, writer = await begin(store, new_episode_id(), first, None)
    driver = Driver(ModelSource({"strong": verifier}), recorder, "live")
    await run_recorded(driver, asks_again(first, chosen), recorder, writer)
