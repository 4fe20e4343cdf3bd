"""Reviews judged twice, by hand and drawn: what the statistics of a re-verification are tested on."""

import random

from spectrace.stats.judgements import Judgement, Review

ACCEPT = Judgement("accept", 3)
UNUSABLE, TOO_LONG = Judgement("unusable"), Judgement("too_long")


def reject(accepted=0, action="ask", category="unsafe"):
    return Judgement("reject", accepted, category, action)


def review(recorded, new, task="t", episode=None, number=1, *, writes=False, drafted=3, repeat=1):  # noqa: PLR0913
    return Review(task, episode or task, number, drafted, recorded, new, writes, repeat)


def table(both, first, second, neither):
    """A two by two table of reviews, ten tasks or more where there are so many: accepted by both, by one, by none."""
    pairs = [(ACCEPT, ACCEPT)] * both + [(ACCEPT, reject())] * first + [(reject(), ACCEPT)] * second
    pairs += [(reject(), reject())] * neither
    return [review(*pair, task=str(number)) for number, pair in enumerate(pairs)]


def drawn(seed, tasks, episodes=3, reviews=5):
    """Two verifiers that agree on a review with a chance of its task's own: most tasks are easy, some hard.

    The true agreement is 0.75 and the recorded verifier accepts half, whatever the task.
    """
    draw = random.Random(seed)  # noqa: S311 - a simulation
    found = []
    for task in range(tasks):
        chance = draw.betavariate(0.9, 0.3)
        for episode in range(episodes):
            for number in range(1, reviews + 1):
                accepts = draw.random() < 0.5
                again = accepts if draw.random() < chance else not accepts
                pair = [ACCEPT if one else reject() for one in (accepts, again)]
                found.append(review(*pair, task=str(task), episode=f"{task}.{episode}", number=number))
    return found
