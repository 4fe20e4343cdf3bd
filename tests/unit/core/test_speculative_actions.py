"""The strong model acts at every step; a guessed read that it then writes is not asked again, and nothing else counts.

Lane 0 is the strong model, lane 1 the weak one: `guess` lets the weak one answer first, as a faster model does.
"""

import pytest

from spectrace.core.baselines import StrongOnly
from spectrace.core.events import (
    EffectObserved,
    ReplyUnusable,
    SegmentCommitted,
    SpeculationMatched,
    StepDrafted,
    StepsDiscarded,
    StepSpeculated,
)
from spectrace.core.speculative_actions import SpeculativeActions
from spectrace.core.types import Call, Effect, Finish, Outcome, Reply
from spectrace.errors import UsageError
from tests.playbook import Playbook, change, look, setup

LOOSE = Call("look", '{ "id" :"A"}')
LOST = "speculation_lost"


def begun(guesses: int = 1, **of_setup) -> Playbook:
    return Playbook(SpeculativeActions(guesses=guesses).run(setup(**of_setup))).begins()


def lost(played: Playbook) -> list[tuple[int, int, int]]:
    return [(fact.segment, fact.start, fact.end) for fact in played.told(StepsDiscarded) if fact.reason == LOST]


def test_an_equal_guess_gives_its_observation_and_nothing_is_asked_twice():
    played = begun().lane(1).says("weak", LOOSE).observes("A is blue").lane(0).says("strong", look("A"))

    assert played.authorities == [("s1.g1", "speculative")]
    assert played.command.request.messages[-1].content == "[s1.1] A is blue"
    assert [fact.launched for fact in played.told(StepSpeculated)] == [True]
    assert [(fact.position, fact.guess) for fact in played.told(SpeculationMatched)] == [("s1.1", 3)]
    assert [(fact.start, fact.end, fact.reviewed) for fact in played.told(SegmentCommitted)] == [
        (1, 1, "not_applicable")
    ]
    assert lost(played) == []


def test_another_step_throws_the_guess_away_before_it_is_executed():
    played = begun().lane(1).says("weak", look("B")).observes("B is red").says("strong", look("A"))

    assert lost(played) == [(1, 1, 1)]
    assert played.observes("A is blue").authorities == [("s1.g1", "speculative"), ("s1.1", "actor")]
    assert "B is red" not in str(played.command.request.messages)


@pytest.mark.parametrize("action", [change("A"), Finish("done"), Reply("hm"), Call("search", '{"id": "A"}')])
def test_a_guess_that_writes_replies_finishes_or_tells_outsiders_is_recorded_and_never_executed(action):
    played = begun(replies=True).lane(1).says("weak", action).says("strong", action)

    assert [fact.launched for fact in played.told(StepSpeculated)] == [False]
    assert lost(played) == [(1, 1, 1)]
    assert played.observes().authorities == [("s1.1", "actor")]


@pytest.mark.parametrize("action", [Call("fly", "{}"), Call("look", '{"ident": "A"}')])
def test_a_guess_that_could_not_be_sent_is_not_launched(action):
    played = begun().lane(1).says("weak", action)

    assert [fact.launched for fact in played.told(StepSpeculated)] == [False]
    assert played.acts == []


@pytest.mark.parametrize("kind", ["timeout", "context", "budget"])
def test_a_weak_model_that_fails_costs_its_guess_and_no_more(kind):
    played = begun().lane(1).fails(kind).says("strong", look()).observes()

    assert played.told(StepSpeculated) == []
    assert (played.authorities, played.outcome) == ([("s1.1", "actor")], None)


def test_a_weak_model_that_cannot_be_read_twice_costs_its_guess_and_no_more():
    played = begun().lane(1).says("weak", "?").says("weak", "?").says("strong", look()).observes()

    assert [fact.next for fact in played.told(ReplyUnusable)] == ["asked_again", "gave_up"]
    assert (played.authorities, played.outcome) == ([("s1.1", "actor")], None)


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [
        ("server", Outcome("failed", "model_strong_server")),
        ("context", Outcome("truncated", "context_reviewer", reward="0.0")),
        ("budget", Outcome("truncated", "max_cost_usd", reward="0.0")),
    ],
)
def test_a_strong_model_that_fails_ends_the_episode_and_the_guess_is_lost(kind, outcome):
    played = begun().fails(kind, "max_cost_usd").lane(1).says("weak", look()).observes()

    assert played.outcome == outcome
    assert lost(played) == [(1, 1, 1)]


