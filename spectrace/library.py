"""The library's verbs: run, replay, fork, resume, reverify. What the command line does, for a program of your own.

All are coroutines: `asyncio.run(spectrace.run(...))`. Models and environments are values (ScriptedModel,
Environment.from_functions) or the texts that the command line takes (`sglang:NAME@URL`, `shop`).
"""

import os
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Literal

from spectrace import config
from spectrace.audit.children import require_untouched
from spectrace.audit.recovery import require_ended
from spectrace.audit.settling import person
from spectrace.core.events import Event
from spectrace.core.prompts import Prompts
from spectrace.core.protocols import recorded_protocol
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Task
from spectrace.environments.environment import Environment
from spectrace.errors import UsageError
from spectrace.models.client import ModelClient
from spectrace.models.functions import Judging
from spectrace.redaction.opening import open_for
from spectrace.redaction.redactor import Redactor
from spectrace.runs.fork import Edit, fork_episode, fork_point
from spectrace.runs.interrupted import left_by
from spectrace.runs.live import EpisodeProtocol, Labels, Prices, Recorded, record
from spectrace.runs.pass_plan import Plan
from spectrace.runs.preflight import readable
from spectrace.runs.purse import Purse
from spectrace.runs.reexecution import passing_of
from spectrace.runs.replay import ReplayResult, replay_episode
from spectrace.runs.resume import resume_episode
from spectrace.runs.reverify import Recheck
from spectrace.runs.reverify_all import reverify_all
from spectrace.runs.sources import Limits
from spectrace.runs.verifiers import pool_of
from spectrace.store.event_store import EventStore
from spectrace.store.listing import Listable
from spectrace.store.redaction_key import redactor_for

Redacting = Redactor | Literal[False] | None
"""Who redacts; None: what spectrace.toml says (credentials, unless it says otherwise); False: nobody."""


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
    redactor: Redacting = None,
) -> Recorded:
    """Run one episode live, record it in `store`, and return its id, outcome and totals.

    `task` is a Task or the id of one of the environment's. The protocol is SpecAgent() unless you give another; its
    options max_cost_usd and max_wall_s end the episode. `prices` are by `provider:name`; without them those of
    spectrace.toml. So it is with what is redacted before it is recorded; redactor=False redacts nothing. Raises
    UsageError where a model, a task or a price that is needed is missing.
    """
    if store is None:
        raise UsageError("run needs a store to record in: store=spectrace.open_store('sqlite:///runs.db').")
    protocol = protocol or SpecAgent()
    environment = config.open_environment(env) if isinstance(env, str) else env
    async with _opened(protocol, {"weak": weak, "strong": strong, "user": user}) as clients:
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
            redactor=_redactor(redactor, store),
        )


def _redactor(given: Redacting, store: EventStore) -> Redactor | None:
    """Return the caller's redactor, none for False, or else what spectrace.toml says."""
    if isinstance(given, Redactor):
        return given
    return None if given is False else redactor_for(store, config.settings_here().redaction)


def _reading(given: Redacting, events: Sequence[Event]) -> Redactor | None:
    """Return who redacts what a fresh environment answers to a redacted record; nothing is recorded."""
    if isinstance(given, Redactor):
        return given
    return None if given is False else open_for(events[0].body, config.settings_here().redaction, os.environ)


def _task(environment: Environment, name: str) -> Task:
    tasks = environment.tasks()
    for task in tasks:
        if task.id == name:
            return task
    raise UsageError(f"no task is named {name!r}; there are {', '.join(task.id for task in tasks) or 'none'}.")


