"""Up to the fork the record answers for the models, and a fresh environment must answer as it did then."""

from collections import Counter
from dataclasses import replace

import pytest

from spectrace.core.events import ActCompleted, ActionChecked, GenerateCompleted, GenerateRequested, ResetCompleted
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Finish, Message, Reply
from spectrace.environments.tau2 import open_tau2
from spectrace.errors import ReplayDiverged
from tests.desk import at, open_desk
from tests.episodes import recorded_events
from tests.forks import desk_events, first, fork, recorded_in, replayed, sources
from tests.playbook import accept


def test_recorded_writes_are_executed_again_on_a_fresh_instance_and_once():
    calls: list[Call] = []
    events = desk_events()
    fork(events, first(events, ActCompleted), weak=[Finish("x")], strong=[accept()], environment=open_desk(calls))

    assert calls == [at("change")]


def test_an_environment_that_answers_otherwise_stops_before_anything_goes_live():
    events = desk_events()
    done = first(events, ActCompleted)
    body = events[done].body
    altered = replace(body, observation=replace(body.observation, content="A is not changed"))
    record_ = [*events[:done], replace(events[done], body=altered), *events[done + 1 :]]

    with pytest.raises(ReplayDiverged, match=f"answers otherwise than at event {done}"):
        fork(record_, done, environment=open_desk([]))


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        (ResetCompleted, {"messages": (Message("user", "Something else."),)}),
        (ActCompleted, {"fingerprint_after": "sha256:" + "0" * 64}),
        (ActionChecked, {"objection": "no such customer"}),
    ],
)
def test_an_opening_a_state_and_an_objection_must_come_out_as_they_did(kind, changes):
    events = recorded_events()
    seq = first(events, kind)
    altered = replace(events[seq], body=replace(events[seq].body, **changes))
    told = [*events[:seq], altered, *events[seq + 1 :]]

    with pytest.raises(ReplayDiverged, match=f"event {seq}"):
        fork(told, seq)


def test_a_simulated_user_is_answered_from_the_record_in_the_middle_of_an_action():
    create = Call("create_task", '{"user_id": "user_1", "title": "Important Meeting"}')
    weak = [Reply("What do you need?"), create, Reply("Done.")]
    strong, user = [accept()], ["Create a task called Important Meeting for user_1", "Please do.", "###STOP###"]
    events = recorded_in(open_tau2("mock"), SpecAgent(), weak=weak, strong=strong, user=user)
    asked = {event.seq: event.body.who for event in events if isinstance(event.body, GenerateRequested)}
    answers = [one for one in events if isinstance(one.body, GenerateCompleted)]
    spoken = [one.seq for one in answers if asked[one.body.request] == "user"][1]  # the first opens the dialogue
    done = Counter(asked[one.body.request] for one in answers if one.seq <= spoken)
    left = {"weak": weak[done["weak"] :], "strong": strong[done["strong"] :], "user": user[done["user"] :]}
    child = fork(events, spoken, environment=open_tau2("mock"), **left)

    assert [event.type for event in child] == [event.type for event in events]
    assert sources(child)[: done.total() + 1] == ["record"] * done.total() + ["live"]
    assert replayed(child) == "same"
