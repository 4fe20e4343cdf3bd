import pytest

from spectrace.core.events import ActCompleted, ActFailed, EpisodeEnded, ResetCompleted
from spectrace.core.fold import fold
from spectrace.core.types import Call, Reply
from spectrace.interchange import losses
from tests.chat_files import ANSWER, ASK, DONE, SAID, SYSTEM, call, calls, imported, result, written


def told(tmp_path, *messages):
    store, (episode,) = imported(written(tmp_path / "talk.jsonl", *messages))
    return list(store.read(episode))


def of(events, cls):
    return [event.body for event in events if isinstance(event.body, cls)]


def test_what_comes_before_the_first_assistant_is_the_opening(tmp_path):
    (opening,) = of(told(tmp_path, SYSTEM, ASK, DONE), ResetCompleted)

    assert [message.content for message in opening.messages] == ["Help the customer.", "Cancel W2."]


def test_a_reply_is_answered_by_the_users_message_that_follows_it(tmp_path):
    steps = fold(told(tmp_path, ASK, SAID, ANSWER, DONE)).history.steps

    assert [(step.action, step.observation.content) for step in steps] == [
        (Reply("Which one?"), "The blue one."),
        (Reply("Done."), ""),
    ]


def test_neighbouring_replies_are_steps_of_their_own(tmp_path):
    events = told(tmp_path, ASK, SAID, SAID, DONE)
    done = [body.observation.done for body in of(events, ActCompleted)]

    assert (len(fold(events).segments), done) == (3, [False, False, True])


def test_results_of_parallel_calls_are_paired_by_id(tmp_path):
    events = told(tmp_path, ASK, calls(call("a", "one"), call("b", "two")), result("b", "B"), result("a", "A"), DONE)
    steps = fold(events).history.steps[:2]

    assert [(step.action.tool, step.observation.content) for step in steps] == [("one", "A"), ("two", "B")]
    assert losses.RESULTS_OUT_OF_ORDER in events[0].body.origin.losses


def test_a_call_without_a_result_is_indeterminate(tmp_path):
    events = told(tmp_path, ASK, calls(call("a", "pay")))
    (failed,) = of(events, ActFailed)

    assert (failed.outcome, failed.tool) == ("indeterminate", "pay")
    assert losses.CALL_WITHOUT_RESULT in events[0].body.origin.losses


def test_a_message_out_of_place_is_in_the_later_prompts(tmp_path):
    events = told(tmp_path, ASK, calls(call("a")), result("a", "A"), ANSWER, result("zz", "?"), DONE)
    prompt = [event.body for event in events if event.type == "generate.requested"][-1].messages

    assert [message.content for message in prompt] == ["Cancel W2.", "", "A", "The blue one.", "?"]
    assert losses.STRAY_MESSAGE in events[0].body.origin.losses


@pytest.mark.parametrize(
    ("last", "outcome"), [(DONE, "completed"), (ASK, "interrupted"), (calls(call("a")), "interrupted")]
)
def test_only_a_dialogue_that_ends_in_a_reply_is_complete(tmp_path, last, outcome):
    (ended,) = of(told(tmp_path, ASK, SAID, ANSWER, last), EpisodeEnded)

    assert (ended.outcome, ended.reason) == (outcome, "history_ends")


def test_a_dialogue_without_an_assistant_is_an_opening_alone(tmp_path):
    events = told(tmp_path, SYSTEM, ASK)

    assert [event.type for event in events[1:]] == ["reset.requested", "reset.completed", "episode.ended"]


def test_a_call_runs_the_exact_arguments(tmp_path):
    (step,) = fold(told(tmp_path, ASK, calls(call("a", "pay", '{ "n": 1.0 }')), result("a", "ok"))).history.steps

    assert step.action == Call("pay", '{ "n": 1.0 }')
