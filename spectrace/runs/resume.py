"""Resume an interrupted episode: a child takes its record over and goes on live, and nothing is executed again.

What had been asked and not answered is asked again: a model call, a read, the reset, the grade. Not so a write: it may
have happened, so nothing goes past it until a person has said what became of it (`audit settle`). What ran is answered
with the person's evidence, on their authority; what never ran is asked now, under its own idempotency key.

The environment must be `Attachable`: one whose state died with its process can only be brought back by a fork. Whoever
calls has seen to it that the parent has its end and that nobody else goes on with it (`admit` is asked while the parent
is held, so that two cannot begin at once).
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace

from spectrace.core.classified import by_record
from spectrace.core.deeds import RESUME
from spectrace.core.events import (
    EpisodeStarted,
    GenerateCompleted,
    GenerateRequested,
    OutcomeSettled,
    Parent,
)
from spectrace.core.fold import fold
from spectrace.core.money import rates_by_model
from spectrace.core.protocols import recorded_protocol
from spectrace.core.questions import EDITED
from spectrace.core.setup import setup_of
from spectrace.core.types import EnvironmentFacts, ModelFacts
from spectrace.environments.environment import Attachable, Environment, classifier_of
from spectrace.errors import Conflict, EnvironmentFailed, EpisodeNotFound, ReplayDiverged, Untestable
from spectrace.models.client import ModelClient
from spectrace.redaction.redactor import Redactor
from spectrace.redaction.values import redacted, restored
from spectrace.runs.drive import Driver
from spectrace.runs.interrupted import Left, word_as_observation
from spectrace.runs.live import (
    EpisodeProtocol,
    Prices,
    Recorded,
    begin,
    describe,
    new_episode_id,
    run_recorded,
    versions,
)
from spectrace.runs.purse import Purse, most, require_prices
from spectrace.runs.recorder import Recorder, Watcher
from spectrace.runs.redacting import around, redacting, require_same_key
from spectrace.runs.rehearsing import own_task, rehearse, require_same_tools
from spectrace.runs.sources import Limits, LiveSource, Observed
from spectrace.runs.taking_over import TakenOver, keys_of
from spectrace.store.event_store import EpisodeWriter, EventStore
from spectrace.store.families import line
from spectrace.store.process import operator

_SHORT = 19
"""Characters of a digest that are shown."""


async def resume_episode(  # noqa: PLR0913 - everything that an episode is made of
    left: Left,
    environment: Environment,
    clients: Mapping[str, ModelClient],
    store: EventStore,
    *,
    by: str | None = None,
    moved: bool = False,
    limits: Limits | None = None,
    prices: Prices | None = None,
    watch: Watcher | None = None,
    admit: Callable[[], None] | None = None,
    redactor: Redactor | None = None,
) -> Recorded:
    """Record a child of an interrupted episode that goes on where it was interrupted.

    `moved` goes on although the state is not the recorded one; `admit` may refuse at the last moment. Raises, before
    anything is recorded or done: UsageError where a model is missing; Untestable where the environment cannot be
    attached to, is another one, or its state moved; Conflict where somebody else goes on with the episode.
    """
    try:
        protocol, limits = recorded_protocol(left.started), limits or Limits()
        redactor = None if redactor is None else redactor.fresh()
        require_same_key(left.told, left.started, redactor)
        compared = None if around(left.started) else redactor
        over = await _rehearsed(left.started, protocol, left)
        reached = None if over else environment
        if reached is not None and left.begun and not isinstance(reached, Attachable):
            raise Untestable(_unattachable(left))
        models = await describe(clients, left.started.seed, prices)
        purse = _purse(protocol, left)
        require_prices(models, (purse,))
        first = _first(left, reached, models, by, redactor, compared)
        await _rehearsed(first, protocol, left)  # other models read otherwise, perhaps
        state = await _attached(reached, left, limits, compared)
        if not moved:
            _require_unmoved(left, state)
        live = LiveSource(environment, clients, limits, models, tools=first.tools, purses=(purse,))
        words = {seq: _observed(word, left.last_state, state) for seq, word in left.words.items()}
        going = protocol.run(setup_of(first, by_record(left.told, classifier_of(environment))))
        recorder, writer = await _begun(store, left, first, watch, admit)
        taking = TakenOver(left.told, recorder, redacting(live, compared), words, keys_of(left.events))
        source = redacting(taking, redactor if compared is None else None)
        outcome = await run_recorded(Driver(source, taking, "live"), going, recorder, writer)
    finally:
        await environment.close()
    return Recorded(recorder.episode, first.task.id, first.trial, outcome, recorder.totals, protocol.NAME)


async def _rehearsed(first: EpisodeStarted, protocol: EpisodeProtocol, left: Left) -> bool:
    """Run the protocol on the record alone; return whether it comes to its end there, with nothing left to ask."""
    try:
        return (await rehearse(first, protocol, left.told)).over
    except ReplayDiverged as diverged:
        raise Untestable(
            f"the protocol leaves the record at event {diverged.seq}, so it cannot go on from its end: resume it with "
            f"spectrace {left.started.versions.spectrace}, which recorded it, and with the same models. {diverged}"
        ) from None


def _first(  # noqa: PLR0913 - what it goes on from, and what is here now
    left: Left,
    environment: Environment | None,
    models: tuple[ModelFacts, ...],
    person: str | None,
    redactor: Redactor | None,
    compared: Redactor | None,
) -> EpisodeStarted:
    """Return the child's event 0: the parent's, with what is here now. Raise Untestable for another environment."""
    parent = left.started
    here = parent.environment if environment is None else _same(environment, parent, compared)
    first = replace(
        parent,
        started_by=operator(),
        operator=person,
        environment=here,
        models=models,
        versions=versions(redactor),
        parent=Parent(RESUME, left.events[0].episode, left.told[-1].seq),
        origin=None,
        concurrency=None,
    )
    return redacted(redactor, first)


def _same(environment: Environment, parent: EpisodeStarted, redactor: Redactor | None) -> EnvironmentFacts:
    """Return what is here, which must be what was there: the models have read its instructions and its tools."""
    facts = environment.prepare(own_task(environment, parent, redactor))
    if facts.name != parent.environment.name:
        raise Untestable(f"it was recorded on {parent.environment.name}, the environment given is {facts.name}")
    require_same_tools(parent, environment.tools(), redactor)
    if redacted(redactor, environment.instructions(parent.task)) != parent.instructions:
        raise Untestable("the environment's instructions are others than were recorded: its models have read those")
    return facts


def _unattachable(left: Left) -> str:
    """Say why an episode cannot be gone on with, and what can be done instead."""
    name, episode = left.started.environment.name, left.events[0].episode
    why = (
        f"the environment given cannot be attached to (it has no `attach`), and {episode} had begun on {name}: without "
        "it that state is gone with its process"
    )
    if left.started.environment.restore == "none":
        return f"{why}. {name} declares restore=none, so nothing may be executed again either: run the task anew."
    failed = (event.seq for event in left.told if event.type.endswith(".failed"))
    last = next(failed, left.told[-1].seq + 1) - 1
    return f"{why}. `spectrace fork {episode}:{last}` executes the record again on a fresh one and goes on from there."


async def _attached(
    environment: Environment | None, left: Left, limits: Limits, redactor: Redactor | None
) -> str | None:
    """Take up the task where the environment has it, as it is there; return its fingerprint."""
    if not isinstance(environment, Attachable) or not left.begun:
        return None
    try:
        async with asyncio.timeout(limits.act_s):
            done = left.done if redactor is None else restored(redactor, left.done)
            return await environment.attach(own_task(environment, left.started, redactor), left.started.seed, done)
    except TimeoutError:
        raise EnvironmentFailed(
            "timeout", f"{left.started.environment.name}: no answer to attach within {limits.act_s} s"
        ) from None


def _require_unmoved(left: Left, state: str | None) -> None:
    """Raise Untestable where the state is not the recorded one. A write that was tried may have moved it itself."""
    if left.words or left.last_state is None or state is None or left.last_state[1] == state:
        return
    seq, recorded = left.last_state
    denied = "".join(
        f" {word.authority.removeprefix('person:')} says that event {request} never ran: did it?"
        for request, word in left.never.items()
    )
    raise Untestable(
        f"the state moved: {recorded[:_SHORT]} at event {seq} of {left.events[0].episode}, {state[:_SHORT]} now, so "
        f"somebody changed it since.{denied} Look what that was; --moved goes on all the same."
    )


def _observed(word: OutcomeSettled, last: tuple[int, str] | None, state: str | None) -> Observed:
    """Return a person's word as what the environment would have answered; the state after it is the one found."""
    before = None if last is None else last[1]
    return Observed(word_as_observation(word), before, state, None, EDITED, word.authority)


