"""Rehearsing a record before any of it is gone on with: the protocol is run on it alone, and reaches nothing.

Shared by `fork` and `resume`. Prompts may differ, since they are the child's all the way; the way that the protocol
takes may not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from spectrace.core.classified import by_record
from spectrace.core.digest import task_digest, tools_digest
from spectrace.core.events import Body, EpisodeStarted, Event
from spectrace.core.setup import setup_of
from spectrace.core.types import Task, ToolSpec
from spectrace.environments.environment import Environment
from spectrace.errors import Untestable
from spectrace.redaction.redactor import Redactor
from spectrace.redaction.values import redacted, told_task
from spectrace.runs.drive import Driver
from spectrace.runs.live import EpisodeProtocol
from spectrace.runs.preflight import differing, tool_findings
from spectrace.runs.recording import Comparison, RecordedSource, RecordEnds, Recording

_OF_THE_PROMPT = frozenset({"messages", "parameters", "response_schema", "tools_digest"})
"""What other models and prompts change in a question without its being another one."""


class _Rehearsal(Comparison):
    """The record as a log in which prompts may differ; it keeps what the protocol comes to first behind it."""

    beyond: Body | None = None

    def write(self, lane: str, body: Body) -> int:
        """Return the recorded event's number."""
        try:
            return super().write(lane, body)
        except RecordEnds:
            self.beyond = self.beyond or body
            raise


@dataclass(frozen=True, slots=True)
class Beyond:
    """What lies behind a record: nothing (`over`), or what the protocol comes to first, where it says something."""

    over: bool
    first: Body | None = None


async def rehearse(
    first: EpisodeStarted, protocol: EpisodeProtocol, told: Sequence[Event], changes: Sequence[str] = ()
) -> Beyond:
    """Return what lies behind the record; `changes` are what the caller did to it, a likely cause of differences.

    Raises ReplayDiverged where the protocol leaves the record, Untestable where it does not come to all of it.
    """
    recording = Recording(told)
    log = _Rehearsal(recording, skip=_OF_THE_PROMPT, changes=changes)
    over = False
    try:
        await Driver(RecordedSource(recording), log, "record").run(protocol.run(setup_of(first, by_record(told))))
        over = True
    except RecordEnds:
        pass
    if (left := recording.left()) is not None:
        raise Untestable(f"the protocol does not come to event {left.seq} ({left.type}) of the record")
    return Beyond(over, log.beyond)


def own_task(environment: Environment, recorded: EpisodeStarted, redactor: Redactor | None = None) -> Task:
    """Return the environment's own task of the recorded name, which must be the one that was recorded."""
    for task in environment.tasks():
        if task.id == recorded.task.id:
            if task_digest(told_task(redactor, task)) != recorded.task_digest:
                raise Untestable(f"task {task.id} is another one than was recorded: its request or its data changed")
            return task
    raise Untestable(
        f"the environment given has no task {recorded.task.id!r}; it was recorded on {recorded.environment.name}: name "
        "that one"
    )


def require_same_tools(recorded: EpisodeStarted, tools: Sequence[ToolSpec], redactor: Redactor | None = None) -> None:
    """Raise Untestable where the environment's tools are others than the recorded episode had."""
    told = redacted(redactor, tuple(tools))
    if tools_digest(told) != recorded.tools_digest:
        said = "; ".join(map(differing, tool_findings(recorded.tools, told)))
        raise Untestable(
            f"the tools differ ({said}): its models have read the recorded ones, so name an environment that has these"
        )
