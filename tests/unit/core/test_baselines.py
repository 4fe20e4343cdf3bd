"""One model acts at every step, on the authority `actor`."""

from spectrace.core.baselines import StrongOnly, WeakOnly
from spectrace.core.events import SegmentCommitted, StepsDiscarded
from spectrace.core.types import Call, Finish, Outcome
from tests.playbook import Playbook, change, look, setup


def test_weak_only_writes_without_asking_anybody():
    played = Playbook(WeakOnly().run(setup())).begins().says("weak", change()).observes(after="f1")
    played.says("weak", Finish("done")).observes().graded("1.0")

    assert played.authorities == [("s1.1", "actor"), ("s2.1", "actor")]
    assert played.outcome == Outcome("completed", "finished", "done", "1.0")
    assert {fact.reviewed for fact in played.told(SegmentCommitted)} == {"not_applicable"}


def test_strong_only_asks_the_strong_model_with_its_system_prompt():
    played = Playbook(StrongOnly().run(setup())).begins()

    assert (played.command.who, played.command.role) == ("strong", "actor")
    assert "REVIEW" in played.command.request.messages[0].content


def test_several_calls_run_in_order_up_to_the_first_error():
    played = Playbook(StrongOnly().run(setup(calls="native"))).begins()
    played.says("strong", look("A"), look("B"), look("C")).observes("1").observes("gone", error=True)

    assert [act.position for act in played.acts] == ["s1.1", "s1.2"]
    assert [(fact.start, fact.end, fact.reason) for fact in played.told(StepsDiscarded)] == [(3, 3, "after_error")]


def test_an_unknown_tool_is_never_sent():
    played = Playbook(WeakOnly().run(setup())).begins().says("weak", Call("fly", "{}"))

    assert played.acts == []
    assert "no tool is named 'fly'" in played.command.request.messages[-1].content


def test_two_unreadable_replies_end_the_episode():
    played = Playbook(WeakOnly().run(setup())).begins().says("weak", "?").says("weak", "?")

    assert played.outcome == Outcome("failed", "unusable_reply")


def test_the_step_budget_truncates():
    played = Playbook(WeakOnly(max_steps=1).run(setup())).begins().says("weak", look()).observes()

    assert played.outcome == Outcome("truncated", "max_steps", reward="0.0")
