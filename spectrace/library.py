"""The library's verbs: run, replay, reverify. What the command line does, for a program of your own.

All three are coroutines: `asyncio.run(spectrace.run(...))`. Models and environments are values (ScriptedModel,
Environment.from_functions) or the texts that the command line takes (`sglang:NAME@URL`, `shop`).
"""

from collections.abc import Mapping

from spectrace import config
from spectrace.core.prompts import Prompts
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Task
from spectrace.environments.environment import Environment
from spectrace.errors import UsageError
from spectrace.models.client import ModelClient
from spectrace.runs.live import EpisodeProtocol, Labels, Prices, Recorded, record
from spectrace.runs.replay import ReplayResult, replay_episode
from spectrace.runs.reverify import Recheck, reverify_episode
from spectrace.runs.sources import Limits
from spectrace.store.event_store import EventStore


async def run(  # noqa: PLR0913 - an episode's parts, by name
    task: Task | str,
    env: Environment | str,
    weak: ModelClient | str | None = None,
    strong: ModelClient | str | None = None,
    protocol: EpisodeProtocol | None = None,
    store: EventStore | None = None,
    *,
    user: ModelClient | str | None = None,
    prompts: Prompts | None = None,
    labels: Labels | None = None,
    limits: Limits | None = None,
    prices: Prices | None = None,
) -> Recorded:
    """Run one episode live, record it in `store`, and return its id, outcome and totals.

    `task` is a Task or the id of one of the environment's. The protocol is SpecAgent() unless you give another; its
    options max_cost_usd and max_wall_s end the episode. `prices` are by `provider:name`; without them those of
    spectrace.toml. Raises UsageError where a model, a task or a price that is needed is missing.
    """
    if store is None:
        raise UsageError("run needs a store to record in: store=spectrace.open_store('sqlite:///runs.db').")
    protocol = protocol or SpecAgent()
    environment = config.open_environment(env) if isinstance(env, str) else env
    given = {"weak": weak, "strong": strong, "user": user}
    missing = [role for role in protocol.MODELS if given[role] is None]
    if missing:
        raise UsageError(f"{protocol.NAME} needs {' and '.join(missing)}: pass a model as {missing[0]}=.")
    clients = {
        role: config.open_model(model) if isinstance(model, str) else model
        for role, model in given.items()
        if model is not None
    }
    try:
        chosen = _task(environment, task) if isinstance(task, str) else task
        return await record(
            chosen,
            environment,
            clients,
            protocol,
            store,
            prompts=prompts,
            labels=labels,
            limits=limits,
            prices=config.settings_here().prices if prices is None else prices,
        )
    finally:
        for role, client in clients.items():
            if isinstance(given[role], str):
                await client.close()


def _task(environment: Environment, name: str) -> Task:
    tasks = environment.tasks()
    for task in tasks:
        if task.id == name:
            return task
    raise UsageError(f"no task is named {name!r}; there are {', '.join(task.id for task in tasks) or 'none'}.")


async def replay(
    episode: str,
    store: EventStore,
    *,
    prompts: Prompts | None = None,
    options: Mapping[str, object] | None = None,
    env: Environment | str | None = None,
) -> ReplayResult:
    """Replay an episode from its record, with other prompts or options on request.

    With `env`, execute its actions again on that fresh environment.
    """
    events = list(store.read(store.resolve(episode)))
    parent = getattr(events[0].body, "parent", None)
    parent_events = list(store.read(parent.episode)) if parent is not None else None
    environment = config.open_environment(env) if isinstance(env, str) else env
    return await replay_episode(events, prompts=prompts, options=options, environment=environment, parent=parent_events)


async def reverify(
    episode: str,
    verifier: ModelClient | str,
    store: EventStore,
    *,
    name: str = "reverify",
    prompts: Prompts | None = None,
) -> list[Recheck]:
    """Put an episode's reviews to another verifier; its verdicts are recorded as a child episode of the run `name`."""
    client = config.open_model(verifier) if isinstance(verifier, str) else verifier
    try:
        events = list(store.read(store.resolve(episode)))
        rechecks, _ = await reverify_episode(events, client, store, name, prompts=prompts)
    finally:
        if isinstance(verifier, str):
            await client.close()
    return rechecks
