import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from spectrace.stats.estimates import clustered
from spectrace.stats.flips import sign_flips


def pair(differences):
    """Two samples of one trial a task that differ by so much."""
    tasks = [str(number) for number in range(len(differences))]
    return clustered(zip(tasks, differences, strict=True)), clustered((task, 0) for task in tasks)


def test_four_tasks_that_all_moved_one_way_have_a_chance_of_one_in_eight():
    found = sign_flips(*pair([1, 1, 1, 1]))

    assert (found.p, found.clusters, found.method) == (0.125, 4, "paired sign flips over tasks, exact")


def test_no_task_moved_is_no_evidence():
    assert sign_flips(*pair([0, 0, 0])).p == 1


def test_the_exact_test_is_scipys():
    moved = [1, 1, -1, 1, 0, 1, 1, -1, 1, 1]
    exact = scipy.stats.permutation_test(
        (moved,),
        lambda x, axis: x.sum(axis=axis),
        permutation_type="samples",
        n_resamples=float("inf"),
        vectorized=True,
    )

    assert sign_flips(*pair(moved)).p == pytest.approx(exact.pvalue)


def test_many_tasks_of_a_few_trials_stay_exact():
    moved = [(-1) ** (n % 3) / 3 for n in range(300)]

    assert sign_flips(*pair(moved)).method.endswith("exact")


def test_values_that_make_too_many_sums_are_drawn_by_a_seed():
    a, b = pair([0.1 + 1.37**n / 7 for n in range(30)])
    found, again = sign_flips(a, b, draws=999), sign_flips(a, b, draws=999)

    assert (found, found.p, found.method) == (again, 0.001, "paired sign flips over tasks (B=999, seed 2026)")


def test_without_a_shared_task_there_is_no_test():
    assert sign_flips(clustered([("a", 1)]), clustered([("b", 1)])) is None


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=12))
def test_the_test_does_not_mind_which_of_the_two_comes_first(differences):
    a, b = pair(differences)

    assert sign_flips(a, b).p == sign_flips(b, a).p
    assert 0 < sign_flips(a, b).p <= 1
