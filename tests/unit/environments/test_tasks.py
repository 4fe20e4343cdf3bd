import math
from decimal import Decimal

import pytest

from spectrace.core.types import Evaluation
from spectrace.core.types import Task as CoreTask
from spectrace.environments.tasks import Task, graded
from spectrace.errors import UsageError


def test_a_task_is_given_id_request_and_grade_in_this_order():
    task = Task("t", "Do it.", len)

    assert (task.id, task.request, task.grade, task.data) == ("t", "Do it.", len, "{}")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((5, "Do it."), "id must be text, found int 5"),
        (("", "Do it."), "id must not be empty"),
        (("t", None), "request must be text, found NoneType None"),
        (("t", "Do it.", '{"a": 1}'), "grade must be a function of the final state, found str"),
        (("t", "Do it.", None, {"a": 1}), "data must be text, found dict"),
    ],
)
def test_a_task_of_wrong_parts_is_refused_by_the_part(given, words):
    with pytest.raises(UsageError, match=words):
        Task(*given)


def test_a_task_is_recorded_without_its_grade():
    assert Task("t", "Do it.", len, '{"a": 1}').plain() == CoreTask("t", "Do it.", '{"a": 1}')


def test_a_task_is_a_task_of_the_core_and_equal_whatever_grades_it():
    assert isinstance(Task("t", "Do it."), CoreTask)
    assert Task("t", "Do it.", len) == Task("t", "Do it.")


@pytest.mark.parametrize(
    ("value", "evaluation"),
    [
        (True, Evaluation("1.0", '{"grade":true}')),
        (0, Evaluation("0.0", '{"grade":0}')),
        (0.25, Evaluation("0.25", '{"grade":0.25}')),
        (Decimal("0.10"), Evaluation("0.1", '{"grade":{"$decimal":"0.10"}}')),
        (Evaluation("0.5", '{"because": "half"}'), Evaluation("0.5", '{"because": "half"}')),
        (Evaluation(None, "{}"), Evaluation(None, "{}")),
    ],
)
def test_a_grade_becomes_an_evaluation(value, evaluation):
    assert graded(value) == evaluation


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        "good",
        None,
        [1],
        Evaluation("NaN"),
        Evaluation("Infinity"),
        Evaluation("good"),
        Evaluation(0.5),
    ],
)
def test_what_is_no_grade_is_refused(value):
    with pytest.raises(ValueError, match="expected a"):
        graded(value)
