"""A source whose answers are redacted before anything else sees them: protocol, log and progress know placeholders.

What an environment or a model answers, refuses or fails with is mapped here, whole: a stream has been put together by
then, so a secret that was cut in two is one again. On the way out an action gets its real values back, just before it
happens. One with a placeholder that this process does not know is not sent, since nobody could say what it would do,
nor is a write with a text that looks like a placeholder and is none (`redaction.mangled`); the model is told so, and
that nothing happened. Replay asks no such source: its record is redacted already.

An episode that was recorded without redaction and is gone on with is redacted around its record (`around`), so that
the answers taken over are compared as they were recorded and written with placeholders.
"""

from typing import NoReturn

from spectrace.core.commands import Act, Generate
from spectrace.core.events import EpisodeStarted, Event
from spectrace.core.types import Action, Completion, Effect, NeedsModel, Observation
from spectrace.errors import EnvironmentFailed, ModelFailed, SpectraceError, Untestable
from spectrace.redaction.redactor import Redactor
from spectrace.redaction.values import has_placeholder, mangled, redacted, restored, unknown
from spectrace.runs.sources import Generated, Graded, Observed, Opened, Source


class RedactingSource:
    """Another source, with placeholders in its answers and real values in its actions."""

    def __init__(self, source: Source, redactor: Redactor) -> None:
        """Ask `source`; the redactor is the episode's own."""
        self._source = source
        self._redactor = redactor
        self._state: str | None = None

    async def generate(self, lane: str, request: int, command: Generate) -> Generated:
        """Return the completion, redacted."""
        try:
            return redacted(self._redactor, await self._source.generate(lane, request, command))
        except ModelFailed as failure:
            raise model_failure(self._redactor, failure) from None

    async def act(self, lane: str, request: int, command: Act) -> Observed | NeedsModel:
        """Let the action happen with its real values."""
        objection = self._objection(command) if command.supplied is None else None
        if objection is not None:
            return Observed(Observation(objection, error=True), self._state, self._state, None, "live")
        try:
            answer = await self._source.act(lane, request, restored(self._redactor, command))
        except EnvironmentFailed as failure:
            self._raise(failure)
        if isinstance(answer, Observed):
            self._state = answer.after
        return redacted(self._redactor, answer)

    async def reset(
        self, lane: str, request: int, seed: int | None, supplied: Completion | None
    ) -> Opened | NeedsModel:
        """Return the opening, redacted."""
        try:
            answer = await self._source.reset(lane, request, seed, restored(self._redactor, supplied))
        except EnvironmentFailed as failure:
            self._raise(failure)
        if isinstance(answer, Opened):
            self._state = answer.fingerprint
        return redacted(self._redactor, answer)

    async def evaluate(self, lane: str, request: int, supplied: Completion | None) -> Graded | NeedsModel:
        """Return the grade, redacted."""
        try:
            answer = await self._source.evaluate(lane, request, restored(self._redactor, supplied))
        except EnvironmentFailed as failure:
            self._raise(failure)
        return redacted(self._redactor, answer)

    async def check(self, lane: str, action: Action) -> str | None:
        """Let the environment judge the action with its real values."""
        missing = unknown(self._redactor, action)
        if missing:
            return _not_sent(missing)
        return redacted(self._redactor, await self._source.check(lane, restored(self._redactor, action)))

    def _objection(self, command: Act) -> str | None:
        """Say why an action is not sent; a mangled placeholder stops writes alone: a search for one does no harm."""
        missing = unknown(self._redactor, command.action)
        if missing:
            return _not_sent(missing)
        wrong = mangled(self._redactor, command.action) if command.effect is Effect.WRITE else ()
        return _not_written(wrong) if wrong else None

    def _raise(self, failure: EnvironmentFailed) -> NoReturn:
        raise environment_failure(self._redactor, failure) from None


def redacting(source: Source, redactor: Redactor | None) -> Source:
    """Return the source with redacted answers; without a redactor, as it is."""
    return source if redactor is None else RedactingSource(source, redactor)


def around(first: EpisodeStarted) -> bool:
    """Whether an episode's record has no placeholders yet, so that what goes on with it is redacted around it."""
    return first.versions.redactor is None


def require_same_key(told: "list[Event] | tuple[Event, ...]", first: EpisodeStarted, redactor: Redactor | None) -> None:
    """Raise Untestable where a record's placeholders were made with a key, or by rules, that are not at hand."""
    recorded = first.versions.redactor
    here = None if redactor is None else redactor.version
    if recorded is None or recorded == here or not any(has_placeholder(event.body) for event in told):
        return
    raise Untestable(
        f"it was recorded with redaction ({recorded}) and holds placeholders; here redaction is "
        f"{'off' if here is None else here}, so the same secrets would come out otherwise: set [redaction] of "
        "spectrace.toml to the key and the rules that recorded it"
    )


def model_failure(redactor: Redactor, failure: ModelFailed) -> ModelFailed:
    """Return the failure of a model call, redacted: its text, what arrived before it, its attempts."""
    told = ModelFailed(
        failure.kind,
        redactor.text(str(failure)),
        partial_text=redactor.text(failure.partial_text),
        latency_us=failure.latency_us,
        attempts=redacted(redactor, failure.attempts),
    )
    told.source = failure.source
    return told


def environment_failure(redactor: Redactor, failure: EnvironmentFailed) -> EnvironmentFailed:
    """Return the failure of an environment, redacted."""
    told = EnvironmentFailed(failure.kind, redactor.text(str(failure)))
    told.source = failure.source
    return told


def without_secrets(redactor: Redactor | None, failure: ModelFailed | EnvironmentFailed) -> SpectraceError:
    """Return a failure, redacted; without a redactor, as it is."""
    if redactor is None:
        return failure
    if isinstance(failure, ModelFailed):
        return model_failure(redactor, failure)
    return environment_failure(redactor, failure)


def _not_sent(missing: tuple[str, ...]) -> str:
    return (
        f"NOT SENT: {', '.join(missing)} stands for a value that was redacted, and this process does not know it. "
        "Nothing happened. Use a value that was seen in this episode."
    )


def _not_written(wrong: tuple[str, ...]) -> str:
    return (
        f"NOT SENT: {', '.join(wrong)} looks like what stands for a redacted value, and is not written as it was "
        "shown. Nothing happened. Copy it exactly, in capitals and small letters, without anything in between."
    )
