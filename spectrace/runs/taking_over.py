"""Taking a record over: its answers are given and nothing of it is done again; behind it, live. Used by `resume`.

Counterpart of `fork_source`, which executes again. Log and source go together: what the child writes is set beside the
record, lane by lane, so that each question finds its own recorded answer by position. A lane whose record has come to
its end goes on live while another one is still being told.

Nothing is committed before something live follows: a child that is killed meanwhile has taken over nothing, or all of
it. Else its log could end with a write that it never asked for.
"""

from collections.abc import Awaitable, Mapping, Sequence
from typing import TypeVar

from spectrace.core.commands import Act, Generate
from spectrace.core.events import ActionChecked, ActRequested, Body, Event
from spectrace.core.types import Action, Completion, NeedsModel
from spectrace.errors import EnvironmentFailed, ModelFailed
from spectrace.runs.recorder import Recorder
from spectrace.runs.recording import RecordedSource, Recording
from spectrace.runs.sources import Generated, Graded, Observed, Opened, Source

T = TypeVar("T")

Keys = Mapping[str, str]
"""Position -> idempotency key."""


class TakenOver:
    """The log of the child, and its source: the record first. `told` must have been rehearsed: nothing is compared."""

    def __init__(
        self, told: Sequence[Event], recorder: Recorder, live: Source, words: Mapping[int, Observed], keys: Keys
    ) -> None:
        """Answer from `told`; of the recorded acts in `words`, which have no answer, take the person's; else ask live.

        `keys` are the idempotency keys of actions that were asked before: asked again, they are the same actions.
        """
        self._recorder, self._live, self._words, self._keys = recorder, live, words, keys
        self._recording = Recording(told)
        self._record = RecordedSource(self._recording)
        self._recorded: dict[int, int] = {}
        """The child's event -> the recorded one that it is."""
        self._new = False
        """Whether anything was written that is not from the record."""

    # -- the log -------------------------------------------------------------------------------------------------------

    def write(self, lane: str, body: Body) -> int:
        """Write the event; what the record has at this place is met."""
        seq = self._recorder.write(lane, body)
        if (recorded := self._recording.peek(lane)) is not None:
            self._recorded[seq] = recorded.seq
            self._recording.advance(lane)
        else:
            self._new = True
        return seq

    async def settle(self, *, durable: bool) -> None:
        """Commit what is pending, once there is more than what lies in the record already."""
        if self._new:
            await self._recorder.settle(durable=durable)

    def act_key(self, position: str) -> str:
        """Return the key that the action had when it was asked before, else one of its own."""
        return self._keys.get(position) or self._recorder.act_key(position)

    # -- the source ----------------------------------------------------------------------------------------------------

    async def generate(self, lane: str, request: int, command: Generate) -> Generated:
        """Return the recorded answer, or ask the model."""
        recorded = self._recorded.get(request)
        if recorded is None:
            return await self._live.generate(lane, request, command)
        return await _again(self._record.generate(lane, recorded, command))

    async def act(self, lane: str, request: int, command: Act) -> Observed | NeedsModel:
        """Return what was observed, or what a person says of it; let the action happen only behind the record."""
        recorded = self._recorded.get(request)
        if recorded is None:
            return await self._live.act(lane, request, command)
        if recorded in self._words:
            return self._words[recorded]
        return await _again(self._record.act(lane, recorded, command))

    async def reset(
        self, lane: str, request: int, seed: int | None, supplied: Completion | None
    ) -> Opened | NeedsModel:
        """Return the recorded opening; begin the task only where nobody had."""
        recorded = self._recorded.get(request)
        if recorded is None:
            return await self._live.reset(lane, request, seed, supplied)
        return await _again(self._record.reset(lane, recorded, seed, supplied))

    async def evaluate(self, lane: str, request: int, supplied: Completion | None) -> Graded | NeedsModel:
        """Return the recorded grade, or let the environment grade."""
        recorded = self._recorded.get(request)
        if recorded is None:
            return await self._live.evaluate(lane, request, supplied)
        return await _again(self._record.evaluate(lane, recorded, supplied))

    async def check(self, lane: str, action: Action) -> str | None:
        """Return the recorded objection, or ask the environment."""
        following = self._recording.peek(lane)
        if following is not None and isinstance(following.body, ActionChecked):
            return following.body.objection
        return await self._live.check(lane, action)


def keys_of(events: Sequence[Event]) -> Keys:
    """Return the keys of every action that was asked; asked again at the same position, it keeps the first one."""
    found: dict[str, str] = {}
    for event in events:
        if isinstance(event.body, ActRequested):
            found.setdefault(event.body.position, event.body.idempotency_key)
    return found


async def _again(told: Awaitable[T]) -> T:
    """Tell a recorded answer; where there was none, say so again, and that it is from the record."""
    try:
        return await told
    except (ModelFailed, EnvironmentFailed) as failure:
        failure.source = "record"
        raise
