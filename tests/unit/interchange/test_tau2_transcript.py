import json

from tau2_files import says

from spectrace.core.events import ActCompleted, ActFailed, GenerateCompleted, GenerateRequested, SegmentCommitted
from spectrace.core.types import Call, Effect, Message, Observation, Outcome, ToolSpec, Usage
from spectrace.interchange import losses
from spectrace.interchange.tau2_messages import read_messages
from spectrace.interchange.tau2_transcript import Scene, Transcript


def transcript(*messages, tools=(), lost=None):
    scene = Scene(
        episode="e1",
        began=1_000,
        seed=None,
        tools=tools,
        effects={"look": Effect.READ},
        agent_parameters='{"temperature": 0.0}',
        user_parameters="{}",
        outcome=Outcome("completed", "user_stop"),
        grade=None,
    )
    return Transcript(scene, read_messages(json.dumps(messages), set()), set() if lost is None else lost, 1_000)


def committed(number):
    return SegmentCommitted(segment=1, start=number, end=number, reviewed="not_applicable")


def test_events_are_numbered_and_their_times_never_go_backwards():
    script = transcript(
        says("a", timestamp="1970-01-01T00:00:01Z"), says("b", timestamp="1970-01-01T00:00:00.500Z"), says("c")
    )

    for number, said in enumerate(script.messages, 1):
        script.write(committed(number), said)

    assert [(one.seq, one.at) for one in script.pending] == [(1, 10**6), (2, 10**6), (3, 10**6)]
    assert script.lost == {losses.TIMES_BACKWARDS}


def test_a_model_call_holds_the_conversation_before_it_and_what_the_provider_said():
    raw = {"finish_reason": "stop", "model": "m-1", "id": "msg_1"}
    usage = {"prompt_tokens": 9, "completion_tokens": 3}
    script = transcript(says("Hello", usage=usage, raw_data=raw, reasoning="hm"), tools=(ToolSpec("look", "", "{}"),))
    script.conversation.append(Message("user", "Hi"))

    script.agent_call(script.messages[0], "s1")

    asked, answered = (one.body for one in script.pending)
    assert isinstance(asked, GenerateRequested)
    assert isinstance(answered, GenerateCompleted)
    assert (asked.messages, asked.parameters, asked.who) == ((Message("user", "Hi"),), '{"temperature": 0.0}', "strong")
    assert asked.tools_digest is not None
    assert (answered.message.content, answered.reasoning, answered.finish_reason) == ("Hello", "hm", "stop")
    assert (answered.model, answered.provider_id, answered.source) == ("m-1", "msg_1", "import")
    assert answered.usage == Usage(input=9, output=3)
    assert script.tally.totals.strong_calls == 1


def test_a_call_whose_tokens_nobody_counted_is_a_loss():
    script = transcript(says("Hello"))

    script.agent_call(script.messages[0], "s1")

    assert script.lost == {losses.NO_USAGE}


def test_the_users_call_does_not_pretend_to_have_seen_the_agents_conversation():
    script = transcript(says("Hello"))
    script.conversation.append(Message("user", "Hi"))

    script.user_call(script.messages[0], "s1.1")

    assert isinstance(script.pending[0].body, GenerateRequested)
    assert (script.pending[0].body.messages, script.pending[0].body.who) == ((), "user")


def test_an_answer_names_its_question():
    script = transcript()
    asked = script.ask(Call("look", "{}"), script.effect("look"), "s1.1", "agent")

    script.answer(asked, Observation("no", error=True), None)

    answered = script.pending[1].body
    assert isinstance(answered, ActCompleted)
    assert (answered.request, answered.outcome, answered.effect) == (1, "error", Effect.READ)


def test_an_unanswered_write_is_indeterminate_and_an_unanswered_read_is_not():
    script = transcript()
    for tool in ("look", "cancel"):
        script.no_answer(script.ask(Call(tool, "{}"), script.effect(tool), "s1.1", "agent"), losses.CALL_WITHOUT_RESULT)

    failures = [one.body for one in script.pending if isinstance(one.body, ActFailed)]

    assert [(one.tool, one.outcome) for one in failures] == [("look", "error"), ("cancel", "indeterminate")]
    assert script.lost == {losses.CALL_WITHOUT_RESULT}
