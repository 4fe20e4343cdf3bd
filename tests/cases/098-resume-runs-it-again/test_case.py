"""Case 098: after a crash nothing that ran is run again, and what may have run waits for a person."""

import asyncio
import json
from collections import Counter
from pathlib import Path

import pytest

from spectrace.audit.settling import settle
from spectrace.core.baselines import WeakOnly
from spectrace.core.events import ActCompleted, ActRequested
from spectrace.core.types import Call, Finish
from spectrace.environments.functions import FunctionEnvironment, Task, tool
from spectrace.errors import Unsettled
from spectrace.runs.replay import replay_episode
from spectrace.store.memory import MemoryEventStore
from tests.forks import recorded_in
from tests.resumes import answers, cut, resume

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())
LINES = [json.loads(line) for line in (CASE / "events.jsonl").read_text().splitlines()]
CALLS = [Call(line["name"], json.dumps(line["arguments"])) for line in LINES if line["type"] == "tool_started"]
C1, C2 = (call.tool for call in CALLS)


class Office:
    """What was really done, whichever process did it."""

    def __init__(self) -> None:
        self.done: Counter[str] = Counter()

    def open(self) -> FunctionEnvironment:
        @tool(effect="read")
        def look() -> str:
            """Look around."""
            self.done["look"] += 1
            return "all is well"

        @tool(effect="write")
        def send_notice(to: str) -> str:
            """Send a notice."""
            self.done[C1] += 1
            return "sent"

        @tool(effect="write")
        def renew_loan(loan_id: int, days: int) -> str:
            """Renew a loan."""
            self.done[C2] += 1
            return "renewed"

        return FunctionEnvironment.from_functions(
            "office",
            (look, send_notice, renew_loan),
            "Be careful.",
            reset=lambda: self,
            attach=lambda: self,
            tasks=(Task("t1", "Tell m88."),),
        )


@pytest.fixture
def office() -> Office:
    return Office()


@pytest.fixture
def whole(office):
    """The episode as it goes without a crash."""
    events = recorded_in(office.open(), WeakOnly(), weak=[*CALLS, Call("look", "{}"), Finish("done")])
    office.done.clear()
    return events


def at_call(events, tool_name):
    """Return the event in which a tool was asked."""
    return next(one.seq for one in events if isinstance(one.body, ActRequested) and one.body.tool == tool_name)


def test_what_ran_is_answered_from_the_log_and_what_may_have_run_is_not_run_by_itself(office, whole):
    crashed = at_call(whole, C2)
    store = MemoryEventStore()
    name = cut(store, whole, crashed)
    office.done[C1] += 1
    with pytest.raises(Unsettled, match=C2):
        resume(store, name, office.open(), answers(whole, crashed))
    assert (office.done[C2] > 0) is EXPECTED["c2_auto_rerun"]

    settle(store, name, crashed, "ok", evidence="renewed, by the loan's page", by="Ann")
    child = resume(store, name, office.open(), answers(whole, crashed))

    assert office.done[C1] == EXPECTED["c1_runs"]
    assert office.done[C2] == 0
    assert child[-1].body.answer == "done"


def test_a_read_may_be_run_again_and_the_log_shows_that_it_was(office, whole):
    crashed = at_call(whole, "look")
    store = MemoryEventStore()
    child = resume(store, cut(store, whole, crashed), office.open(), answers(whole, crashed))
    ran = {one.body.tool: one.body.source for one in child if isinstance(one.body, ActCompleted)}

    assert office.done == {"look": 1}
    assert ran == {C1: "record", C2: "record", "look": "live", None: "live"}


def test_a_replay_runs_no_tool(office, whole):
    assert asyncio.run(replay_episode(whole)).result == "same"
    assert not office.done
