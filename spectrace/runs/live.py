"""Record a live episode: describe what is here, run the protocol, end the log whatever happens.

Every exit writes an end: the protocol's own outcome, `interrupted` on Ctrl-C, `failed` on an error of ours. Only a
killed process leaves none, and its lease then says that it is gone.
"""

import asyncio
import json
import platform
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import ClassVar
from typing import Protocol as Port

from spectrace import __version__
from spectrace.core import commands
from spectrace.core.classified import by_record
from spectrace.core.digest import task_digest, tools_digest
from spectrace.core.events import EpisodeStarted, Parent, Totals, Versions
from spectrace.core.prompts import PROTOCOL_REVISION, Prompts
from spectrace.core.setup import Setup, setup_of
from spectrace.core.types import ModelFacts, Outcome, Task
from spectrace.cost.prices import Price, price_of
from spectrace.environments.environment import Environment, classifier_of
from spectrace.errors import EnvironmentFailed, ModelFailed
from spectrace.models.client import ModelClient
from spectrace.redaction.filing import require_plain
from spectrace.redaction.redactor import Redactor
from spectrace.redaction.values import redacted
from spectrace.runs.drive import Driver
from spectrace.runs.purse import Purse, require_prices
from spectrace.runs.recorder import LogFull, Recorder, Watcher, now_us, threads
from spectrace.runs.redacting import redacting, without_secrets
from spectrace.runs.sources import Limits, LiveSource
from spectrace.store.event_store import EpisodeWriter, EventStore
from spectrace.store.process import operator

_RENEW_EVERY_S = 10.0
_CANCELLED = Outcome("interrupted", "cancelled")

Admit = Callable[[EpisodeStarted], None]
"""Looks at an episode before it is created, and raises UsageError where it must not be."""

Prices = Mapping[str, Sequence[Price]]
"""`provider:name` -> the user's own prices of it."""


class EpisodeProtocol(Port):
    """A protocol value, e.g. `SpecAgent(k=6)`: a frozen dataclass of options that makes a generator."""

    NAME: ClassVar[str]
    MODELS: ClassVar[tuple[str, ...]]

    def run(self, setup: Setup) -> commands.Protocol[Outcome]:
        """Return the generator of one episode."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """How an episode is filed."""

    project: str = "default"
    labels: tuple[tuple[str, str], ...] = ()
    operator: str | None = None
    run: str | None = None
    trial: int = 0
    seed: int | None = None
    concurrency: int | None = None
    """Episodes at once in the run; None where nobody knows."""
    parent: Parent | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """What came of a live episode."""

    episode: str
    task: str
    trial: int
    outcome: Outcome
    totals: Totals = field(default_factory=Totals)
    protocol: str = ""


def new_episode_id() -> str:
    """Return 16 random hex digits: a few of them name an episode."""
    return secrets.token_hex(8)


def options_of(protocol: object) -> str:
    """Return a protocol's options as JSON text, keys sorted."""
    values = {item.name: getattr(protocol, item.name) for item in fields(protocol)}  # type: ignore[arg-type]
    return json.dumps(values, sort_keys=True)


class Described(Port):
    """Whoever can say who it is: a model, or the pool of a verifier."""

    async def facts(self) -> ModelFacts:
        """Contact it, and say."""
        ...


async def describe(
    clients: Mapping[str, Described], seed: int | None, prices: Prices | None = None
) -> tuple[ModelFacts, ...]:
    """Contact every model once; a seed becomes one of its sampling parameters, and today's price is looked up."""
    today, described = datetime.now(UTC).date(), []
    for role, client in clients.items():
        facts = replace(await client.facts(), role=role)
        price = price_of(facts.provider, facts.name, today, prices)
        facts = replace(facts, price=None if price is None else price.to_json())
        if seed is not None:
            facts = replace(facts, parameters=json.dumps({**json.loads(facts.parameters), "seed": seed}))
        described.append(facts)
    return tuple(described)


def started(  # noqa: PLR0913 - everything that an episode is made of
    environment: Environment,
    task: Task,
    protocol: EpisodeProtocol,
    prompts: Prompts,
    models: tuple[ModelFacts, ...],
    labels: Labels,
    redactor: Redactor | None = None,
) -> EpisodeStarted:
    """Return event 0: all that the generator needs to be run again, redacted, with digests over what is recorded."""
    facts = environment.prepare(task)
    tools = environment.tools()
    first = EpisodeStarted(
        project=labels.project,
        labels=labels.labels,
        started_by=operator(),
        operator=labels.operator,
        task=Task(task.id, task.request, task.data),  # a subclass may carry a grade, which is no data
        task_digest=task_digest(task),
        environment=facts,
        instructions=environment.instructions(task),
        tools=tools,
        tools_digest=tools_digest(tools),
        protocol=protocol.NAME,
        protocol_revision=PROTOCOL_REVISION,
        options=options_of(protocol),
        prompts=prompts.to_json(),
        models=models,
        seed=labels.seed,
        trial=labels.trial,
        run=labels.run,
        concurrency=labels.concurrency,
        versions=versions(redactor),
        parent=labels.parent,
    )
    return redacted(redactor, first)


