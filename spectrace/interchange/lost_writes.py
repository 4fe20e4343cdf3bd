"""Of a damaged recording: which writes were held, or under way, and what became of them is not in what is left.

The line that was lost is often the one that matters. A write whose outcome nobody knows is said to be so, in words.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ActionHeld,
    ActRequested,
    SegmentCommitted,
    StepsDiscarded,
)
from spectrace.core.types import Effect
from spectrace.store.rows import Row

HELD, RAN = "held, outcome unknown", "outcome unknown"
_OF_WRITES = {ActionHeld.TYPE: HELD, ActRequested.TYPE: RAN, ActCompleted.TYPE: RAN, ActFailed.TYPE: RAN}


@dataclass(slots=True)
class OpenWrites:
    """The writes of an episode that have no outcome yet, as its events go by."""

    asked: dict[int, str | None] = field(default_factory=dict)
    """seq of the act.requested -> tool."""
    held: tuple[int, str | None] | None = None
    """The last action.held that nothing was decided about."""

    def follow(self, row: Row, body: object) -> None:
        """Take the next event."""
        match row.type:
            case ActionHeld.TYPE:
                self.held = (row.seq, row.lifted.tool)
            case ActRequested.TYPE:
                self.held = None
                if row.lifted.effect != Effect.READ:
                    self.asked[row.seq] = row.lifted.tool
            case ActCompleted.TYPE | ActFailed.TYPE:
                asked = body.get("request") if isinstance(body, dict) else None
                if isinstance(asked, int):
                    self.asked.pop(asked, None)
            case SegmentCommitted.TYPE | StepsDiscarded.TYPE:
                self.held = None

    def said(self) -> Iterator[str]:
        """Yield a sentence for each of them."""
        for seq, tool in self.asked.items():
            yield f"event {seq} (act.requested{_of(tool)}) has no outcome in what is left: {RAN}."
        if self.held is not None:
            seq, tool = self.held
            yield f"event {seq} (action.held{_of(tool)}): {HELD}."

    @staticmethod
    def of_torn(type_: str, *, whole: bool) -> str:
        """Return what is to be said of an event of which no more than its type, or the beginning of it, is left."""
        if whole:
            known = _OF_WRITES.get(type_)
            return f" ({type_}{f': {known}' if known else ''})"
        could = sorted({words for name, words in _OF_WRITES.items() if name.startswith(type_)})
        return f" (its type began with {type_!r}{f': if it was a write, {could[0]}' if could else ''})"


def _of(tool: str | None) -> str:
    return "" if tool is None else f", {tool}"
