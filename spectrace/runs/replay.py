"""Replay an episode: run its protocol again, answered from the record or by a fresh environment, and compare.

From the record no environment and no model is reached. With an environment every action is executed again, on a fresh
instance, only where `restore` allows it; models are still answered from the record. Never a silent live call.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from spectrace.core.classified import by_record
from spectrace.core.commands import Protocol as Asking
from spectrace.core.endings import cut_short
from spectrace.core.events import (
    EpisodeEnded,
    EpisodeStarted,
    Event,
    GenerateCompleted,
    GenerateFailed,
    GenerateRequested,
    OutcomeSettled,
)
from spectrace.core.prompts import Prompts
from spectrace.core.protocols import recorded_protocol, require_revision
from spectrace.core.reenact import reenact
from spectrace.core.setup import setup_of
from spectrace.core.types import Outcome
from spectrace.core.versions import is_foreign
from spectrace.environments.environment import Environment
from spectrace.errors import NewerSchema, ReplayDiverged, Untestable
from spectrace.redaction.redactor import Redactor
from spectrace.runs.cached_answers import Normalised
from spectrace.runs.divergence import Difference, named
from spectrace.runs.drive import Driver
from spectrace.runs.preflight import IMPORTED, changes_by, refuse, unreadable, with_options
from spectrace.runs.recording import Comparison, RecordedSource, RecordEnds, Recording
from spectrace.runs.redacting import around, require_same_key
from spectrace.runs.reexecution import STRICT, Inexact, Passing, Reexecution, user_texts
from spectrace.runs.reverify import REVERIFY, asks_again, child_reviews

_MODEL_EVENTS = (GenerateRequested, GenerateCompleted, GenerateFailed)
_NOT_IN_FILES = frozenset({"detail", "fingerprint", "fingerprint_before", "fingerprint_after"})
"""What an imported file does not record, or words in its own way."""
_NAMED = 5


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """same, diverged or untestable; `compared` of `total` events were the same."""

    episode: str
    result: str
    compared: int
    total: int
    observations: int
    """Observations of actions that were the same, exactly; those recorded with loss are in `detail`."""
    first_difference: Difference | None
    detail: str
    classes: Mapping[str, int] = field(default_factory=dict)
    """With an environment: how many of its answers (opening, observations, grade) are of each class."""
    inexact: tuple[Inexact, ...] = ()
    """Those that are not exact, let pass or not."""
    live: int = 0
    """Answers of live models: any taints the result. `compared` and `total` then count actions, not events."""
    normalised: tuple[Normalised, ...] = ()
    """Recorded answers that were given to calls written otherwise."""
    cost_usd: str | None = None
    """What the live answers cost; None where there were none, or nobody knows."""


async def replay_episode(  # noqa: PLR0913 - what a replay may be given
    events: Sequence[Event],
    *,
    prompts: Prompts | None = None,
    options: Mapping[str, object] | None = None,
    environment: Environment | None = None,
    passing: Passing = STRICT,
    frozen: bool = False,
    parent: Sequence[Event] | None = None,
    redactor: Redactor | None = None,
) -> ReplayResult:
    """Replay one episode from its events; the first must be episode.started.

    `prompts` and `options` replace the recorded ones; `environment` re-executes every action for real, its answers may
    differ as far as `passing` says, and `frozen` takes the recorded tools for its own though they changed; a
    re-verification is replayed with its `parent`'s events, whose reviews it judged. A `redactor` is for the answers of
    the environment, where the record's are redacted. Raises nothing for what a record
    may hold: what cannot be replayed is `untestable`, with the reason.
    """
    started = events[0].body
    if (reason := unreadable(events)) is not None or not isinstance(started, EpisodeStarted):
        return _untestable(events, reason or "its first event is not an episode.started")
    try:
        run = [event for event in events if not isinstance(event.body, OutcomeSettled)]  # a person's later word is none
        instead = Instead(prompts, options or {})
        if environment is None:
            return await _replay(run, started, instead, parent)
        redactor = None if redactor is None or around(started) else redactor.fresh()
        require_same_key(run, started, redactor)
        return await _reexecute(run, started, instead, environment, passing, parent, redactor, frozen=frozen)
    except (Untestable, NewerSchema) as error:  # the latter: of the parent's events
        return _untestable(events, str(error))
    finally:
        if environment is not None:
            await environment.close()


@dataclass(frozen=True, slots=True)
class Instead:
    """What the caller puts in the place of what was recorded."""

    prompts: Prompts | None
    options: Mapping[str, object]

    def of(self, started: EpisodeStarted) -> EpisodeStarted:
        """Return the start with it."""
        other = with_options(started, self.options)
        return other if self.prompts is None else replace(other, prompts=self.prompts.to_json())

    def named(self, started: EpisodeStarted) -> list[str]:
        """Return what it changes, each in a few words."""
        found = changes_by(started, self.prompts, self.options)
        return [f"{one.field} (recorded {one.recorded}, now {one.found})" for one in found]


async def _replay(
    events: Sequence[Event], started: EpisodeStarted, instead: Instead, parent: Sequence[Event] | None
) -> ReplayResult:
    if started.protocol == IMPORTED:
        raise Untestable("it was imported: no generator of ours made it; re-execute its actions with --tools live")
    recording = Recording(events)
    log = Comparison(recording, changes=instead.named(started))
    driver = Driver(RecordedSource(recording), log, "record")
    return await _compare(driver, _generator(instead.of(started), parent, events), recording, log, events)


async def _reexecute(  # noqa: PLR0913 - all that a replay is given
    events: Sequence[Event],
    started: EpisodeStarted,
    instead: Instead,
    environment: Environment,
    passing: Passing,
    parent: Sequence[Event] | None,
    redactor: Redactor | None,
    *,
    frozen: bool,
) -> ReplayResult:
    differing = refuse(started, environment, frozen=frozen, redactor=redactor)
    imported = started.protocol == IMPORTED
    recording = Recording(events, skip=_MODEL_EVENTS if imported else ())
    source = Reexecution(recording, environment, started, passing, user_texts(events) if imported else None, redactor)
    log = Comparison(recording, _NOT_IN_FILES if imported else frozenset(), instead.named(started))
    asked = reenact(events) if imported else _generator(instead.of(started), parent, events)
    result = await _compare(Driver(source, log, "record"), asked, recording, log, events)
    harmless = f"; of the tools differs, without effect on it: {', '.join(differing)}" if differing else ""
    passed = f"; {counted_classes(source.tally.classes)}" if source.tally.inexact else ""
    return replace(
        result,
        detail=f"{result.detail.removesuffix('.')}{passed}{harmless}" if passed or harmless else result.detail,
        classes=source.tally.classes,
        inexact=tuple(source.tally.inexact),
    )


def _generator(started: EpisodeStarted, parent: Sequence[Event] | None, events: Sequence[Event]) -> Asking[Outcome]:
    if started.protocol != REVERIFY:
        return recorded_protocol(started).run(setup_of(started, by_record(events)))
    if parent is None:
        raise Untestable("it is a re-verification and its parent episode is not in this database")
    if (reason := unreadable(parent)) is not None:
        raise Untestable(f"it is a re-verification of {parent[0].episode}: {reason}")
    require_revision(started)
    return asks_again(started, child_reviews(started, parent))


async def _compare(
    driver: Driver, asked: Asking[Outcome], recording: Recording, log: Comparison, events: Sequence[Event]
) -> ReplayResult:
    episode, total = events[0].episode, len(events) - 1
    try:
        outcome = await driver.run(asked)
        _end(log, recording, outcome)
    except ReplayDiverged as diverged:
        found = next(iter(diverged.differences), ("", "", ""))
        first = log.told.get(diverged.seq, Difference(diverged.seq, *found, str(diverged)))
        return ReplayResult(
            episode, "diverged", recording.compared, total, recording.exact_observations, first, str(diverged)
        )
    except RecordEnds:
        left = recording.left()
        if left is not None and not cut_short(left):
            detail = f"event {left.seq}: recorded {left.type} behind a question that the record has no answer to."
            first = Difference(left.seq, "", named(left.body), "", "The log lacks that answer: `spectrace verify`.")
            return ReplayResult(
                episode, "diverged", recording.compared, total, recording.exact_observations, first, detail
            )
        detail = f"the record stops after event {total}; all of it was the same{_inexact(recording)}"
        return ReplayResult(episode, "same", recording.compared, total, recording.exact_observations, None, detail)
    foreign = sum(is_foreign(event) for event in events)
    unasked = total - recording.compared - foreign
    left_out = f"; {unasked} of another program's model calls are not asked again" if unasked else ""
    left_out += f"; {foreign} of types that this spectrace does not know are passed over" if foreign else ""
    detail = f"all {recording.compared} events after the start are the same{left_out}{_inexact(recording)}"
    return ReplayResult(episode, "same", recording.compared, total, recording.exact_observations, None, detail)


def _inexact(recording: Recording) -> str:
    """Say which observations cannot be called exact."""
    if not recording.lossy:
        return ""
    more = len(recording.lossy) - _NAMED
    named = "; ".join(recording.lossy[:_NAMED]) + (f"; and {more} more" if more > 0 else "")
    return f"; not exact, because the values had no exact text when they were recorded: {named}"


def _end(log: Comparison, recording: Recording, outcome: Outcome) -> None:
    """Compare the outcome with the recorded end, totals aside: they are counted from the events just compared."""
    left = recording.left()
    if left is None:
        raise RecordEnds
    if not isinstance(left.body, EpisodeEnded):
        raise log.ended_before(left, outcome.reason)
    recorded = left.body
    log.write(
        left.lane,
        replace(recorded, outcome=outcome.status, reason=outcome.reason, answer=outcome.answer, reward=outcome.reward),
    )


def counted_classes(classes: Mapping[str, int]) -> str:
    """Return the classes that there are, e.g. `5 exact, 1 id-renamed`."""
    return ", ".join(f"{count} {kind}" for kind, count in classes.items() if count) or "nothing was answered"


def _untestable(events: Sequence[Event], reason: str) -> ReplayResult:
    return ReplayResult(events[0].episode, "untestable", 0, len(events) - 1, 0, None, reason)
