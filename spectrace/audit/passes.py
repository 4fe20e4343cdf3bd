"""A re-verification run as it is read: every counted verdict, whichever child recorded it, and how each pass ended.

A review may have been judged twice (a worker was taken for dead, two worked at once): one verdict counts for each
(episode, review, repeat), the one that the run's items name, or the first recorded where a log has no items. Every
table and every command reads a run through here, so that none counts otherwise. Writes nothing; `runs.passes` does.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from spectrace.audit.agreement import episode_reviews
from spectrace.audit.pass_children import Child, Children, children_of, ended_of
from spectrace.audit.queries import Reader
from spectrace.core.digest import digest_of, text_digest
from spectrace.core.fold import Episode, fold
from spectrace.core.prompts import Prompts
from spectrace.core.rereviews import REVERIFY, Said, answers_of, selected
from spectrace.core.reviews import Review as Recorded
from spectrace.core.reviews import agrees, differs
from spectrace.core.types import ModelFacts, Outcome, Verdict
from spectrace.errors import UsageError
from spectrace.stats.judgements import Kind, Review
from spectrace.store import runs
from spectrace.store.arbiter import WHOLE
from spectrace.store.sql import SqlEventStore


@dataclass(frozen=True, slots=True)
class Answer:
    """One counted verdict."""

    episode: str
    segment: int
    verdict_seq: int | None
    """The recorded verdict; None where the segment is derived."""
    derived: bool
    repeat: int
    child: str
    seq: int
    """Its verdict.given in the child."""
    verdict: Verdict
    asked: int | None
    """The model call in the child that gave it."""
    recorded: Verdict | None = None
    counterfactual: bool = False
    """Whether an earlier review of the episode was decided otherwise in this repeat, or nobody knows."""
    threshold: str | None = None
    """What its probabilities were held against; None: it was decoded."""

    @property
    def agree(self) -> bool | None:
        """Whether both accept everything, or neither; None where one of them cannot be compared."""
        return agrees(self.recorded, self.verdict)


@dataclass(frozen=True, slots=True)
class Made:
    """How some answers were made."""

    environment: str
    spectrace: str
    """The version that recorded them."""
    prompts: str | None
    """Their digest; None: those of the recording."""


@dataclass(frozen=True, slots=True)
class Pass:
    """A re-verification run."""

    run: str
    settings: Mapping[str, object]
    """verifier, prompts (digest or None), only_rejected, repeat; of scored verdicts verdict and threshold."""
    selection: tuple[tuple[str, str], ...]
    """(episode, head as hex): the data set."""
    selection_digest: str
    verifiers: tuple[ModelFacts, ...]
    """Whoever answered; replicas differ in their URL."""
    answers: tuple[Answer, ...]
    """In the order of the selection, then of the repeats, then of the reviews."""
    ended: Mapping[tuple[str, int], Outcome]
    """(episode, repeat) -> how its pass ended; none where it was not begun."""
    too_long: frozenset[tuple[str, int, int]] = frozenset()
    """(episode, repeat, segment) whose prompt did not fit into the verifier."""
    made: frozenset[Made] = frozenset()
    known: Mapping[tuple[str, int], tuple[Review, ...]] = field(default_factory=dict, repr=False)
    """The reviews of whole passes, as their episodes were read once for the answers: `reviews` need not read again."""

    @property
    def repeats(self) -> int:
        """How often everything is judged."""
        found = self.settings.get("repeat", 1)
        return found if isinstance(found, int) else 1

    @property
    def only_rejected(self) -> bool:
        """Whether only recorded rejections are judged."""
        return self.settings.get("only_rejected") is True


def read_pass(reader: Reader, run: str) -> Pass:
    """Return a re-verification run; its episodes are read one after the other and not kept."""
    known = runs.find(reader.store, run) if isinstance(reader.store, SqlEventStore) else None
    if known is not None and known.kind != REVERIFY:
        raise UsageError(f"run {run!r} is one of recorded episodes, not a re-verification: `spectrace compare {run}`.")
    children = children_of(reader, run)
    if known is None and not children:
        raise UsageError(f"no re-verification is named {run!r}; `spectrace runs` lists them.")
    items = {(one.parent, one.verdict_seq, one.repeat): one for one in _items(reader, known)}
    settings, selection, digest = _work(reader, known, children)
    ended = ended_of(children, ((parent, repeat) for parent, review, repeat in items if review == WHOLE))
    reading = _Reading(reader, children, items, ended, only_rejected=settings.get("only_rejected") is True)
    answers = [answer for episode, _ in selection for answer in reading.answers(episode)]
    return Pass(
        run=run,
        settings=settings,
        selection=selection,
        selection_digest=digest,
        verifiers=tuple(reading.verifiers),
        answers=tuple(answers),
        ended=ended,
        too_long=frozenset(reading.too_long),
        made=frozenset(reading.made),
        known=reading.known,
    )


def reviews(reader: Reader, found: Pass, repeat: int = 1) -> list[Review]:
    """Return every review that one repeat judged or was to judge, as the statistics take them.

    What a pass that is not whole has not judged counts as failed, never as left out.
    """
    verdicts: dict[str, dict[int, Verdict | Kind]] = {}
    for one in found.answers:
        if one.repeat == repeat:
            verdicts.setdefault(one.episode, {})[one.segment] = one.verdict
    for episode, number, segment in found.too_long:
        if number == repeat:
            verdicts.setdefault(episode, {})[segment] = "too_long"
    return [
        review
        for episode, _ in found.selection
        for review in _of_episode(reader, found, episode, repeat, verdicts.get(episode, {}))
    ]


def _of_episode(
    reader: Reader, found: Pass, name: str, repeat: int, judged: dict[int, Verdict | Kind]
) -> Iterator[Review]:
    if (name, repeat) in found.known:
        return iter(found.known[name, repeat])
    whole = _is_whole(found.ended, name, repeat)
    if whole and not judged:
        return iter(())
    parent = fold(reader.events(name, prompts=False))
    if not whole:
        for one in selected(parent, only_rejected=found.only_rejected):
            judged.setdefault(one.segment, "failed")
    return episode_reviews(parent, judged, only_rejected=found.only_rejected)


def _is_whole(ended: Mapping[tuple[str, int], Outcome], name: str, repeat: int) -> bool:
    found = ended.get((name, repeat))
    return found is not None and found.status == "completed"


def _items(reader: Reader, known: runs.Run | None) -> list[runs.Item]:
    store = reader.store
    return runs.items(store, known.name) if known is not None and isinstance(store, SqlEventStore) else []


Items = Mapping[tuple[str, int, int], runs.Item]
"""(parent, review, repeat) -> the child whose answer counts."""


def _work(
    reader: Reader, known: runs.Run | None, children: Children
) -> tuple[Mapping[str, object], tuple[tuple[str, str], ...], str]:
    """Return a run's settings and selection; where no run says them, what its children do."""
    if known is not None:
        settings = json.loads(known.settings)
        return {"repeat": 1} | (settings if isinstance(settings, dict) else {}), known.selection, known.selection_digest
    every = [child for repeats in children.values() for those in repeats.values() for child in those]
    heads = {child.line.parent or "": child.line.parent_seq for child in every}
    selection = tuple((parent, _link(reader, parent, seq)) for parent, seq in sorted(heads.items()))
    scored = next((child.scope for child in every if child.scope.scored_at is not None), None)
    settings = {
        "only_rejected": any(child.scope.only_rejected for child in every),
        "repeat": max(child.scope.repeat for child in every),
        **({} if scored is None else {"verdict": scored.verdict, "threshold": scored.threshold}),
    }
    return settings, selection, digest_of([list(pair) for pair in selection])


