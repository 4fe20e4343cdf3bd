import json

from tau2_files import BYE, GREETING, HELLO, calls, result, says

from spectrace.core.events import (
    ActCompleted,
    ActFailed,
    ActRequested,
    EpisodeEnded,
    EvaluateCompleted,
    GenerateRequested,
    ReplyUnusable,
    ResetCompleted,
    StepDrafted,
    StepsDiscarded,
)
from spectrace.core.types import Call, Effect, Message, Observation, Outcome, Reply, ToolCall
from spectrace.interchange import losses
from spectrace.interchange.tau2_events import transcribe
from spectrace.interchange.tau2_messages import read_messages
from spectrace.interchange.tau2_transcript import Scene

STOPPED = Outcome("completed", "user_stop", reward="1.0")
USAGE = {"usage": {"prompt_tokens": 1, "completion_tokens": 1}}


def transcript(*messages, outcome=STOPPED, grade=None):
    scene = Scene("e1", 0, 7, (), {"look": Effect.READ}, "{}", "{}", outcome, grade)
    lost = set()
    return transcribe(scene, read_messages(json.dumps(messages), lost), lost)


def types(script):
    return [one.body.TYPE for one in script.pending]


def bodies(script, kind):
    return [one.body for one in script.pending if isinstance(one.body, kind)]


def test_a_dialogue_is_told_in_the_order_in_which_it_happened():
    script = transcript(
        GREETING, HELLO, calls(("c1", "look", {"id": "O1"})), result("c1", "{}"), says("Done."), BYE, grade="{}"
    )

    assert types(script) == [
        "reset.requested",
        "reset.completed",
        "generate.requested",
        "generate.completed",
        "step.drafted",
        "act.requested",
        "act.completed",
        "segment.committed",
        "generate.requested",
        "generate.completed",
        "step.drafted",
        "act.requested",
        "act.completed",
        "segment.committed",
        "evaluate.requested",
        "evaluate.completed",
        "episode.ended",
    ]
    assert [one.position for one in bodies(script, ActRequested)] == ["s1.1", "s2.1"]
    assert [one.authority for one in bodies(script, ActRequested)] == ["unknown", "unknown"]


def test_the_greeting_and_the_users_first_words_open_the_history():
    script = transcript(GREETING, HELLO, says("Bye"), BYE)

    (opening,) = bodies(script, ResetCompleted)
    assert opening.messages == (Message("assistant", "Hi!"), Message("user", "Cancel O1"))
    assert len(bodies(script, GenerateRequested)) == 1


def test_a_first_word_that_a_model_wrote_is_a_step():
    script = transcript(says("Hi!", **USAGE), HELLO, says("Bye"), BYE)

    assert bodies(script, ResetCompleted)[0].messages == ()
    assert bodies(script, StepDrafted)[0].action == Reply("Hi!")


def test_the_users_stop_word_stays_in_the_observation_and_ends_the_dialogue():
    script = transcript(GREETING, HELLO, says("Bye"), BYE)

    (answer,) = bodies(script, ActCompleted)
    assert answer.observation == Observation("Thanks ###STOP###", done=True)


def test_text_beside_calls_is_kept_in_the_model_call_and_is_no_reply():
    script = transcript(GREETING, HELLO, calls(("c1", "look", {}), content="Let me see."), result("c1", "{}"))

    assert [one.action for one in bodies(script, StepDrafted)] == [Call("look", "{}")]
    assert script.conversation[2] == Message("assistant", "Let me see.", (ToolCall("c1", "look", "{}"),))


def test_parallel_calls_are_steps_in_order_whatever_the_order_of_their_results():
    both = calls(("c1", "look", {"n": 1}), ("c2", "look", {"n": 2}))
    script = transcript(GREETING, HELLO, both, result("c2", "two"), result("c1", "one"), says("Bye"), BYE)

    acts = bodies(script, ActCompleted)
    assert [(one.position, one.observation.content) for one in acts[:2]] == [("s1.1", "one"), ("s1.2", "two")]
    assert [one.content for one in bodies(script, GenerateRequested)[1].messages[3:]] == ["two", "one"]
    assert losses.RESULTS_OUT_OF_ORDER in script.lost


def test_a_tool_that_nobody_knows_is_a_write_and_its_error_is_kept():
    script = transcript(GREETING, HELLO, calls(("c1", "invented", {})), result("c1", "Error: Tool", error=True))

    (act,) = bodies(script, ActCompleted)
    assert (act.effect, act.outcome, act.observation) == ("write", "error", Observation("Error: Tool", error=True))


