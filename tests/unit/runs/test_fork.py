"""A fork takes the record over up to an event, goes on live, and never reaches what cannot be brought back."""

import json
from dataclasses import replace

import pytest

from spectrace.core.baselines import StrongOnly, WeakOnly
from spectrace.core.deeds import deeds
from spectrace.core.events import (
    ActCompleted,
    ActRequested,
    EpisodeStarted,
    GenerateCompleted,
    GenerateRequested,
    Parent,
    StateMoved,
    VerdictGiven,
)
from spectrace.core.prompts import Prompts
from spectrace.core.specagent import SpecAgent
from spectrace.core.speculative_actions import SpeculativeActions
from spectrace.core.types import Call, Finish
from spectrace.environments.shop import open_shop
from spectrace.errors import Untestable, UsageError
from spectrace.runs.fork import Edit
from tests.desk import at, open_desk
from tests.episodes import CANCEL, DONE, FIND, READ, recorded_events
from tests.forks import desk_events, first, fork, replayed, sources
from tests.playbook import accept, reject

ANN = Edit(json.dumps({"verdict": "accept"}), "person:Ann")


def test_a_rejected_write_whose_verdict_is_edited_to_accept_runs_on_live_on_the_persons_authority():
    events = recorded_events()
    child = fork(events, first(events, VerdictGiven), weak=[DONE], strong=[accept()], edit=ANN)
    (ran,) = [deed for deed in deeds(child) if deed.tool == "cancel_order"]

    assert (ran.authority, ran.outcome, ran.reviewer_model) == ("person:Ann", "ok", "person:Ann")
    assert sources(child) == ["record", "edited", "live", "live"]
    assert (child[-1].body.outcome, replayed(child)) == ("completed", "same")


def test_the_child_names_its_parent_and_the_event_that_it_left_it_at():
    events = recorded_events()
    seq = first(events, GenerateCompleted, 1)
    child = fork(events, seq, weak=[READ, CANCEL, DONE], strong=[accept(), accept()])

    assert child[0].body.parent == Parent("fork", events[0].episode, seq)
    assert child[0].episode != events[0].episode


@pytest.mark.parametrize("seq", range(0, 43, 6))
def test_a_fork_at_any_event_takes_the_record_over_to_there_and_replays_the_same(seq):
    events = recorded_events()
    answered = [event.body.message for event in events[: seq + 1] if isinstance(event.body, GenerateCompleted)]
    weak = [CANCEL, READ, CANCEL, DONE]
    strong = [reject(1, FIND, reason="find the customer first"), accept(), accept()]
    drafted = sum(e.body.role == "drafter" for e in events[: seq + 1] if isinstance(e.body, GenerateCompleted))
    child = fork(events, seq, weak=weak[drafted:], strong=strong[len(answered) - drafted :])

    assert [event.type for event in child] == [event.type for event in events]
    assert sources(child) == ["record"] * len(answered) + ["live"] * (7 - len(answered))
    assert (child[-1].body.reward, replayed(child)) == (events[-1].body.reward, "same")


def test_an_edited_rejection_with_a_replacement_runs_it_on_the_persons_authority():
    events = recorded_events()
    edit = Edit(reject(1, READ, reason="look first"), "person:Ann")
    child = fork(events, first(events, VerdictGiven), weak=[DONE], strong=[accept()], edit=edit)
    ran = [event.body for event in child if isinstance(event.body, ActRequested)]

    assert (ran[0].position, ran[0].authority) == ("s1.r1", "person:Ann")
    assert replayed(child) == "same"


def test_a_fork_of_a_fork_keeps_the_persons_authority():
    events = recorded_events()
    child = fork(events, first(events, VerdictGiven), weak=[DONE], strong=[accept()], edit=ANN)
    again = fork(child, first(child, ActCompleted), weak=[DONE], strong=[accept()])

    assert [d.authority for d in deeds(again) if d.tool == "cancel_order"] == ["person:Ann"]
    assert (sources(again)[:2], replayed(again)) == (["record", "edited"], "same")


def test_a_server_that_calls_its_model_a_person_gives_nobody_authority():
    events = recorded_events()
    at_ = first(events, GenerateCompleted, 1)
    named = replace(events[at_], body=replace(events[at_].body, model="person:Ann"))
    child = fork(
        [*events[:at_], named, *events[at_ + 1 :]], at_, weak=[READ, CANCEL, DONE], strong=[accept(), accept()]
    )

    assert not [deed for deed in deeds(child) if (deed.authority or "").startswith("person:")]


def test_an_environment_that_cannot_be_restored_is_never_reached():
    calls: list[Call] = []
    environment = open_desk(calls)
    prepare = environment.prepare
    environment.prepare = lambda task: replace(prepare(task), restore="none")
    events = desk_events()

    for seq in (0, first(events, VerdictGiven), first(events, ActCompleted)):
        with pytest.raises(Untestable, match="restore=none"):
            fork(events, seq, environment=environment)
    assert calls == []