def _link(reader: Reader, episode: str, seq: int | None) -> str:
    if seq is None:
        return reader.store.row(episode).head.hex()
    return next(reader.store.stored(episode, seq, seq + 1)).link.hex()


@lru_cache(maxsize=64)
def _canonical(prompts: str) -> str:
    """Return recorded prompts as they are written now: those of an older recording are the same ones."""
    return Prompts.from_json(prompts).to_json()


@dataclass(slots=True)
class _Reading:
    """Reads the answers of a run, an episode at a time."""

    reader: Reader
    children: Children
    items: Items
    ended: Mapping[tuple[str, int], Outcome]
    only_rejected: bool
    verifiers: dict[ModelFacts, None] = field(default_factory=dict)
    too_long: list[tuple[str, int, int]] = field(default_factory=list)
    made: set[Made] = field(default_factory=set)
    known: dict[tuple[str, int], tuple[Review, ...]] = field(default_factory=dict)

    def answers(self, name: str) -> Iterator[Answer]:
        """Yield the counted verdicts on one episode."""
        mine = self.children.get(name)
        if mine is None:
            return
        parent, grown = self._parent(name, mine)
        reviews_ = selected(parent, only_rejected=self.only_rejected)
        for repeat, those in mine.items():
            said = self._said(name, repeat, those, reviews_)
            found = list(self._compared(name, repeat, reviews_, said))
            self._note(parent, said, found)
            if not grown and _is_whole(self.ended, name, repeat):
                judged: dict[int, Verdict | Kind] = {
                    one.segment: said[one.segment][1].verdict or "too_long" for one in reviews_ if one.segment in said
                }
                reviews = episode_reviews(parent, judged, only_rejected=self.only_rejected)
                self.known[name, repeat] = tuple(reviews)
            yield from found

    def _note(self, parent: Episode, said: Mapping[int, tuple[Child, Said]], found: Sequence[Answer]) -> None:
        """Note how the answers of a repeat were made."""
        for child, _ in (said[one.segment] for one in found):
            same = _canonical(parent.started.prompts) == child.started.prompts
            digest = None if same else text_digest(child.started.prompts)
            self.made.add(Made(parent.started.environment.name, child.started.versions.spectrace, digest))

    def _parent(self, name: str, mine: Mapping[int, Sequence[Child]]) -> tuple[Episode, bool]:
        """Return the parent as it was when it was selected, and whether its log has grown since."""
        seen = [one.line.parent_seq for those in mine.values() for one in those if one.line.parent_seq is not None]
        events = self.reader.events(name, prompts=False)
        then = events if not seen else [event for event in events if event.seq <= max(seen)]
        return fold(then), len(then) < len(events)

    def _said(
        self, name: str, repeat: int, those: Sequence[Child], reviews_: Sequence[Recorded]
    ) -> dict[int, tuple[Child, Said]]:
        """Return what counts, by segment."""
        keys = {one.segment: one.key for one in reviews_}
        counted: dict[int, tuple[Child, Said]] = {}
        for child in those:
            if child.verifier is not None:
                self.verifiers.setdefault(child.verifier)
            for said in answers_of(self.reader.events(child.line.episode, prompts=False)):
                item = self.items.get((name, keys.get(said.segment, WHOLE), repeat))
                if said.segment not in counted or (item is not None and item.episode == child.line.episode):
                    counted[said.segment] = child, said
        return counted

    def _compared(
        self, name: str, repeat: int, reviews_: Sequence[Recorded], said: Mapping[int, tuple[Child, Said]]
    ) -> Iterator[Answer]:
        counterfactual = False
        for one in reviews_:
            child, answer = said.get(one.segment, (None, None))
            verdict = None if answer is None else answer.verdict
            if child is not None and answer is not None and verdict is not None:
                yield Answer(
                    episode=name,
                    segment=one.segment,
                    verdict_seq=one.verdict_seq,
                    derived=one.derived,
                    repeat=repeat,
                    child=child.line.episode,
                    seq=answer.seq,
                    verdict=verdict,
                    asked=answer.asked,
                    threshold=child.scope.scored_at,
                    recorded=one.recorded,
                    counterfactual=counterfactual,
                )
            elif answer is not None:
                self.too_long.append((name, repeat, one.segment))
            counterfactual = counterfactual or (not one.derived and (verdict is None or differs(one, verdict)))