def _purse(protocol: EpisodeProtocol, left: Left) -> Purse:
    """Return the episode's purse, from which the recorded calls are paid already, and the time that they took."""
    purse, rates = Purse.of(protocol), rates_by_model(left.started)
    asked = {event.seq: event.body.who for event in left.events if isinstance(event.body, GenerateRequested)}
    for event in left.told:
        if isinstance(event.body, GenerateCompleted) and event.body.source != EDITED:
            purse.pay(most(rates.get(asked[event.body.request]), event.body.usage))
    waited = sum(getattr(event.body, "latency_us", None) or 0 for event in left.told)
    purse.pass_time(max(fold(left.told).took_us, waited) / 1_000_000)
    return purse


async def _begun(
    store: EventStore,
    left: Left,
    first: EpisodeStarted,
    watch: Watcher | None,
    admit: Callable[[], None] | None,
) -> tuple[Recorder, EpisodeWriter]:
    """Begin the child while the parent is held, and all that it goes on from: a family is gone on with once."""
    with ExitStack() as held:
        await asyncio.to_thread(_hold, store, left, held)
        if admit is not None:
            await asyncio.to_thread(admit)
        recorder, writer = await begin(store, new_episode_id(), first, watch)
    if watch is not None:
        watch(recorder.episode, 0, first)
    return recorder, writer


def _hold(store: EventStore, left: Left, held: ExitStack) -> None:
    """Hold the episode and those that it goes on from, the first of the family first, where two can only meet."""
    episode = left.events[0].episode
    for name in reversed(line(store, episode)):
        try:
            writer = store.reopen(name)
        except EpisodeNotFound:  # the child was brought here without it
            continue
        held.callback(writer.close)
    if store.row(episode).events != len(left.events):
        raise Conflict(f"{episode} was added to meanwhile: resume it again.")
