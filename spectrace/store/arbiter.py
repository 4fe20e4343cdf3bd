"""The arbiter of a run: which verdict counts of those that were given on the same review, and what is there already.

What is worked on twice is counted once: the first that asks for a review's place has it. The port; `run_arbiter` holds
its adapter on the `run_items` of a database.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

WHOLE = -1
"""The review number of an item that speaks of a whole episode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One piece of a run's work: a verdict asked again, or (verdict_seq -1) a whole episode."""

    parent: str
    verdict_seq: int = WHOLE
    """Of a derived review, which has no recorded verdict: the event that drafted its held step."""
    repeat: int = 0
    episode: str
    """The episode that holds the result."""
    at: int
    state: str
    """done, failed."""
    result: str = "{}"
    """JSON text."""


class Arbiter(Protocol):
    """What is known of one run."""

    def head(self, parent: str) -> str | None:
        """Return the head (hex) that an episode had when it was selected; None where it was not."""
        ...

    def cancelled(self) -> bool:
        """Whether the run was cancelled: then nothing more of it is begun."""
        ...

    def items(self, parent: str) -> Sequence[Item]:
        """Return what counts of an episode."""
        ...

    def children(self, parent: str) -> Sequence[str]:
        """Return the run's episodes that judge an episode, those begun first in front."""
        ...

    def count(self, item: Item) -> bool:
        """Let an item count, unless one does already; say whether it does now."""
        ...
