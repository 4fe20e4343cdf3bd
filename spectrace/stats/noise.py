"""How much two verifiers differ beyond what each differs from itself: re-verification is a sample, no correction.

The excess D01 - (D00 + D11)/2 of a segment is, in expectation, half the squared distance of the two verifiers' chances
of each answer: 0 only where they are distributed alike. It takes repeats of both; without them the floor is unknown.
Every segment counts once, however often it was asked about; `repeats.repeated` makes them of reviews.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from spectrace.stats.bootstrap import ratio
from spectrace.stats.estimates import Clusters, Estimate, Intervals, clustered, episodes
from spectrace.stats.jackknife import TaskJackknife

FLOOR_UNKNOWN = "none: floor unknown, it needs at least 2 repeats of both verifiers"
NOT_TWICE = "none: the verifier was not asked twice about anything"
NO_REPEATS = "none: the verifier was not asked twice about anything that it rejects"
_REPEATS = 2
_SHARE = TaskJackknife(0.0, 1.0, ((0.0,), (1.0,)))
_SHARE_OF = TaskJackknife(0.0, 1.0, ((0.0, 1.0), (1.0, 1.0)))
_EXCESS = TaskJackknife()


@dataclass(frozen=True, slots=True)
class Repeated:
    """A segment that both verifiers were asked about, each perhaps several times: what each answer was, in order."""

    task: str
    first: tuple[str, ...]
    second: tuple[str, ...]

    @property
    def repeats(self) -> bool:
        """Whether it says what each verifier's own noise is."""
        return min(len(self.first), len(self.second)) >= _REPEATS


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """D01, D00, D11 and the excess, over the segments that have repeats of both."""

    between: Estimate
    first: Estimate
    second: Estimate
    excess: Estimate


def noise(segments: Iterable[Repeated], intervals: Intervals | None = None) -> Noise:
    """Estimate the disagreement between two verifiers, that of each with itself, and the excess."""
    found = [
        (one.task, apart(one.first, one.second), among(one.first), among(one.second)) for one in segments if one.repeats
    ]
    if not found:
        unknown = Estimate(value=None, n=0, clusters=0, method=FLOOR_UNKNOWN)
        return Noise(between=unknown, first=unknown, second=unknown, excess=unknown)

    def estimate(values: Iterable[tuple[str, float]], usual: Intervals = _SHARE) -> Estimate:
        return (intervals or usual).estimate(_mean, clustered(values))

    return Noise(
        between=estimate((task, d01) for task, d01, _, _ in found),
        first=estimate((task, d00) for task, _, d00, _ in found),
        second=estimate((task, d11) for task, _, _, d11 in found),
        excess=estimate(((task, d01 - (d00 + d11) / 2) for task, d01, d00, d11 in found), _EXCESS),
    )


def flip_rate(segments: Iterable[tuple[str, Sequence[str]]], intervals: Intervals | None = None) -> Estimate:
    """Estimate how often one verifier differs from itself (D11 of it alone), from (task, answers) of each segment.

    It is known wherever somebody was asked twice, also where the floor is not because the other was not.
    """
    found = [(task, among(answers)) for task, answers in segments if len(answers) >= _REPEATS]
    if not found:
        return Estimate(value=None, n=0, clusters=0, method=NOT_TWICE)
    return (intervals or _SHARE).estimate(_mean, clustered(found))


def among(answers: Sequence[str]) -> float:
    """Return the share of the pairs of one verifier's answers that differ."""
    n = len(answers)
    return 1 - sum((count := answers.count(one)) * (count - 1) for one in set(answers)) / (n * (n - 1))


def apart(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the share of the pairs of both verifiers' answers that differ."""
    return 1 - sum(first.count(one) * second.count(one) for one in set(first)) / (len(first) * len(second))


def repeat_rate(
    segments: Iterable[tuple[str, Sequence[str]]], intervals: Intervals | None = None, answer: str = "reject"
) -> Estimate:
    """Estimate P(a verifier gives `answer` | it gave it before) from pairs of its repeats, by (task, answers).

    Of a segment, whatever its repeats, and two of its answers in either order: what a pass over rejections asks.
    """
    repeated = [
        (task, len(answers), list(answers).count(answer)) for task, answers in segments if len(answers) >= _REPEATS
    ]
    given: Clusters = clustered((task, count / n) for task, n, count in repeated if count)
    again: Clusters = clustered((task, count * (count - 1) / (n * (n - 1))) for task, n, count in repeated if count)
    if not given:
        return Estimate(value=None, n=0, clusters=0, method=NO_REPEATS)
    return replace((intervals or _SHARE_OF).estimate(ratio, again, given), n=episodes(given.values()))


def _mean(means: Sequence[float]) -> float:
    return means[0]