def test_other_options_that_leave_the_record_before_the_fork_are_told_and_nothing_runs():
    calls: list[Call] = []
    events = desk_events()

    with pytest.raises(Untestable, match=r"leaves the record at event .* -o acceptance=exact, recorded semantic\."):
        fork(events, first(events, ActCompleted), environment=open_desk(calls), protocol=SpecAgent(acceptance="exact"))
    assert calls == []


def test_other_prompts_are_those_of_the_child_all_the_way():
    events = recorded_events()
    prompts = replace(Prompts(), review=Prompts().review.replace("agent", "helper"))
    seq = first(events, GenerateCompleted, 1)
    child = fork(events, seq, weak=[READ, CANCEL, DONE], strong=[accept(), accept()], prompts=prompts)

    assert isinstance(child[0].body, EpisodeStarted)
    assert (child[0].body.prompts, replayed(child)) == (prompts.to_json(), "same")


def test_an_answer_that_is_no_verdict_is_refused_before_anything_is_recorded():
    events = recorded_events()

    with pytest.raises(UsageError, match="the answer is no verdict on this segment"):
        fork(events, first(events, VerdictGiven), edit=Edit('{"verdict": "reject", "first_wrong": 9}', "person:Ann"))


def test_what_is_wrong_with_a_fork_is_said_before_the_environment_makes_its_first_state():
    events, asked = recorded_events(), []
    shop = open_shop()
    shop.prepare = asked.append
    over = len(events) - 2

    with pytest.raises(UsageError, match="the answer is no verdict"):
        fork(events, first(events, VerdictGiven), shop, edit=Edit('{"verdict": "maybe"}', "person:Ann"))
    with pytest.raises(UsageError, match=f"the episode is over at event {over}"):
        fork(events, over, shop)
    shop.tools = lambda: shop_tools[1:]
    shop_tools = open_shop().tools()
    with pytest.raises(
        Untestable, match=rf"/tools/{shop_tools[0].name}: recorded .*name an environment that has these"
    ):
        fork(events, 9, shop)
    assert asked == []


def test_an_edit_takes_the_place_of_a_review_only():
    events = recorded_events()

    with pytest.raises(UsageError, match="takes the place of a review's answer"):
        fork(events, first(events, GenerateCompleted), edit=ANN)


def test_no_fork_lies_behind_the_end():
    events = recorded_events()

    with pytest.raises(UsageError, match="is its end"):
        fork(events, events[-1].seq)
    with pytest.raises(UsageError, match="the episode is over"):
        fork(events, events[-1].seq - 1)


def test_a_person_who_accepts_is_told_where_the_state_moved_meanwhile():
    events = desk_events()
    environment, calls = open_desk([]), [0]
    plain = environment.fingerprint

    def moving() -> str | None:
        calls[0] += 1
        return plain() if calls[0] < 4 else "sha256:" + "0" * 64

    environment.fingerprint = moving
    child = fork(events, first(events, VerdictGiven), weak=[DONE], strong=[accept()], environment=environment, edit=ANN)

    assert [event.body.position for event in child if isinstance(event.body, StateMoved)] == ["s1.1"]


@pytest.mark.parametrize(
    ("protocol", "weak", "strong"),
    [
        (WeakOnly(), [at("look"), at("change"), Finish("x")], []),
        (StrongOnly(), [], [at("look"), at("change"), Finish("x")]),
        (SpeculativeActions(), [at("look"), at("change"), at("look")], [at("look"), at("change"), Finish("x")]),
        (SpecAgent(acceptance="exact"), [at("change"), Finish("x")], [at("change"), Finish("x")]),
    ],
    ids=lambda value: getattr(value, "NAME", ""),
)
def test_an_episode_of_every_protocol_is_forked_also_between_its_lanes(protocol, weak, strong):
    events = desk_events(protocol, weak, strong)
    asked = {event.seq: event.body.who for event in events if isinstance(event.body, GenerateRequested)}
    for seq in range(1, len(events) - 2, 3):
        done = [asked[one.body.request] for one in events[: seq + 1] if isinstance(one.body, GenerateCompleted)]
        left = {"weak": weak[done.count("weak") :], "strong": strong[done.count("strong") :]}
        child = fork(events, seq, environment=open_desk([]), **left)

        assert (seq, child[-1].body.outcome, replayed(child)) == (seq, "completed", "same")


def test_a_persons_word_on_an_action_cannot_be_executed_again():
    events = desk_events()
    done = first(events, ActCompleted)
    word = replace(events[done].body, source="edited", authority="person:Ann")

    with pytest.raises(Untestable, match=f"event {done} .* is a person's word"):
        fork([*events[:done], replace(events[done], body=word), *events[done + 1 :]], done)
