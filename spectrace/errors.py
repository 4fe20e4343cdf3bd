"""Every deliberate error, one tree; a class exists only where somebody catches it.

    SpectraceError                 base: the command line prints it as one paragraph
      UsageError                   bad input or configuration                            exit 2
        MissingExtra               an optional package is not installed                  exit 2
      StoreError                   the database cannot be used as asked                  exit 2
        NewerSchema                written by a newer spectrace                          exit 2
        SchemaViolation            an event does not fit the schema of its version       exit 2
        EpisodeNotFound            no episode, or more than one, has that id             exit 2
        Conflict                   another writer appended to the same episode           exit 1
      RecordingStopped             a running episode's log cannot be gone on with        exit 1
      ModelFailed                  a model call failed after its retries                 exit 1
      EnvironmentFailed            an environment could not answer                       exit 1
      ReplayDiverged               a replayed question, answer or fact differs           exit 1
      Untestable                   the question cannot be answered here                  exit 125
      Unsettled                    nobody has said yet what became of a write            exit 3

A message says what was expected, what was found, where, and what to do. Only `spectrace.cli` turns a class
into an exit code.
"""


class SpectraceError(Exception):
    """Something deliberate went wrong; the text is for the user."""


class UsageError(SpectraceError):
    """Bad input or configuration: the user can mend it."""


class MissingExtra(UsageError):
    """An optional package is needed and not installed."""

    def __init__(self, what: str, extra: str) -> None:
        """Name the feature that needs the extra."""
        super().__init__(f"{what} needs a package that is not installed: pip install 'spectrace[{extra}]'.")


class StoreError(SpectraceError):
    """The database cannot be used as asked."""


class NewerSchema(StoreError):
    """The database or an event was written by a newer spectrace than this one."""


class SchemaViolation(StoreError):
    """An event does not fit the schema of its type and version; an importer says of which line."""


class EpisodeNotFound(StoreError):
    """No episode has that id or prefix, or more than one has."""


class Conflict(StoreError):
    """Another writer appended to the same episode first."""


class RecordingStopped(SpectraceError):
    """The log of a running episode could not be gone on with: what is recorded stays, the episode has no end."""


class ModelFailed(SpectraceError):
    """A model call failed after its retries.

    `kind` is one of: unreachable, busy (429: asked too often, or out of quota), server (5xx, an error inside an answer,
    an answer that broke off), timeout; refused (another 4xx), context (the prompt does not fit), invalid (the reply
    breaks the API), budget. The first five are the provider's trouble (PROVIDER_TROUBLE): where no call between is
    answered, another one would fail too. A refusal is nearly always one of every call: a key, credit, a model's name,
    a parameter that the server does not know.
    """

    PROVIDER_TROUBLE = frozenset({"unreachable", "busy", "server", "timeout", "refused"})

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        partial_text: str = "",
        latency_us: int = 0,
        attempts: tuple[object, ...] = (),
    ) -> None:
        """Keep what arrived before the failure: partial text and the attempts made (`types.Attempt`)."""
        super().__init__(message)
        self.kind = kind
        self.source: str | None = None
        """Where the answer would have come from: `record` for a failure that is told again; None for one of now."""
        self.partial_text = partial_text
        self.latency_us = latency_us
        self.attempts = attempts


class EnvironmentFailed(SpectraceError):
    """An environment could not answer; `kind` is one of: timeout, crashed, unavailable, task."""

    def __init__(self, kind: str, message: str) -> None:
        """Name the kind; a write that failed this way is indeterminate."""
        super().__init__(message)
        self.kind = kind
        self.source: str | None = None
        """As of ModelFailed."""


class ReplayDiverged(SpectraceError):
    """A replayed question, answer or fact differs from the recorded one.

    `seq` is the recorded event's number; `differences` are (field path, recorded, found) triples.
    """

    def __init__(self, seq: int, message: str, differences: tuple[tuple[str, str, str], ...] = ()) -> None:
        """Name the first event that differs."""
        super().__init__(message)
        self.seq = seq
        self.differences = differences


class Untestable(SpectraceError):
    """The question cannot be answered here; the text says why and what would be needed."""


class Unsettled(SpectraceError):
    """A write was asked and has no outcome; nothing goes past it until a person has said what became of it."""
