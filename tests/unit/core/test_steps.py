"""The ledger: what a step without an answer means, and when an episode is graded."""

import pytest

from spectrace.core.commands import Acted, Began, CommandFailed
from spectrace.core.roles import Budget, Desk, Ended
from spectrace.core.steps import Ledger, finish_episode
from spectrace.core.types import Effect, Finish, Message, Observation, Opening, Outcome, Reply
from tests.playbook import Playbook, change, look, setup


def ledger(*, done: bool = False) -> Ledger:
    return Ledger(Desk(setup(), Budget()), Began(Opening((Message("user", "go"),), done), "f0"))


def send(generator, answer):
    next(generator)
    try:
        generator.send(answer)
    except StopIteration as stop:
        return stop.value
    raise AssertionError


def test_an_executed_step_enters_the_history():
    book = ledger()
    step = send(book.execute_and_commit(look(), Effect.READ, "read", "s1.1"), Acted(Observation("red"), 1, "f0", "f0"))

    assert book.history.steps == (step,)
    assert book.outcome is None


def test_a_final_answer_ends_the_episode_unless_it_failed():
    book = ledger()
    send(
        book.execute(Finish("bye"), Effect.FINISH, "actor", "s1.1"), Acted(Observation("no", error=True), 1, None, None)
    )
    assert book.outcome is None
    send(book.execute(Finish("bye"), Effect.FINISH, "actor", "s2.1"), Acted(Observation(""), 2, None, None))

    assert book.outcome == Outcome("completed", "finished", "bye")


def test_an_environment_may_end_the_episode_at_any_step_or_at_once():
    book = ledger()
    send(book.execute(Reply("hi"), Effect.REPLY, "reply", "s1.1"), Acted(Observation("bye", done=True), 1, None, None))

    assert book.outcome == ledger(done=True).outcome == Outcome("completed", "environment_done")


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (CommandFailed("act", "timeout", "no answer", 3), "indeterminate"),
        (CommandFailed("generate", "unreachable", "no user", 3), "model_user_unreachable"),
    ],
)
def test_a_write_without_an_answer_ends_the_episode(failure, reason):
    execution = ledger().execute(change(), Effect.WRITE, "verdict:1", "s1.1")
    next(execution)

    with pytest.raises(Ended) as ended:
        execution.throw(failure)
    assert ended.value.outcome == Outcome("failed", reason)


def episode(outcome):
    yield from ()
    return outcome


def test_only_a_completed_episode_is_graded():
    graded = Playbook(finish_episode(episode(Outcome("completed", "finished")))).graded("0.5")
    truncated = Playbook(finish_episode(episode(Outcome("truncated", "max_steps"))))
    failed = Playbook(finish_episode(episode(Outcome("failed", "no_repair"))))

    assert [played.outcome.reward for played in (graded, truncated, failed)] == ["0.5", "0.0", None]


def test_a_grade_that_fails_leaves_the_reward_unknown():
    played = Playbook(finish_episode(episode(Outcome("completed", "finished")))).fails("crashed")

    assert played.outcome == Outcome("completed", "finished")


def test_an_environment_that_cannot_begin_fails_the_episode():
    def begins():
        raise CommandFailed("reset", "crashed", "no state", 1)
        yield

    assert Playbook(finish_episode(begins())).outcome == Outcome("failed", "environment_crashed")
