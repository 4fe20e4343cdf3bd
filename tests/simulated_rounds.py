"""Simulated logs: rounds of drafting and review with known acceptance, and what they cost. Seeds are fixed."""

from functools import cache
from random import Random

from spectrace.cost.accounting import RoundCost, StrongCost
from spectrace.cost.prediction import HELD, READ, Round, TaskRounds

D = 100.0
"""What a strong model's own step costs."""


@cache
def alike(tasks, rounds, p=0.9, n=5, seed=1):
    """Logs as Proposition 1 takes them: n steps, each valid with the same p, everything reviewed."""
    random = Random(seed)  # noqa: S311 - a simulation
    return [
        TaskRounds(f"task {task}", [_round(random, READ * (n - 1) + HELD, [p] * n) for _ in range(rounds)])
        for task in range(tasks)
    ]


@cache
def mixed(tasks, rounds, seed=2):
    """Tasks differ in acceptance and in length of segment, writes are worse than reads, reads go by unreviewed."""
    random = Random(seed)  # noqa: S311 - a simulation
    found = []
    for task in range(tasks):
        skill, longest = random.betavariate(6, 2), random.randint(1, 6)
        made = []
        for _ in range(rounds):
            reads = random.randint(0, longest - 1)
            valid = [1 - 0.12 * (1 - skill)] * reads + [skill]
            unreviewed = random.choice((0, 0, 6, 12)) if skill > 0.7 else random.choice((0, 0, 0, 6))
            made.append(_round(random, READ * reads + HELD, valid, unreviewed))
        found.append(TaskRounds(f"task {task}", made, tail=random.randint(0, 5)))
    return found


def _round(random, shape, valid, unreviewed=0):
    accepted = next((at for at, chance in enumerate(valid) if random.random() >= chance), len(shape))
    review = random.lognormvariate(3.4, 0.4)
    if accepted == len(shape):
        return Round(shape, accepted, unreviewed, 0, review)
    fused = random.random() < 0.6
    repaired = 1 if fused else random.randint(1, 3)
    return Round(shape, accepted, unreviewed, repaired, review * 1.3 + (0 if fused else random.uniform(40, 160)))


def strong_cost(tasks, acting=0.0, apart=0.0):
    """What the rounds of a log cost, as the accounting takes it: a third of a rejection is its corrective call."""
    rounds = [
        RoundCost(accepts=True, review=one.cost) if one.accepts else RoundCost(False, one.cost * 2 / 3, one.cost / 3)
        for task in tasks
        for one in task.rounds
    ]
    return StrongCost(steps=steps_of(tasks), rounds=rounds, acting=acting, apart=apart)


def steps_of(tasks):
    return sum(task.tail + sum(one.unreviewed + one.accepted + one.repaired for one in task.rounds) for task in tasks)
