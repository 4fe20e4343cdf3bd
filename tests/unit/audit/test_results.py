import asyncio
import json
from dataclasses import replace

import pytest

from spectrace.audit.queries import Filters, Reader
from spectrace.audit.results import has_result
from spectrace.core.baselines import WeakOnly
from spectrace.environments.functions import FunctionEnvironment
from spectrace.environments.tasks import Task
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live import Labels, record
from spectrace.store.memory import MemoryEventStore


def trips(answer):
    raise RuntimeError("the grader tripped")


def summary(store, grade):
    """Record an episode of a task with that grader."""
    task = Task("t", "x", grade=grade)
    environment = FunctionEnvironment.from_functions("desk", [], "Answer.", tasks=[task])
    models = {"weak": ScriptedModel([json.dumps({"finish": "done"})])}
    asyncio.run(record(task, environment, models, WeakOnly(), store, labels=Labels(run="n")))
    (one,) = Reader(store).episodes(Filters())
    return one


@pytest.mark.parametrize(("grade", "counts"), [(lambda _: 1.0, True), (None, True), (trips, False)])
def test_a_grade_that_was_asked_for_must_be_there(grade, counts):
    store = MemoryEventStore()

    assert has_result(store, summary(store, grade)) == counts


@pytest.mark.parametrize(
    ("status", "reason", "counts"),
    [
        ("truncated", "max_steps", True),
        ("truncated", "tokens_unknown", False),
        ("failed", "no_repair", True),
        ("failed", "model_weak_invalid", False),
        ("interrupted", None, False),
        ("running", None, False),
    ],
)
def test_an_end_that_says_nothing_of_the_agent_is_no_result(status, reason, counts):
    store = MemoryEventStore()

    assert has_result(store, replace(summary(store, None), status=status, end_reason=reason)) == counts