def versions(redactor: Redactor | None = None) -> Versions:
    """Return what writes the log, and what redacts it."""
    return Versions(__version__, platform.python_version(), None if redactor is None else redactor.version)


async def record(  # noqa: PLR0913 - everything that an episode is made of
    task: Task,
    environment: Environment,
    clients: Mapping[str, ModelClient],
    protocol: EpisodeProtocol,
    store: EventStore,
    *,
    prompts: Prompts | None = None,
    labels: Labels | None = None,
    limits: Limits | None = None,
    prices: Prices | None = None,
    purse: Purse | None = None,
    watch: Watcher | None = None,
    admit: Admit | None = None,
    redactor: Redactor | None = None,
) -> Recorded:
    """Run one episode live and record it; its calls are paid from its own purse and from that of a whole run, `purse`.

    Raises UsageError, EnvironmentFailed or ModelFailed before anything is recorded when the task cannot be prepared or
    a model does not answer at all; after that every failure is in the log and in the outcome. With a `redactor` neither
    the log nor an error holds a secret that it knows; the environment is given the task as it is.
    """
    labels = labels or Labels()
    redactor = None if redactor is None else redactor.fresh()
    try:
        if redactor is not None:  # before a model is contacted; a fork or a resumed run stays where its parent is filed
            names = {"the project": labels.project, "the run": labels.run, "the task id": task.id}
            require_plain(redactor.rules, names)
        models = await describe(clients, labels.seed, prices)
        purses = (Purse.of(protocol), *(() if purse is None else (purse,)))
        require_prices(models, purses)
        first = started(environment, task, protocol, prompts or Prompts(), models, labels, redactor)
        if admit is not None:
            admit(first)
        source = LiveSource(environment, clients, limits or Limits(), models, tools=first.tools, purses=purses)
        answering = redacting(source, redactor)
        going = protocol.run(setup_of(first, by_record((), classifier_of(environment))))
        recorder, writer = await begin(store, new_episode_id(), first, watch)
        if watch is not None:
            watch(recorder.episode, 0, first)
        outcome = await run_recorded(Driver(answering, recorder, "live"), going, recorder, writer)
    except (ModelFailed, EnvironmentFailed) as failure:
        raise without_secrets(redactor, failure) from None
    finally:  # whatever became of it: an environment may hold a thread, a process, a connection
        await environment.close()
    return Recorded(recorder.episode, task.id, labels.trial, outcome, recorder.totals, protocol.NAME)


async def begin(
    store: EventStore, episode: str, first: EpisodeStarted, watch: Watcher | None
) -> tuple[Recorder, EpisodeWriter]:
    """Create the episode. Who is cancelled meanwhile cannot take it back, and ends it as interrupted."""
    creating = threads().submit(store.create, episode, first, now_us())
    try:
        writer = await asyncio.wrap_future(creating)
    except asyncio.CancelledError:
        if not creating.cancel() and creating.exception() is None:  # waits for it, as an end does
            with closing(creating.result()) as unused:
                Recorder(episode, unused).end(_CANCELLED)
        raise
    return Recorder(episode, writer, watch, first), writer


async def run_recorded(
    driver: Driver, protocol: commands.Protocol[Outcome], recorder: Recorder, writer: EpisodeWriter
) -> Outcome:
    """Drive a protocol to its end, keep the lease, and write the end whatever happens."""
    renewal = asyncio.create_task(_renew(writer))
    try:
        outcome = await _outcome(driver, protocol)
        await asyncio.to_thread(recorder.end, outcome)
    except asyncio.CancelledError:
        recorder.end(_CANCELLED)
        raise
    except Exception as error:
        recorder.end(Outcome("failed", f"error_{type(error).__name__}"))
        raise
    finally:
        renewal.cancel()
        with suppress(asyncio.CancelledError):
            await renewal
        await asyncio.to_thread(writer.close)
    return outcome


async def _outcome(driver: Driver, protocol: commands.Protocol[Outcome]) -> Outcome:
    try:
        return await driver.run(protocol)
    except LogFull:
        return Outcome("truncated", "max_events", reward="0.0")


async def _renew(writer: EpisodeWriter) -> None:
    while True:
        await asyncio.sleep(_RENEW_EVERY_S)
        await asyncio.to_thread(writer.renew)