async def replay(  # noqa: PLR0913 - what a replay may be given, by name
    episode: str,
    store: EventStore,
    *,
    prompts: Prompts | None = None,
    options: Mapping[str, object] | None = None,
    env: Environment | str | None = None,
    accept: Iterable[str] = (),
    volatile: Iterable[str] = (),
    frozen: bool = False,
    redactor: Redacting = None,
) -> ReplayResult:
    """Replay an episode from its record, with other prompts or options on request.

    With `env`, execute its actions again on that fresh environment. Its answers must be exactly the recorded ones but
    for the classes in `accept` (json-equal, cosmetic, id-renamed, volatile) and for `volatile` places, such as
    `get_order:/created_at`; `frozen` takes the recorded tools as they were, though they have changed.
    """
    events = list(store.read(store.resolve(episode)))
    parent = getattr(events[0].body, "parent", None)
    parent_events = list(store.read(parent.episode)) if parent is not None else None
    environment = config.open_environment(env) if isinstance(env, str) else env
    return await replay_episode(
        events,
        prompts=prompts,
        options=options,
        environment=environment,
        passing=passing_of(accept, volatile),
        frozen=frozen,
        parent=parent_events,
        redactor=None if environment is None else _reading(redactor, events),
    )


async def fork(  # noqa: PLR0913 - an episode's parts, by name
    episode: str,
    seq: int,
    env: Environment | str,
    weak: ModelClient | str | None = None,
    strong: ModelClient | str | None = None,
    store: EventStore | None = None,
    *,
    user: ModelClient | str | None = None,
    protocol: EpisodeProtocol | None = None,
    prompts: Prompts | None = None,
    verdict: str | None = None,
    by: str | None = None,
    limits: Limits | None = None,
    prices: Prices | None = None,
    redactor: Redacting = None,
) -> Recorded:
    """Record a child of an episode: its record up to event `seq`, executed again on a fresh environment; then live.

    `protocol` and `prompts` take the place of the recorded ones. `verdict` is the JSON of one that takes the place of
    the recorded verdict at `seq`; what it lets run is done on the authority of `by`, who must be named. Raises
    Untestable where the environment cannot be brought back, UsageError for what cannot be forked or is no verdict.
    """
    if verdict is not None and by is None:
        raise UsageError("an edited verdict needs by=NAME: what then runs is done on that person's authority.")
    who = None if by is None else person(by)
    edit = Edit(verdict, who) if verdict is not None and who is not None else None
    if store is None:
        raise UsageError("fork needs the store that holds the episode: store=spectrace.open_store(...).")
    events = list(store.read(store.resolve(episode)))
    chosen = protocol or recorded_protocol(readable(fork_point(events, seq, edit)))
    async with _opened(chosen, {"weak": weak, "strong": strong, "user": user}) as clients:
        return await fork_episode(
            events,
            seq,
            config.open_environment(env) if isinstance(env, str) else env,
            clients,
            store,
            protocol=chosen,
            prompts=prompts,
            edit=edit,
            operator=by,
            limits=limits,
            prices=config.settings_here().prices if prices is None else prices,
            redactor=_redactor(redactor, store),
        )


async def resume(  # noqa: PLR0913 - an episode's parts, by name
    episode: str,
    env: Environment | str,
    weak: ModelClient | str | None = None,
    strong: ModelClient | str | None = None,
    store: Listable | None = None,
    *,
    user: ModelClient | str | None = None,
    by: str | None = None,
    moved: bool = False,
    limits: Limits | None = None,
    prices: Prices | None = None,
    redactor: Redacting = None,
) -> Recorded:
    """Go on with an interrupted episode where it stopped, in a child episode; nothing that was done is done again.

    The environment must be one whose state outlives its process (`Environment.from_functions(..., attach=...)`).
    `moved` goes on though that state is not the recorded one; `by` is who answers for it. Raises Unsettled while nobody
    has said what became of a write that has no outcome (`spectrace audit settle`), Untestable where the environment
    cannot be attached to or its state moved, UsageError for an episode that was not interrupted or that a child has
    gone on with, Conflict while somebody writes it.
    """
    if by is not None:
        person(by)  # refuses a name that could be taken for another
    if store is None:
        raise UsageError("resume needs the store that holds the episode: store=spectrace.open_store(...).")
    name = store.resolve(episode)
    require_ended(store, name)
    left = left_by(list(store.read(name)))
    require_untouched(store, name)
    async with _opened(recorded_protocol(left.started), {"weak": weak, "strong": strong, "user": user}) as clients:
        return await resume_episode(
            left,
            config.open_environment(env) if isinstance(env, str) else env,
            clients,
            store,
            by=by,
            moved=moved,
            limits=limits,
            prices=config.settings_here().prices if prices is None else prices,
            admit=lambda: require_untouched(store, name),
            redactor=_redactor(redactor, store),
        )


