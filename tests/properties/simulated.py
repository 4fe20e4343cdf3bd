"""Re-verifications drawn from a world whose truth is known exactly: every chance is one of finitely many.

A task has its own chance that the recorded verifier accepts, and its own chance that the new one says the same for the
same reason; an episode shifts the latter. Hard tasks are tried more often, so sizes say something of what is measured.
"""

from dataclasses import dataclass

import numpy as np
import scipy

from spectrace.stats.judgements import Judgement, Review

TASKS = 200
REVIEWS = 4
"""At most so many in an episode."""
DRAFTED = np.arange(1, 7)
ALONE = 0.7
"""How often the new verifier accepts where it does not follow the recorded one."""
_SHIFT = np.array([1.0, 0.8])

_U = (np.arange(40) + 0.5) / 40
ACCEPTS = scipy.stats.beta.ppf(_U, 3, 0.75)
FOLLOWS = scipy.stats.beta.ppf(_U, 1, 0.5)
MOST_TRIALS = np.where(_U < 0.5, 12, 6)

KINDS = {
    (kind, accepted): Judgement(kind, accepted, None if kind == "accept" else "unsafe", "ask")
    for kind in ("accept", "reject")
    for accepted in range(7)
}


@dataclass(frozen=True)
class Drawn:
    """The reviews of one draw, column by column."""

    task: np.ndarray
    episode: np.ndarray
    number: np.ndarray
    drafted: np.ndarray
    recorded: np.ndarray
    """Accepted steps; all of them: accepted."""
    new: np.ndarray
    repeat: np.ndarray

    def reviews(self, *, by_episode: bool = False) -> list[Review]:
        """The reviews as the statistics take them; `by_episode`: with the episode for a cluster, which is wrong."""
        cluster = self.episode if by_episode else self.task
        columns = (cluster, self.episode, self.number, self.drafted, self.recorded, self.new, self.repeat)
        return [
            Review(str(task), str(episode), number, m, _judged(old, m), _judged(new, m), repeat=repeat)
            for task, episode, number, m, old, new, repeat in zip(*(one.tolist() for one in columns), strict=True)
        ]


def _judged(accepted: int, drafted: int) -> Judgement:
    return KINDS["accept" if accepted == drafted else "reject", accepted]


def draw(rng: np.random.Generator, tasks: int = TASKS, repeats: int = 1) -> Drawn:
    """Draw one re-verification, every review judged again up to `repeats` times."""
    kind, kin = rng.integers(40, size=(2, tasks))
    trials = rng.integers(1, MOST_TRIALS[kind] + 1)
    task = np.repeat(np.arange(tasks), trials)
    shift = _SHIFT[rng.integers(2, size=task.size)]
    length = rng.integers(1, REVIEWS + 1, size=task.size)
    episode = np.repeat(np.arange(task.size), length)
    number = np.arange(episode.size) - np.repeat(np.cumsum(length) - length, length) + 1
    m = rng.choice(DRAFTED, episode.size)
    task = task[episode]
    recorded = _verdicts(rng, m, ACCEPTS[kind[task]])
    times = rng.integers(1, repeats + 1, size=m.size) if repeats > 1 else np.ones(m.size, dtype=int)
    repeat = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times) + 1
    task, episode, number, m, recorded = (np.repeat(one, times) for one in (task, episode, number, m, recorded))
    follows = rng.random(m.size) < FOLLOWS[kin[task]] * shift[episode]
    new = np.where(follows, recorded, _verdicts(rng, m, ALONE))
    return Drawn(task, episode, number, m, recorded, new, repeat)


def _verdicts(rng: np.random.Generator, m: np.ndarray, accepts: np.ndarray | float) -> np.ndarray:
    return np.where(rng.random(m.size) < accepts, m, rng.integers(0, m))


def truth() -> dict[str, float]:
    """What the statistics estimate: means over all reviews that the world may draw, by how often each is drawn."""
    a, c = ACCEPTS[:, None, None], FOLLOWS[None, :, None] * _SHIFT
    weight = np.broadcast_to(((MOST_TRIALS + 1) / 2)[:, None, None], np.broadcast_shapes(a.shape, c.shape))

    def mean(value: np.ndarray | float) -> float:
        return float((weight * value).sum() / weight.sum())

    alone, one_in = 1 - c, float((1 / DRAFTED).mean())
    both, first, second = mean(c * a + alone * a * ALONE), mean(a), mean(c * a + alone * ALONE)
    reject = c * (1 - a) + alone * (1 - a) * (1 - ALONE)
    same_reject = c * (1 - a) + alone * (1 - a) * (1 - ALONE) * one_in
    same = c * a + alone * a * ALONE + same_reject
    agrees, by_chance = 1 - first - second + 2 * both, first * second + (1 - first) * (1 - second)
    middle = (first + second) / 2
    steps, alike = _steps(a, c)
    rejected_share = float(((DRAFTED - 1) / (2 * DRAFTED)).mean())
    return {
        "agreement": agrees,
        "kappa": (agrees - by_chance) / (1 - by_chance),
        "ac1": (agrees - 2 * middle * (1 - middle)) / (1 - 2 * middle * (1 - middle)),
        "same_step": mean(same_reject) / mean(reject),
        "per_step": mean(alike) / mean(steps),
        "signed_difference": mean(alone * (ALONE - a) * (1 - rejected_share)),
        "rejected_again": mean(reject) / mean(1 - a),
        "acceptance": second - first,
        **{f"same_to_{j}": mean(same**j) for j in (1, 2, 4)},
    }


def _steps(a: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many steps both judge in a review, and how many of them alike."""
    steps, alike = np.zeros_like(a * c), np.zeros_like(a * c)
    for m in DRAFTED:
        chances = {old: a if old == m else (1 - a) / m for old in range(m + 1)}
        alone = {new: ALONE if new == m else (1 - ALONE) / m for new in range(m + 1)}
        for old, chance in chances.items():
            judged = min(old + 1, m)
            steps, alike = steps + c * chance * judged, alike + c * chance * judged
            for new, other in alone.items():
                both = min(old + 1, new + 1, m)
                steps = steps + (1 - c) * chance * other * both
                alike = alike + (1 - c) * chance * other * (both - (old != new))
    return steps, alike
