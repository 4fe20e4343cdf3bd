"""A log with runs to compare: twelve tasks that an answer passes or fails, as each protocol is told."""

import asyncio
import json

from spectrace.core.types import Completion, Message, Usage
from spectrace.cost.prices import read_prices
from spectrace.environments.functions import FunctionEnvironment
from spectrace.environments.tasks import Task
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live import Labels, record
from tests.playbook import accept

PRICES = read_prices({"scripted": {"input": 10, "output": 100, "since": "2026-01-01"}}, "test")
USAGE = Usage(input=100, cached=40, output=10)
"""2000 micro-dollars."""


def open_answers(tasks=12):
    """An environment in which `yes` passes."""
    listed = [
        Task(f"t{number:02}", f"Question {number:02}.", grade=lambda answer: answer == "yes") for number in range(tasks)
    ]
    return FunctionEnvironment.from_functions("answers", [], "Answer.", tasks=listed)


def said(text):
    return Completion(Message("assistant", text), finish_reason="stop", usage=USAGE, latency_us=1000)


def clients(protocol, text):
    """Models that answer with the text; SpecAgent's strong one accepts."""
    acting = ScriptedModel(lambda _: said(text))
    strong = ScriptedModel(lambda _: said(accept())) if protocol.NAME == "specagent" else acting
    return {role: acting if role == "weak" else strong for role in protocol.MODELS}


async def _record_trial(store, protocol, passing, labels, tasks):
    for number in range(tasks):
        environment = open_answers(tasks)
        models = clients(protocol, json.dumps({"finish": "yes" if number in passing else "no"}))
        task = environment.tasks()[number]
        await record(task, environment, models, protocol, store, labels=labels, prices=PRICES)


def record_run(store, protocol, passing, **of_run):
    """Record every task; those numbered in `passing` pass in every trial. `of_run`: run, trials, tasks."""
    for trial in range(of_run.get("trials", 1)):
        labels = Labels(run=of_run.get("run", "n"), trial=trial, concurrency=1)
        asyncio.run(_record_trial(store, protocol, passing, labels, of_run.get("tasks", 12)))
