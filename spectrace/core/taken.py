"""Which reviews and drafts a forked or resumed episode has from its parent's record: there they were made, and count.

A resumed episode goes on from a parent that ends where it was cut off: what stands behind that in the child is the
child's, though its model's answer was recorded there. A fork's parent goes on, so there every recorded answer is the
parent's, but the one that a person put in its place at the fork point.
"""

from spectrace.core.deeds import FORK, FROM_THE_RECORD, RESUME
from spectrace.core.events import Body, EpisodeStarted, GenerateCompleted


class Taken:
    """Hears an episode's events in order, and tells what it took over."""

    def __init__(self) -> None:
        """An episode without a parent takes nothing over."""
        self._kind, self._until = "", -1
        self._told: set[int] = set()
        """Model calls whose answer is the parent's."""

    def hear(self, seq: int, body: Body | object) -> None:
        """Take note of an event."""
        match body:
            case EpisodeStarted(parent=parent) if parent is not None and parent.kind in {FORK, RESUME}:
                self.begin(parent.kind, parent.seq)
            case GenerateCompleted(request=request, source=source) if self._kind:
                self.answered(seq, request, source)
            case _:
                pass

    def begin(self, kind: str, until: int | None) -> None:
        """Take the record over up to an event of the parent."""
        self._kind, self._until = kind, -1 if until is None else until

    def answered(self, seq: int, request: int, source: object) -> None:
        """Take note of a model's answer and of where it came from."""
        edited_here = self._kind == FORK and source != "record" and seq >= self._until
        if source in FROM_THE_RECORD and not edited_here:
            self._told.add(request)

    def has(self, seq: int, request: int | None) -> bool:
        """Whether what event `seq` read from that answer is the parent's as well."""
        return request in self._told and (self._kind == FORK or seq <= self._until)