def test_a_guess_that_changed_the_state_stands_though_the_strong_model_failed():
    played = begun().fails("server").lane(1).says("weak", look()).observes(after="f1")

    assert (played.outcome, lost(played)) == (Outcome("failed", "model_strong_server"), [])


def test_a_strong_model_that_cannot_be_read_twice_ends_the_episode():
    played = begun().says("strong", "?").says("strong", "?").lane(1).says("weak", change())

    assert played.outcome == Outcome("failed", "unusable_reply")
    assert lost(played) == [(1, 1, 1)]


def test_a_guessed_read_without_an_answer_is_asked_again_by_the_strong_model():
    played = begun().lane(1).says("weak", look()).fails("timeout").says("strong", look()).observes("A is blue")

    assert played.authorities == [("s1.g1", "speculative"), ("s1.1", "actor")]
    assert lost(played) == [(1, 1, 1)]


def test_a_tools_own_error_is_an_observation_like_any_other():
    played = begun().lane(1).says("weak", look()).observes("no such thing", error=True).says("strong", look())

    assert played.authorities == [("s1.g1", "speculative")]
    assert played.command.request.messages[-1].content == "[s1.1] ERROR: no such thing"


def test_a_step_that_is_never_sent_matches_nothing():
    played = begun().lane(1).says("weak", look()).observes().says("strong", Call("look", "{}"))

    assert lost(played) == [(1, 1, 1)]
    assert "'id' is a required property" in played.command.request.messages[-1].content


def test_a_deeper_guess_waits_for_the_round_in_which_the_strong_model_comes_to_it():
    played = begun(2).lane(1).says("weak", look("A")).observes("a").says("weak", look("B")).observes("b")
    played.lane(0).says("strong", look("A"))
    played.lane(1).says("weak", look("C")).observes("c").lane(0).says("strong", look("B"))

    assert played.authorities == [("s1.g1", "speculative"), ("s1.g2", "speculative"), ("s2.g1", "speculative")]
    assert [fact.position for fact in played.told(SpeculationMatched)] == ["s1.1", "s2.1"]
    assert lost(played) == []


def test_a_deeper_guess_is_made_from_what_the_first_one_found():
    played = begun(2).lane(1).says("weak", look("A")).observes("A is blue")

    assert played.command.position == "s1.g2"
    assert played.command.request.messages[-1].content == "[s1.g1] A is blue"


def test_the_first_difference_throws_away_all_that_was_guessed_behind_it():
    played = begun(2).lane(1).says("weak", look("A")).observes("a").says("weak", look("B")).observes("b")
    played.lane(0).says("strong", look("C")).observes("c")

    assert lost(played) == [(1, 1, 2)]


def test_a_read_launched_before_a_write_never_matches_after_it():
    played = begun(2).lane(1).says("weak", look("A")).observes("a").says("weak", look("B")).observes("old")
    played.lane(0).says("strong", look("A"))
    played.lane(1).says("weak", look("C")).observes("c").lane(0).says("strong", change("B")).observes(after="f1")
    played.says("strong", look("B")).lane(1).fails("timeout").observes("new", before="f1", after="f1")

    assert lost(played) == [(1, 2, 2), (2, 1, 1)]
    assert played.authorities[-2:] == [("s2.1", "actor"), ("s3.1", "actor")]


def test_nothing_is_guessed_behind_a_step_that_is_not_executed():
    played = begun(3).lane(1).says("weak", change("A"))

    assert [lane.command is None for lane in played.lanes] == [False, True]


def test_several_calls_of_one_message_are_matched_in_their_order():
    played = begun(3, calls="native").lane(1).says("weak", look("A"), look("B"), change("B"))
    played.observes("a").observes("b").says("strong", look("A"), look("B"), change("C"))

    assert [fact.position for fact in played.told(SpeculationMatched)] == ["s1.1", "s1.2"]
    assert lost(played) == [(1, 3, 3)]
    assert played.observes().authorities[-1] == ("s1.3", "actor")


