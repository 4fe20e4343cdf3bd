"""What verifiers say when they are asked the same again: the floor under every disagreement between two of them.

A run's own repeats are one source. Of a recorded verifier there are none, unless some run has put its own questions to
it once more: the same model, parameters and prompts. Whatever else a run asked is another question.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from spectrace.audit import passes
from spectrace.audit.answers import Filters
from spectrace.audit.passes import Pass
from spectrace.audit.queries import Reader
from spectrace.core.events import EpisodeStarted
from spectrace.core.options import recorded_options
from spectrace.core.prompts import Prompts
from spectrace.core.rereviews import REVERIFY, scope_of
from spectrace.stats.judgements import Review
from spectrace.stats.noise import Repeated

Place = tuple[str, int]
"""A review: (episode, its number among the episode's reviews)."""


@dataclass(frozen=True, slots=True)
class Again:
    """One review, put to its recorded verifier once more by some run."""

    run: str
    review: Review


def asked_again(reader: Reader, episodes: Collection[str]) -> list[Again]:
    """Return what recorded verifiers said when they were asked the same again, in whatever run."""
    found: list[Again] = []
    for run in _candidates(reader, set(episodes)):
        again = passes.read_pass(reader, run)
        same = _Same(reader, again)
        for repeat in range(1, again.repeats + 1):
            judged = same.answered(repeat)
            listed = passes.reviews(reader, again, repeat)
            found += [Again(run, one) for one in listed if one.episode in episodes and (one.episode, repeat) in judged]
    return found


def _candidates(reader: Reader, episodes: Collection[str]) -> list[str]:
    """Return the runs with a pass over one of the episodes by a model of its reviewer's name, sorted."""
    reviewers: dict[str, str | None] = {}
    runs: set[str] = set()
    for line in reader.iter_episodes(Filters(protocol=(REVERIFY,))):
        if line.parent not in episodes or line.parent is None or line.run is None:
            continue
        if line.parent not in reviewers:
            reviewers[line.parent] = _reviewer(reader.first(line.parent).body)
        if line.strong == reviewers[line.parent]:
            runs.add(line.run)
    return sorted(runs)


def _reviewer(started: object) -> str | None:
    models = started.models if isinstance(started, EpisodeStarted) else ()
    return next((f"{one.provider}:{one.name}" for one in models if one.role == "strong"), None)


@dataclass(frozen=True, slots=True)
class _Same:
    """Which passes of a run asked the recorded reviewer itself what it had been asked."""

    reader: Reader
    run: Pass

    def answered(self, repeat: int) -> set[tuple[str, int]]:
        """Return (episode, repeat) of the passes whose every child asked the same question."""
        children: dict[tuple[str, int], set[str]] = {}
        for one in self.run.answers:
            if one.repeat == repeat and one.child:
                children.setdefault((one.episode, repeat), set()).add(one.child)
        return {key for key, those in children.items() if all(self._same(key[0], child) for child in those)}

    def _same(self, parent: str, child: str) -> bool:
        first, again = (self.reader.first(one).body for one in (parent, child))
        return isinstance(first, EpisodeStarted) and isinstance(again, EpisodeStarted) and same_question(first, again)


def same_question(first: EpisodeStarted, again: EpisodeStarted) -> bool:
    """Whether a pass asked the recorded reviewer itself, by its own prompts, for what it had been asked."""
    semantic = (recorded_options(first.options) or {}).get("acceptance", "semantic") == "semantic"
    read = scope_of(first).scored_at == scope_of(again).scored_at  # an episode's options have the same names
    prompts = Prompts.from_json(first.prompts).to_json() == Prompts.from_json(again.prompts).to_json()
    return semantic and read and prompts and _reviewers(first) == _reviewers(again)


def _reviewers(started: EpisodeStarted) -> list[tuple[str | bool, ...]]:
    return [
        (one.provider, one.name, one.parameters, one.calls, one.constrained)
        for one in started.models
        if one.role == "strong"
    ]


def answers(reviews: Iterable[Review]) -> dict[Place, list[str]]:
    """Return what a verifier said of each review that it judged, in the order given: accept or reject."""
    found: dict[Place, list[str]] = {}
    for one in reviews:
        if one.new.read:
            found.setdefault((one.episode, one.number), []).append(one.new.kind)
    return found


def repeated(
    tasks: Mapping[Place, str], first: Mapping[Place, list[str]], second: Mapping[Place, list[str]]
) -> list[Repeated]:
    """Return what both said of each review, in the order of their places."""
    return [
        Repeated(task, tuple(first.get(place, ())), tuple(second.get(place, ())))
        for place, task in sorted(tasks.items())
    ]
