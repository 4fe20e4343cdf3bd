import asyncio

import pytest

from spectrace.core.types import Call, Completion, Finish, Message, ModelRequest, Reply, ToolCall
from spectrace.errors import ModelFailed, UsageError
from spectrace.models.scripted import ScriptedModel

HELLO = ModelRequest((Message("user", "hi"),))


def ask(model, request=HELLO):
    return asyncio.run(model.generate(request))


def about(*texts):
    return ModelRequest(tuple(Message("user", text) for text in texts))


def test_replies_come_in_order():
    model = ScriptedModel(["one", "two"])

    assert [ask(model).message.content for _ in range(2)] == ["one", "two"]


def test_replies_come_one_by_one_or_as_one_list():
    models = (ScriptedModel("one", "two"), ScriptedModel(["one", "two"]), ScriptedModel(("one", "two")))

    assert [[ask(model).message.content for _ in range(2)] for model in models] == [["one", "two"]] * 3


def test_one_text_is_one_reply():
    assert ask(ScriptedModel("one")).message.content == "one"


def test_a_list_among_other_replies_is_refused():
    with pytest.raises(UsageError, match="one by one or as one list, found 2 of which one is a list"):
        ScriptedModel("one", ["two"])


def test_what_is_left_of_a_script_is_known():
    model = ScriptedModel("one", "two", by_task={"T": ["three"]})
    ask(model)

    assert (model.left, ScriptedModel(lambda _: "on and on").left) == (2, 0)


def test_a_script_that_has_run_out_says_how_many_there_were():
    model = ScriptedModel(["one"], name="clerk")
    ask(model)

    with pytest.raises(ModelFailed, match=r"'clerk' holds 1 replies, and this is call 2") as raised:
        ask(model)

    assert raised.value.kind == "invalid"


def test_a_repeating_script_begins_again():
    model = ScriptedModel(["one", "two"], repeat=True)

    assert [ask(model).message.content for _ in range(3)] == ["one", "two", "one"]


def test_an_empty_repeating_script_still_fails():
    with pytest.raises(ModelFailed, match="holds 0 replies"):
        ask(ScriptedModel([], repeat=True))


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (Call("look", '{"id":  "W1"}'), '{"tool": "look", "arguments": {"id":  "W1"}}'),
        (Reply("Ü?"), '{"reply": "Ü?"}'),
        (Finish("done"), '{"finish": "done"}'),
    ],
)
def test_an_action_is_written_as_the_protocols_json(action, text):
    assert ask(ScriptedModel([action])).message == Message("assistant", text)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (Call("look", "{}"), Message("assistant", "", (ToolCall("call_0", "look", "{}"),))),
        (Reply("Which?"), Message("assistant", "Which?")),
        (Finish("done"), Message("assistant", "done")),
    ],
)
def test_an_action_is_a_native_call_where_the_model_writes_those(action, message):
    assert ask(ScriptedModel([action], calls="native")).message == message


def test_a_completion_is_given_as_it_is():
    completion = Completion(Message("assistant", "x"), finish_reason="length", model="m")

    assert ask(ScriptedModel([completion])) is completion


def test_an_exception_is_raised():
    with pytest.raises(ModelFailed, match="too long"):
        ask(ScriptedModel([ModelFailed("context", "too long")]))


def test_one_function_answers_every_call():
    model = ScriptedModel(lambda request: request.messages[-1].content.upper())

    assert [ask(model, about("a")).message.content, ask(model, about("b")).message.content] == ["A", "B"]


def test_a_function_in_a_list_answers_its_turn_and_may_be_async():
    async def slowly(request):
        await asyncio.sleep(0)
        return Finish(request.messages[0].content)

    model = ScriptedModel(["one", slowly])
    ask(model)

    assert ask(model).message.content == '{"finish": "hi"}'


def test_each_task_has_its_own_order():
    model = ScriptedModel(["else"], by_task={"T1": ["a", "b"], "T2": ["c"]})

    answers = [ask(model, about(text)).message.content for text in ("do T1", "do T2", "do T1", "other")]

    assert answers == ["a", "c", "b", "else"]


def test_the_longest_text_in_the_first_message_that_has_one_is_the_task():
    model = ScriptedModel(by_task={"T1": ["short"], "T12": ["long"]})

    assert ask(model, about("rules", "do T12", "see also T1")).message.content == "long"


def test_a_task_that_has_run_out_is_named():
    model = ScriptedModel(by_task={"T1": []})

    with pytest.raises(ModelFailed, match="0 replies for 'T1'"):
        ask(model, about("T1"))


def test_requests_are_kept():
    model = ScriptedModel(["one"])
    ask(model)

    assert model.requests == [HELLO]


def test_unknown_token_counts_are_not_invented():
    assert ask(ScriptedModel(["one"])).usage.input is None


def test_facts_name_the_script():
    facts = asyncio.run(ScriptedModel([], name="clerk", calls="native", source={"script": "s.json"}).facts())

    assert (facts.provider, facts.name, facts.calls, facts.url) == ("scripted", "clerk", "native", None)
    assert facts.server == '{"script": "s.json"}'