def test_a_call_without_a_result_is_indeterminate():
    script = transcript(GREETING, HELLO, calls(("c1", "cancel", {})), outcome=Outcome("truncated", "max_steps"))

    assert [(one.tool, one.outcome) for one in bodies(script, ActFailed)] == [("cancel", "indeterminate")]


def test_a_result_without_a_call_is_kept_and_is_no_act():
    script = transcript(GREETING, HELLO, calls(("c1", "look", {})), result("c9", "whose?"), result("c1", "{}"))

    assert [one.observation.content for one in bodies(script, ActCompleted)] == ["{}"]
    assert (script.unfiled, losses.RESULT_WITHOUT_CALL in script.lost) == ({3}, True)


def test_the_users_tool_calls_happen_inside_the_reply_that_they_answer():
    script = transcript(
        GREETING,
        HELLO,
        says("Please look."),
        calls(("u1", "look", {}), ("u2", "toggle", {}), role="user", **USAGE),
        result("u1", "dark", requestor="user"),
        result("u2", "on", requestor="user"),
        BYE | USAGE,
    )

    acts = [(one.requestor, one.position, one.effect) for one in bodies(script, ActRequested)]
    assert acts == [("agent", "s1.1", "reply"), ("user", "s1.u1", "read"), ("user", "s1.u2", "write")]
    assert [one.position for one in bodies(script, ActCompleted)] == ["s1.u1", "s1.u2", "s1.1"]
    assert [(one.who, one.position) for one in bodies(script, GenerateRequested)] == [
        ("strong", "s1"),
        ("user", "s1.1"),
        ("user", "s1.1"),
    ]


def test_the_user_may_act_before_they_speak():
    script = transcript(GREETING, calls(("u1", "look", {}), role="user"), result("u1", "dark"), HELLO)

    assert [one.position for one in bodies(script, ActRequested)] == ["s0.u1"]
    assert bodies(script, ResetCompleted)[0].messages[-1] == Message("user", "Cancel O1")
    assert script.unfiled == {1}


def test_a_message_that_says_and_calls_nothing_is_unusable():
    script = transcript(GREETING, HELLO, says("  "), outcome=Outcome("failed", "agent_error", reward="0.0"))

    assert [(one.role, one.next) for one in bodies(script, ReplyUnusable)] == [("actor", "gave_up")]
    assert bodies(script, ActRequested) == []


def test_a_reply_that_the_harness_did_not_deliver_never_ran():
    script = transcript(GREETING, HELLO, says("One more?"), outcome=Outcome("truncated", "max_steps", reward="0.0"))

    assert types(script)[-3:] == ["step.drafted", "steps.discarded", "episode.ended"]
    assert [one.reason for one in bodies(script, StepsDiscarded)] == ["budget"]


def test_an_agent_that_ends_the_dialogue_needs_no_answer():
    script = transcript(GREETING, HELLO, says("Bye ###STOP###"), outcome=Outcome("completed", "agent_stop"))

    assert [one.observation for one in bodies(script, ActCompleted)] == [Observation("", done=True)]


def test_a_reply_whose_answer_is_missing_is_indeterminate():
    script = transcript(GREETING, HELLO, says("Bye"), says("Are you there?"), BYE)

    assert [(one.position, one.outcome) for one in bodies(script, ActFailed)] == [("s1.1", "indeterminate")]
    assert losses.REPLY_WITHOUT_ANSWER in script.lost


def test_a_message_out_of_place_is_kept_and_named():
    script = transcript(GREETING, HELLO, {"role": "system", "content": "note"}, HELLO, says("Bye"), BYE)

    assert (script.unfiled, losses.STRAY_MESSAGE in script.lost) == ({2, 3}, True)
    assert [one.role for one in bodies(script, GenerateRequested)[0].messages] == [
        "assistant",
        "user",
        "system",
        "user",
    ]


def test_the_grade_keeps_its_exact_text_and_the_end_its_totals():
    script = transcript(GREETING, HELLO, says("Bye"), BYE, grade='{"reward":1.0}')

    (grade,), (end,) = bodies(script, EvaluateCompleted), bodies(script, EpisodeEnded)
    assert (grade.reward, grade.detail) == ("1.0", '{"reward":1.0}')
    assert (end.outcome, end.reason, end.reward, end.totals) == ("completed", "user_stop", "1.0", script.tally.totals)


def test_a_dialogue_of_nothing_is_an_episode_of_nothing():
    assert types(transcript(outcome=Outcome("failed", "infrastructure_error"))) == [
        "reset.requested",
        "reset.completed",
        "episode.ended",
    ]
