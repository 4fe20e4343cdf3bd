"""Fork an episode: the record up to an event, live after it, in a child episode that names its parent.

Before anything runs the protocol is rehearsed against the record alone: with other options it may take another way
before the fork, and then nothing is forked. The child then runs as any episode does. Up to the fork its models are
answered from the record, its actions are executed again on a fresh environment, which must answer as it did then; an
environment that cannot be brought back (restore=none) is never reached. Prompts are those of the child all the way, so
that the child replays by itself; `source` says which answers were taken over.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from spectrace.core.classified import by_record
from spectrace.core.deeds import FORK
from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    Body,
    EpisodeEnded,
    EpisodeStarted,
    EvaluateFailed,
    Event,
    GenerateCompleted,
    GenerateFailed,
    GenerateRequested,
    Parent,
    ReplyUnusable,
    ResetFailed,
    VerdictGiven,
)
from spectrace.core.options import recorded_options
from spectrace.core.prompts import Prompts
from spectrace.core.protocols import recorded_protocol, require_revision
from spectrace.core.questions import EDITED
from spectrace.core.setup import setup_of
from spectrace.core.types import Message, Role, Task, Usage
from spectrace.environments.environment import Environment, classifier_of
from spectrace.errors import ReplayDiverged, Untestable, UsageError
from spectrace.models.client import ModelClient
from spectrace.redaction.redactor import Redactor
from spectrace.redaction.values import redacted
from spectrace.runs.drive import Driver
from spectrace.runs.fork_source import ForkSource
from spectrace.runs.live import (
    EpisodeProtocol,
    Labels,
    Prices,
    Recorded,
    begin,
    describe,
    new_episode_id,
    run_recorded,
    started,
)
from spectrace.runs.preflight import readable, require_restorable
from spectrace.runs.purse import Purse, require_prices
from spectrace.runs.recorder import Watcher
from spectrace.runs.redacting import around, redacting, require_same_key
from spectrace.runs.rehearsing import own_task, rehearse, require_same_tools
from spectrace.runs.sources import Limits, LiveSource
from spectrace.store.event_store import EventStore

_VERDICT = re.compile(r"s\d+", re.ASCII)
"""The position of a review that decodes its verdict."""
_FAILED = (GenerateFailed, ActFailed, ResetFailed, EvaluateFailed)


@dataclass(frozen=True, slots=True)
class Edit:
    """A verdict in place of the recorded one: its JSON text, and who answers for it as `person:NAME`."""

    text: str
    by: str


def fork_point(events: Sequence[Event], seq: int, edit: Edit | None = None) -> list[Event]:
    """Return the record up to event `seq`, with the edited answer at its end if there is one.

    An edit may be placed at a verdict, or at the review that it came from. Raises UsageError or Untestable where the
    episode cannot be forked.
    """
    readable(events)
    if not 0 <= seq <= events[-1].seq:
        raise UsageError(f"episode {events[0].episode} has the events 0 to {events[-1].seq}, not {seq}.")
    told = list(events[: seq + 1]) if edit is None else _edited(events, seq, edit)
    for event in told:
        if isinstance(event.body, EpisodeEnded):
            raise UsageError(f"event {event.seq} of {event.episode} is its end: fork it at an event before.")
        if isinstance(event.body, _FAILED):
            raise Untestable(
                f"event {event.seq} ({event.type}) is a question that got no answer, and nobody can bring that back: "
                "fork the episode before it"
            )
        if isinstance(event.body, ActCompleted) and event.body.source == EDITED:
            raise Untestable(
                f"event {event.seq} ({event.type}) is a person's word on an action that got no answer, and no "
                "environment gives that again: fork the episode before it"
            )
    return told


async def fork_episode(  # noqa: PLR0913 - everything that an episode is made of
    events: Sequence[Event],
    seq: int,
    environment: Environment,
    clients: Mapping[str, ModelClient],
    store: EventStore,
    *,
    protocol: EpisodeProtocol | None = None,
    prompts: Prompts | None = None,
    edit: Edit | None = None,
    operator: str | None = None,
    limits: Limits | None = None,
    prices: Prices | None = None,
    watch: Watcher | None = None,
    redactor: Redactor | None = None,
) -> Recorded:
    """Record a child of an episode: its record up to event `seq`, live after it.

    Raises, before anything is recorded or reaches the environment: UsageError for an answer that is no verdict;
    Untestable where the record cannot be taken over. Raises ReplayDiverged where the fresh environment answers
    otherwise than the recorded one; the child then ends there.
    """
    try:
        redactor = None if redactor is None else redactor.fresh()
        parent, told = readable(events), fork_point(events, seq, redacted(redactor, edit))
        require_same_key(told, parent, redactor)
        compared = None if around(parent) else redactor
        protocol = protocol or recorded_protocol(parent)
        require_revision(parent)
        labels = Labels(
            project=parent.project,
            labels=parent.labels,
            operator=operator,
            trial=parent.trial,
            seed=parent.seed,
            parent=Parent(FORK, events[0].episode, told[-1].seq),
        )
        rendered = prompts or Prompts.from_json(parent.prompts)
        task = own_task(environment, parent, compared)
        require_same_tools(parent, environment.tools(), compared)
        # On the record alone, before the environment is asked for its first state: it may have to be reset for that.
        _require_verdict(await _beyond(parent, protocol, told), edited=edit is not None)
        first = _first(environment, task, protocol, rendered, labels, parent, redactor, compared)
        models = await describe(clients, parent.seed, prices)
        first = replace(first, models=redacted(redactor, models))
        purse = Purse.of(protocol)
        require_prices(models, (purse,))
        _require_verdict(await _beyond(first, protocol, told), edited=edit is not None)
        live = LiveSource(environment, clients, limits or Limits(), models, tools=first.tools, purses=(purse,))
        recorder, writer = await begin(store, new_episode_id(), first, watch)
        if watch is not None:
            watch(recorder.episode, 0, first)
        source = redacting(ForkSource(told, redacting(live, compared)), redactor if compared is None else None)
        driver = Driver(source, recorder, "live")
        setup = setup_of(first, by_record(told, classifier_of(environment)))
        outcome = await run_recorded(driver, protocol.run(setup), recorder, writer)
    finally:
        await environment.close()
    return Recorded(recorder.episode, first.task.id, first.trial, outcome, recorder.totals, protocol.NAME)


async def _beyond(first: EpisodeStarted, protocol: EpisodeProtocol, told: Sequence[Event]) -> Body | None:
    """Return what the protocol comes to first behind the record; raise where it leaves that before the fork."""
    last = told[-1].seq
    try:
        beyond = await rehearse(first, protocol, told, _changed(readable(told), protocol))
    except ReplayDiverged as diverged:
        raise Untestable(
            f"with what was given the protocol leaves the record at event {diverged.seq}, and the fork is at {last}: "
            f"fork it before that event. {diverged}"
        ) from None
    if beyond.over:
        raise UsageError(f"the episode is over at event {last}: fork it at an event before.")
    return beyond.first


def _changed(parent: EpisodeStarted, protocol: EpisodeProtocol) -> list[str]:
    """Return the options that are others than were recorded, with both values."""
    was = recorded_protocol(parent)
    known = [name for name in (recorded_options(parent.options) or {}) if hasattr(was, name)]
    both = [(name, getattr(was, name), getattr(protocol, name, None)) for name in known]
    return [f"-o {name}={now}, recorded {then}" for name, then, now in both if then != now]


def _require_verdict(beyond: Body | None, *, edited: bool) -> None:
    if edited and isinstance(beyond, ReplyUnusable):
        raise UsageError(f"the answer is no verdict on this segment: {beyond.cause}.")


def _edited(events: Sequence[Event], seq: int, edit: Edit) -> list[Event]:
    """Return the record up to the review's answer, with the edit in its place."""
    body = events[seq].body
    request = seq if isinstance(body, GenerateRequested) else getattr(body, "review", getattr(body, "request", None))
    asked = events[request].body if isinstance(request, int) and 0 <= request < len(events) else None
    fits = isinstance(body, VerdictGiven | GenerateRequested | GenerateCompleted)
    if not fits or not isinstance(asked, GenerateRequested) or asked.role != Role.REVIEWER:
        raise UsageError(f"event {seq} is {events[seq].type}: an edited verdict takes the place of a review's answer.")
    if _VERDICT.fullmatch(asked.position) is None or '"scoring"' in asked.parameters:
        raise UsageError(
            f"event {request} is a review whose verdict is read from probabilities or from the model's own action: "
            "only a decoded verdict can be edited."
        )
    answer = next(
        (one for one in events if isinstance(one.body, GenerateCompleted) and one.body.request == request), None
    )
    if answer is None:
        raise UsageError(f"event {request} is a review that got no answer, so there is no verdict to edit.")
    given = GenerateCompleted(
        request=answer.body.request,  # type: ignore[union-attr] # it was looked for by its type
        role=Role.REVIEWER,
        message=Message("assistant", edit.text),
        reasoning=None,
        finish_reason=None,
        model=edit.by,
        usage=Usage(input=0, cached=0, output=0, reasoning=0),
        latency_us=None,
        first_token_us=None,
        attempts=(),
        provider_id=None,
        server=None,
        source=EDITED,
    )
    return [*events[: answer.seq], replace(answer, body=given)]


def _first(  # noqa: PLR0913 - everything that event 0 is made of
    environment: Environment,
    task: Task,
    protocol: EpisodeProtocol,
    prompts: Prompts,
    labels: Labels,
    parent: EpisodeStarted,
    redactor: Redactor | None,
    compared: Redactor | None,
) -> EpisodeStarted:
    """Return the child's event 0, models aside; raise Untestable for an environment that cannot be brought back."""
    first = started(environment, task, protocol, prompts, (), labels, redactor)
    facts, then = first.environment, parent.environment
    require_restorable(then, facts)
    if None not in {facts.fingerprint, then.fingerprint} and facts.fingerprint != then.fingerprint:
        raise Untestable(f"the first state of task {task.id} is another one: the environment's data changed")
    require_same_tools(parent, environment.tools(), compared)
    return replace(first, protocol_revision=parent.protocol_revision)
