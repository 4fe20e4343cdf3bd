"""The child episodes of a re-verification run, by the episode that they judge and the repeat that they belong to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from spectrace.audit.answers import EpisodeSummary, Filters
from spectrace.audit.queries import Reader
from spectrace.core.events import EpisodeStarted
from spectrace.core.rereviews import REVERIFY, Scope, scope_of
from spectrace.core.types import ModelFacts, Outcome


@dataclass(frozen=True, slots=True)
class Child:
    """A child with what it was to judge."""

    line: EpisodeSummary
    started: EpisodeStarted
    scope: Scope

    @property
    def place(self) -> tuple[int, str]:
        """When it was begun; of two at once, by name: which of two verdicts is the first must never be open."""
        return self.line.started_at, self.line.episode

    @property
    def verifier(self) -> ModelFacts | None:
        """Who answered."""
        return next((facts for facts in self.started.models if facts.role == "strong"), None)


Children = Mapping[str, Mapping[int, Sequence[Child]]]
"""Parent -> repeat -> its children, the first one first."""


def children_of(reader: Reader, run: str) -> Children:
    """Return the children of a run."""
    found: dict[str, dict[int, list[Child]]] = {}
    for line in reader.iter_episodes(Filters(run=(run,), protocol=(REVERIFY,))):
        started = reader.first(line.episode).body
        if line.parent is not None and isinstance(started, EpisodeStarted):
            child = Child(line, started, scope_of(started))
            found.setdefault(line.parent, {}).setdefault(child.scope.repeat, []).append(child)
    return {
        parent: {repeat: sorted(those, key=lambda one: one.place) for repeat, those in sorted(repeats.items())}
        for parent, repeats in found.items()
    }


def ended_of(children: Children, whole: Iterable[tuple[str, int]]) -> Mapping[tuple[str, int], Outcome]:
    """Return how each pass over an episode ended: whole if nothing is left of it, else as its last child.

    `whole` are the (parent, repeat) of which the run says that nothing is left; without a child, nothing was there.
    """
    found = dict.fromkeys(whole, Outcome("completed", "nothing_to_review"))
    for parent, repeats in children.items():
        for repeat, those in repeats.items():
            done = (parent, repeat) in found or any(one.line.status == "completed" for one in those)
            last = those[-1].line
            ended = Outcome("completed", "reviewed") if done else Outcome(last.status, last.end_reason or "")
            found[parent, repeat] = ended
    return found