def test_calls_after_an_error_that_a_guess_found_are_dropped():
    played = begun(1, calls="native").lane(1).says("weak", look("A"), look("B")).observes("gone", error=True)
    played.says("strong", look("A"), change("A"))

    assert [(fact.start, fact.end, fact.reason) for fact in played.told(StepsDiscarded)] == [(2, 2, "after_error")]


def test_a_guess_that_changed_the_state_stands_and_the_strong_model_is_asked_again():
    played = begun(2).lane(1).says("weak", look("A")).observes("a").says("weak", look("B")).observes("b", after="f1")
    played.says("strong", change("A"))

    assert [(fact.authority, fact.effect) for fact in played.told(EffectObserved)] == [("speculative", Effect.WRITE)]
    assert [(fact.role, fact.next) for fact in played.told(ReplyUnusable)] == [("actor", "asked_again")]
    assert lost(played) == [(1, 1, 1)]
    assert played.told(StepDrafted) == []
    assert played.command.position == "s2"
    assert played.command.request.messages[-1].content == "[s1.g2] b"


def test_a_tool_that_changed_the_state_once_is_not_launched_again():
    played = begun().lane(1).says("weak", look("A")).observes(after="f1").says("strong", look("A"))
    played.lane(1).says("weak", look("B"))

    assert [fact.launched for fact in played.told(StepSpeculated)] == [True, False]


def test_a_guess_on_which_the_environment_ended_the_episode_ends_it():
    played = begun().lane(1).says("weak", look("A")).observes("time is up", done=True).says("strong", change("A"))
    played.graded("0.5")

    assert played.outcome == Outcome("completed", "environment_done", reward="0.5")
    assert [fact.next for fact in played.told(ReplyUnusable)] == ["gave_up"]
    assert played.authorities == [("s1.g1", "speculative")]


def test_what_a_budget_says_does_not_depend_on_which_model_answers_first():
    def played(first: int) -> Playbook:
        play = Playbook(SpeculativeActions(max_strong_calls=1, guesses=2).run(setup())).begins()
        if first:
            play.lane(1).says("weak", look("A")).observes().says("weak", look("B")).observes()
            return play.says("strong", look("A"))
        return play.says("strong", look("A")).says("weak", look("A")).observes().says("weak", look("B")).observes()

    assert [played(first).outcome for first in (0, 1)] == [Outcome("truncated", "max_strong_calls", reward="0.0")] * 2
    assert [lost(played(first)) for first in (0, 1)] == [[(1, 2, 2)]] * 2


def test_tokens_that_nobody_counted_in_either_branch_end_it_under_a_limit_of_tokens():
    play = Playbook(SpeculativeActions(max_tokens=999).run(setup())).begins()  # the playbook's models count no input
    played = play.says("strong", look("A")).says("weak", Finish("x")).observes()

    assert played.outcome == Outcome("truncated", "tokens_unknown", reward="0.0")


def test_guesses_are_no_steps_of_the_episode():
    played = Playbook(SpeculativeActions(max_steps=2, guesses=3).run(setup())).begins()
    played.lane(1).says("weak", look("A")).observes().says("weak", look("B")).observes().says("weak", look("C"))
    played.observes().says("strong", look("A"))

    assert played.outcome is None


def test_the_strong_model_reads_what_it_would_have_read_alone():
    alone = Playbook(StrongOnly().run(setup())).begins().says("strong", look()).observes("a")
    alone.says("strong", change()).observes("b", after="f1").says("strong", Finish("done"))
    played = begun().lane(1).says("weak", look()).observes("a").says("strong", look())
    played.lane(1).says("weak", look("B")).observes().says("strong", change()).observes("b", after="f1")
    played.lane(1).fails("server").says("strong", Finish("done"))

    assert [asked for asked in played.prompts if asked.who == "strong"] == alone.prompts


def test_the_strong_models_final_answer_ends_the_episode_whatever_was_guessed():
    played = begun().says("strong", Finish("done")).says("weak", look()).observes().observes().graded("1.0")

    assert played.outcome == Outcome("completed", "finished", "done", "1.0")
    assert lost(played) == [(1, 1, 1)]


def test_fewer_than_one_guess_is_refused():
    with pytest.raises(
        UsageError, match="option guesses must be a whole number of at least 1 and at most 2147483647, found 0"
    ):
        SpeculativeActions(guesses=0)
