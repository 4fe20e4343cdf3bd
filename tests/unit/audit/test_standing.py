import pytest

from spectrace.audit.standing import score_number, standing


@pytest.mark.parametrize(
    ("scores", "stands"),
    [([None, 1.0, 0.0], 1), ([0.0, 1.0], 0), ([None, None], 1), ([1.0], 0)],
)
def test_the_first_episode_with_a_score_stands_else_the_last_one(scores, stands):
    episodes = list(enumerate(scores))

    assert standing(episodes, lambda _: "cell", lambda one: one[1]) == [episodes[stands]]


def test_each_cell_has_an_episode_of_its_own():
    assert standing(["a1", "b1", "a2"], lambda one: one[0], lambda _: None) == ["a2", "b1"]


@pytest.mark.parametrize(
    ("status", "reason", "reward", "number"),
    [
        ("completed", "finished", "0.5", 0.5),
        ("truncated", "steps", None, 0.0),
        ("truncated", "run_max_cost_usd", "1", None),
        ("failed", "model_strong_timeout", "1", None),
        ("failed", "no_repair", None, 0.0),
        ("completed", "finished", None, None),
        ("completed", "finished", "good", None),
        ("completed", "finished", "Infinity", None),
    ],
)
def test_a_score_is_a_finite_number_or_none(status, reason, reward, number):
    assert score_number(status, reason, reward) == number
