"""H26: an action that was held and waits for its verdict. No replay, fork or resume lets it act without a new one.

The episode is killed after each event from the hold on to the last one before the act. What it waited for, a model or a
person who judges, is never there any more: whoever reads the log must neither act in its place nor wait for it.
"""

import asyncio

import pytest

from spectrace.audit.rules import violations
from spectrace.core.deeds import deeds
from spectrace.core.events import ActionHeld, ActRequested, GenerateCompleted, VerdictGiven
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Finish
from spectrace.errors import ModelFailed
from spectrace.runs.fork import Edit
from spectrace.runs.replay import replay_episode
from spectrace.store.memory import MemoryEventStore
from tests.desk import at, open_desk
from tests.forks import fork, recorded_in
from tests.lasting_desk import changes, connected, open_lasting
from tests.playbook import accept, reject
from tests.resumes import cut, resume

PATIENCE_S = 5
WEAK = [at("look"), at("change"), Finish("done")]
EVENTS = recorded_in(open_desk([]), SpecAgent(), weak=WEAK, strong=[accept(), accept()])
(HELD, *_) = [one for one in EVENTS if isinstance(one.body, ActionHeld)]
(ACT,) = [one for one in EVENTS if isinstance(one.body, ActRequested) and one.body.tool == "change"]
WAITING = range(HELD.seq, ACT.seq)
"""The last event of a log in which the write is held and was not sent."""
(SAID, *_) = [one for one in EVENTS if isinstance(one.body, GenerateCompleted) and one.body.role == "reviewer"]
UNJUDGED = [last for last in WAITING if last < SAID.seq]
"""Those in which the reviewer has not answered yet: its answer, once recorded, is the verdict."""


def soon(going):
    """Run it, and not for long: nobody is there who could answer."""
    return asyncio.run(asyncio.wait_for(going, PATIENCE_S))


def sent(events):
    return [one.body.authority for one in events if isinstance(one.body, ActRequested) and one.body.tool == "change"]


@pytest.mark.parametrize("last", WAITING)
def test_a_replay_comes_to_the_end_of_the_record_and_does_nothing(last):
    found = soon(replay_episode(EVENTS[: last + 1]))

    assert (found.result, found.compared, found.first_difference) == ("same", last, None)


@pytest.mark.parametrize("last", WAITING)
def test_a_replay_with_live_tools_does_what_was_done_and_not_what_was_held(last):
    calls = []
    found = soon(replay_episode(EVENTS[: last + 1], environment=open_desk(calls)))

    assert (found.result, calls) == ("same", [at("look")])


@pytest.mark.parametrize("last", WAITING)
def test_the_ledger_says_that_it_never_ran(last):
    (deed,) = [one for one in deeds(EVENTS[: last + 1]) if one.tool == "change"]

    assert (deed.outcome, deed.held_seq, deed.authority) == ("never", HELD.seq, None)
    assert violations(EVENTS[: last + 1]) == []


@pytest.mark.parametrize("last", UNJUDGED)
def test_a_fork_has_it_judged_anew_and_does_it_only_then(last):
    calls = []
    refused = fork(EVENTS, last, open_desk(calls), strong=[reject(1, Finish("no")), accept()])
    assert (sent(refused), at("change") in calls) == ([], False)

    allowed = fork(EVENTS, last, open_desk(calls), weak=[Finish("done")], strong=[accept(), accept()])
    (given,) = [one.seq for one in allowed if isinstance(one.body, VerdictGiven)][:1]
    assert (sent(allowed), calls.count(at("change"))) == ([f"verdict:{given}"], 1)
    assert violations(allowed) == []


@pytest.mark.parametrize("last", UNJUDGED)
def test_where_nobody_judges_a_fork_ends_without_it(last):
    calls = []
    child = fork(EVENTS, last, open_desk(calls), strong=[ModelFailed("unreachable", "nobody is there")])

    assert (child[-1].body.outcome, sent(child), calls) == ("failed", [], [at("look")])


def test_a_person_who_judges_in_the_fork_is_its_authority():
    (given, *_) = [one.seq for one in EVENTS if isinstance(one.body, VerdictGiven)]
    edit = Edit(accept(), "person:Ana")
    child = fork(EVENTS, given, open_desk([]), edit=edit, weak=[Finish("done")], strong=[accept()])

    assert sent(child) == ["person:Ana"]
    assert violations(child) == []


@pytest.fixture
def killed(tmp_path):
    """A function: an episode on a desk that outlives its process, killed after an event; the desk, store and id."""
    file = tmp_path / "desk.db"
    events = recorded_in(open_lasting(file), SpecAgent(), weak=WEAK, strong=[accept(), accept()])
    assert [one.type for one in events] == [one.type for one in EVENTS]

    def after(last):
        with connected(file) as database:
            database.execute("DELETE FROM changes")
        store = MemoryEventStore()
        return file, store, cut(store, events, last)

    return after


def go_on(killed, last, **scripts):
    file, store, episode = killed(last)
    child = resume(store, episode, open_lasting(file), {"weak": [Finish("done")], **scripts})
    return child, changes(file)


@pytest.mark.parametrize("last", UNJUDGED)
def test_a_resume_has_it_judged_and_does_it_once_on_that_verdict(killed, last):
    child, done = go_on(killed, last, strong=[accept(), accept()])
    (given, *_) = [one.seq for one in child if isinstance(one.body, VerdictGiven)]

    assert (sent(child), done) == ([f"verdict:{given}"], ["A"])
    assert violations(child) == []


@pytest.mark.parametrize("last", UNJUDGED)
def test_a_resume_whose_verdict_is_a_rejection_does_not_do_it(killed, last):
    child, done = go_on(killed, last, strong=[reject(2, Finish("no")), accept()])

    assert (sent(child), done) == ([], [])


@pytest.mark.parametrize("last", UNJUDGED)
def test_a_resume_that_nobody_judges_ends_without_it(killed, last):
    child, done = go_on(killed, last, strong=[ModelFailed("unreachable", "nobody is there")])

    assert (child[-1].body.outcome, sent(child), done) == ("failed", [], [])


@pytest.mark.parametrize("last", [last for last in WAITING if last not in UNJUDGED])
def test_a_resume_does_what_was_approved_before_once(killed, last):
    child, done = go_on(killed, last, strong=[accept()])

    assert (len(sent(child)), done) == (1, ["A"])
    assert violations(child) == []