@asynccontextmanager
async def _opened(
    protocol: EpisodeProtocol, given: Mapping[str, ModelClient | str | None]
) -> AsyncIterator[dict[str, ModelClient]]:
    """Open the models that are given as text, and close those again; refuse where the protocol asks one more."""
    missing = [role for role in protocol.MODELS if given[role] is None]
    if missing:
        raise UsageError(f"{protocol.NAME} needs {' and '.join(missing)}: pass a model as {missing[0]}=.")
    clients = {
        role: config.open_model(model) if isinstance(model, str) else model
        for role, model in given.items()
        if model is not None
    }
    try:
        yield clients
    finally:
        for role, client in clients.items():
            if isinstance(given[role], str):
                await client.close()


async def reverify(  # noqa: PLR0913 - what the command line takes, by name
    episode: str | Sequence[str],
    verifier: ModelClient | str | Judging,
    store: EventStore,
    *,
    name: str = "reverify",
    prompts: Prompts | None = None,
    repeat: int = 1,
    concurrency: int = 1,
    max_cost_usd: str | None = None,
    verdict: str = "decoded",
    threshold: str = "0.5",
    prices: Prices | None = None,
    redactor: Redacting = None,
) -> list[Recheck]:
    """Put the reviews of one or several episodes to another verifier; its verdicts are recorded under the run `name`.

    The verifier is a model, a text that `--verifier` takes (`sglang:NAME@URL`, `labels:FILE`, `module:attribute`), or a
    function of a ReviewRequest, plain or async, that returns a Verdict (what else it may return: `models.functions`).

    Each review is judged `repeat` times; every time, each episode has a child of its own, and `concurrency` of them are
    at work at once. `max_cost_usd`, a decimal text, needs a price (`prices`, else those of spectrace.toml): once this
    call has spent so much, nothing more is asked, and what was not judged is not in the list. With verdict="scored" a
    verdict is read from probabilities, with nothing decoded where all is accepted: a step stands from the probability
    `threshold` on. Raises UsageError for a verifier that gives none. The command line, unlike this, goes on with a run
    by its name; this judges everything anew.
    """
    episodes = [store.resolve(one) for one in ([episode] if isinstance(episode, str) else episode)]
    called = verifier if isinstance(verifier, str) else str(getattr(verifier, "__name__", type(verifier).__name__))
    for what, number in (("repeat", repeat), ("concurrency", concurrency)):
        if type(number) is not int or number < 1:
            raise UsageError(f"{what} must be a whole number of at least 1, found {number!r}.")
    SpecAgent(verdict=verdict, threshold=threshold, max_cost_usd=max_cost_usd)  # the same names have the same ranges
    plan = Plan(name, called, repeat=repeat, verdict=verdict, threshold=threshold)
    if isinstance(verifier, str):
        pool = config.open_verifier(verifier)
    else:
        pool = config.function_verifier(verifier) if callable(verifier) else pool_of(verifier)
    try:
        return await reverify_all(
            store,
            episodes,
            pool,
            plan,
            prompts=prompts,
            prices=config.settings_here().prices if prices is None else prices,
            purse=Purse(max_cost_usd, of_run=True),
            concurrency=concurrency,
            redactor=_redactor(redactor, store),
        )
    finally:
        if isinstance(verifier, str):
            await pool.close()
