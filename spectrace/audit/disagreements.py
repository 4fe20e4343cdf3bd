"""Where two verifiers disagree on accepting everything: both verdicts of each such review, and where they lie."""

from collections.abc import Iterator
from dataclasses import dataclass

from spectrace.audit.agreement_figures import Pair
from spectrace.audit.passes import Answer
from spectrace.audit.reverified import Reverified
from spectrace.core.reviews import agrees
from spectrace.core.types import Verdict


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One review on which a pair disagrees."""

    episode: str
    segment: int
    verdict_seq: int | None
    """The recorded verdict in the episode; None where the segment is derived."""
    first: Verdict
    second: Verdict
    child: str
    seq: int
    """The second one's verdict.given, in its child episode."""

    @property
    def place(self) -> tuple[str, int]:
        """The event to open: the recorded verdict, or where there is none the new one."""
        return (self.child, self.seq) if self.verdict_seq is None else (self.episode, self.verdict_seq)


def disagreements(found: Reverified, pair: Pair) -> list[Disagreement]:
    """Return the disagreements of a pair, by episode and segment; of repeats the first counts."""
    return sorted(_found(found, pair), key=lambda one: (one.episode, one.segment))


def _found(found: Reverified, pair: Pair) -> Iterator[Disagreement]:
    by_run = {one.run: _first_repeat(one.found.answers) for one in found.runs}
    first = {} if pair.first is None else by_run[pair.first]
    for place, answer in by_run[pair.second].items():
        other = first[place].verdict if place in first else answer.recorded if pair.first is None else None
        if other is not None and agrees(other, answer.verdict) is False:
            yield Disagreement(
                episode=answer.episode,
                segment=answer.segment,
                verdict_seq=answer.verdict_seq,
                first=other,
                second=answer.verdict,
                child=answer.child,
                seq=answer.seq,
            )


def _first_repeat(answers: tuple[Answer, ...]) -> dict[tuple[str, int], Answer]:
    return {(one.episode, one.segment): one for one in answers if one.repeat == 1}
