import asyncio
import math
import sqlite3
import threading
import time

import pytest
from aio import in_loop

from spectrace.core.digest import text_digest
from spectrace.core.types import (
    Call,
    Completion,
    EnvironmentFacts,
    Evaluation,
    Finish,
    Message,
    Observation,
    Reply,
)
from spectrace.core.types import Task as CoreTask
from spectrace.environments.functions import FunctionEnvironment, Task, tool
from spectrace.errors import EnvironmentFailed, UsageError

TASK = CoreTask("t", "Do it.")


@tool(effect="read")
def look(state: dict, name: str) -> object:
    """Look something up."""
    return state[name]


def put(state: dict, name: str, value: str) -> str:
    """Put something there."""
    state[name] = value
    return f"{name} is {value}"


def make(*tools, reset=dict, **options):
    return FunctionEnvironment.from_functions("desk", tools or [look, put], "You run a desk.", reset, **options)


async def begun(*tools, task=TASK, **options):
    environment = make(*tools, **options)
    environment.prepare(task)
    await environment.reset(None)
    return environment


async def outcome(function, arguments="{}", **options):
    environment = await begun(function, **options)
    try:
        return await environment.act(Call(function.__name__, arguments))
    finally:
        await environment.close()


def test_the_facts_say_what_was_declared():
    facts = make(restore="reset", clock="none", version="7", data=[("rows", "sha256:00")]).prepare(TASK)

    assert facts == EnvironmentFacts(
        "desk", look.__module__.partition(".")[0], "7", "reset", "none", (("rows", "sha256:00"),), None, False, True
    )


def test_nothing_is_restorable_and_nothing_has_a_fingerprint_unless_somebody_says_so():
    facts = make().prepare(TASK)

    assert (facts.restore, facts.fingerprint) == ("none", None)


def test_a_restore_that_is_not_a_word_of_the_design_is_refused():
    with pytest.raises(UsageError, match="environment desk: expected restore to be reset, snapshot or none"):
        make(restore="yes")


@in_loop
async def test_a_tool_sees_the_state_that_reset_returned():
    environment = await begun(reset=lambda task: {"name": task.id})

    assert await environment.act(Call("look", '{"name": "name"}')) == Observation("t")
    assert await environment.act(Call("put", '{"name": "name", "value": "u"}')) == Observation("name is u")
    assert await environment.act(Call("look", '{"name": "name"}')) == Observation("u")


@in_loop
async def test_a_reset_begins_again_with_a_new_state():
    environment = await begun(fingerprint=lambda state: state)
    first = environment.fingerprint()
    await environment.act(Call("put", '{"name": "a", "value": "b"}'))
    await environment.reset(None)

    assert environment.fingerprint() == first


@in_loop
async def test_the_state_is_made_once_where_prepare_needs_it_already():
    made = []

    def new():
        made.append(1)
        return {}

    environment = make(reset=new, fingerprint=lambda state: state, restore="reset")
    facts = environment.prepare(TASK)
    await environment.reset(None)

    assert (len(made), facts.fingerprint) == (1, text_digest("{}"))


@in_loop
async def test_a_reset_that_wants_the_seed_waits_for_it():
    environment = make(reset=lambda seed: {"seed": seed}, fingerprint=lambda state: state)
    facts = environment.prepare(TASK)
    await environment.reset(7)

    assert (facts.fingerprint, environment.fingerprint()) == (None, text_digest('{"seed":7}'))


@in_loop
async def test_a_reset_may_be_a_coroutine():
    async def new():
        await asyncio.sleep(0)
        return {"name": "slow"}

    environment = await begun(reset=new, fingerprint=lambda state: state)

    assert await environment.act(Call("look", '{"name": "name"}')) == Observation("slow")


@in_loop
async def test_a_read_leaves_the_fingerprint_and_a_write_moves_it():
    environment = await begun(reset=lambda: {"a": "1"}, fingerprint=lambda state: state)
    before = environment.fingerprint()
    await environment.act(Call("look", '{"name": "a"}'))
    between = environment.fingerprint()
    await environment.act(Call("put", '{"name": "a", "value": "2"}'))

    assert before == between == text_digest('{"a":"1"}')
    assert environment.fingerprint() == text_digest('{"a":"2"}')


@in_loop
async def test_a_fingerprint_that_is_a_digest_already_is_taken_as_it_is():
    environment = await begun(fingerprint=lambda _: "sha256:abc")

    assert environment.fingerprint() == "sha256:abc"


@in_loop
async def test_an_unknown_tool_is_an_error_that_names_the_known_ones():
    environment = await begun()

    assert await environment.act(Call("drop", "{}")) == Observation(
        "UnknownTool: there is no tool 'drop'; the tools are look, put", error=True
    )


@pytest.mark.parametrize("arguments", ['{"name": 5}', '{"name": "a", "name": "b"}', "{", '{"name": NaN}', "{}"])
@in_loop
async def test_arguments_that_do_not_fit_are_an_error_and_nothing_runs(arguments):
    observation = await outcome(put, arguments)

    assert observation.error
    assert observation.content.startswith("InvalidArguments: ")


@in_loop
async def test_what_a_tool_raises_is_told_by_type_and_text_without_traceback_or_address():
    def fail() -> None:
        raise LookupError(f"gone: {object()}")

    assert await outcome(fail) == Observation("LookupError: gone: <object object>", error=True)


@pytest.mark.parametrize("error", [SystemExit(3), StopIteration(), AssertionError(), TimeoutError("its own")])
@in_loop
async def test_no_exception_of_a_tool_ends_the_episode(error):
    def fail() -> None:
        raise error

    assert (await outcome(fail, "{}")).error


@in_loop
async def test_a_tool_that_says_that_it_has_no_answer_has_none():
    def fail() -> None:
        raise EnvironmentFailed("unavailable", "the line is dead")

    with pytest.raises(EnvironmentFailed, match="the line is dead"):
        await outcome(fail)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\x00\ud835\x1b[31m", "a\x00\ud835\x1b[31m"),
        ({"x": math.nan, "y": (1, 2**60)}, '{"x":{"$float":"NaN"},"y":{"$tuple":[1,{"$int":"1152921504606846976"}]}}'),
        (b"\xff", "\udcff"),
        (None, "null"),
    ],
)
@in_loop
async def test_any_result_becomes_text(value, text):
    def give() -> object:
        return value

    assert await outcome(give) == Observation(text)


@in_loop
async def test_a_result_that_has_no_exact_text_is_no_error_of_the_call_and_says_where_it_lost():
    endless = []
    endless.append(endless)

    def give() -> object:
        return endless

    assert await outcome(give) == Observation('{"$lossy":["$[0]"],"value":[{"$cycle":"$"}]}')


@in_loop
async def test_a_tool_may_be_a_coroutine():
    async def wait(x: int) -> int:
        await asyncio.sleep(0)
        return x + 1

    assert await outcome(wait, '{"x": 1}') == Observation("2")


@in_loop
async def test_a_blocking_tool_past_its_time_has_no_answer_and_the_next_call_works():
    stop = threading.Event()

    @tool(timeout_s=0.05)
    def hang() -> str:
        stop.wait(10)
        return "late"

    environment = await begun(hang, put)
    started = time.monotonic()
    with pytest.raises(EnvironmentFailed, match=r"hang gave no answer in 0\.05 s and was left behind") as caught:
        await environment.act(Call("hang", "{}"))
    took = time.monotonic() - started
    after = await environment.act(Call("put", '{"name": "a", "value": "b"}'))
    stop.set()
    await environment.close()

    assert (caught.value.kind, took < 5, after) == ("timeout", True, Observation("a is b"))


@in_loop
async def test_a_coroutine_past_its_time_has_no_answer():
    @tool(timeout_s=0.05)
    async def hang() -> None:
        await asyncio.sleep(10)

    with pytest.raises(EnvironmentFailed, match="hang gave no answer") as caught:
        await outcome(hang)
    assert caught.value.kind == "timeout"


@in_loop
async def test_a_state_that_belongs_to_one_thread_works_in_every_function():
    def new():
        database = sqlite3.connect(":memory:")
        database.execute("CREATE TABLE t (x)")
        return database

    def insert(state: sqlite3.Connection, x: int) -> int:
        return state.execute("INSERT INTO t VALUES (?)", (x,)).rowcount

    def rows(state):
        return state.execute("SELECT x FROM t").fetchall()

    task = Task("t", "Insert 5.", grade=lambda state: rows(state) == [(5,)])
    environment = await begun(insert, task=task, reset=new, fingerprint=rows)
    await environment.act(Call("insert", '{"x": 5}'))
    evaluation = await environment.evaluate()
    closed = environment._worker.run_now(environment._state.close)
    await environment.close()

    assert (evaluation.reward, closed) == ("1.0", None)


@in_loop
async def test_the_final_answer_ends_the_episode():
    environment = await begun()

    assert await environment.act(Finish("bye")) == Observation("", done=True)
    with pytest.raises(EnvironmentFailed, match="expected a running episode, found over"):
        await environment.act(Call("look", '{"name": "a"}'))


@pytest.mark.parametrize(
    ("grade", "reward"),
    [
        (lambda state: state == {"a": "b"}, "1.0"),
        (lambda state: "b" in state, "0.0"),
        (lambda answer: answer == "bye", "1.0"),
        (lambda task, state, answer: task.id == "t" and answer == "bye" and len(state) == 1, "1.0"),
    ],
)
@in_loop
async def test_a_grade_sees_the_final_state_and_the_answer(grade, reward):
    environment = await begun(task=Task("t", "Do it.", grade=grade))
    await environment.act(Call("put", '{"name": "a", "value": "b"}'))
    await environment.act(Finish("bye"))

    assert (await environment.evaluate()).reward == reward


@in_loop
async def test_a_task_without_a_grade_has_no_reward():
    assert await (await begun()).evaluate() == Evaluation(None, '{"why":"the task has no grade"}')


@in_loop
async def test_a_recorded_task_finds_its_grade_by_id():
    task = Task("t", "Do it.", grade=lambda: True)
    environment = await begun(task=task.plain(), tasks=[task])

    assert environment.tasks() == (task.plain(),)
    assert (await environment.evaluate()).reward == "1.0"


@in_loop
async def test_a_grade_that_is_no_number_is_a_failure():
    environment = await begun(task=Task("t", "Do it.", grade=lambda: "good"))

    with pytest.raises(EnvironmentFailed, match="environment desk: expected a grade that is a bool"):
        await environment.evaluate()


def fail():
    raise KeyError("x")


@pytest.mark.parametrize("what", ["reset", "fingerprint", "check", "grade"])
@in_loop
async def test_a_users_function_that_raises_is_a_crash_that_names_it(what):
    options = {what: fail} if what != "grade" else {"task": Task("t", "Do it.", grade=fail)}

    async def whole():
        environment = await begun(**options)
        environment.fingerprint()
        environment.check(Reply("x"))
        await environment.evaluate()

    told = f"environment desk: its {what} function raised KeyError: 'x'"
    with pytest.raises(EnvironmentFailed, match=told) as caught:
        await whole()
    assert caught.value.kind == "crashed"


@in_loop
async def test_a_check_sees_what_was_said_in_request_and_observations():
    def check(action, seen):
        return None if action.text in seen else f"never seen: {action.text}"

    environment = await begun(reset=lambda: {"a": "ID7 is here"}, check=check, task=CoreTask("t", "About ID5, please."))
    await environment.act(Call("look", '{"name": "a"}'))
    await environment.act(Call("look", '{"name": "ID9"}'))

    assert [environment.check(Reply(id_)) for id_ in ("ID5", "ID7", "ID9")] == [None, None, "never seen: ID9"]


def test_without_a_check_there_is_no_objection():
    assert make().check(Call("put", "{}")) is None


@in_loop
async def test_a_question_out_of_turn_is_refused():
    environment = make()
    with pytest.raises(EnvironmentFailed, match="expected a running episode, found unprepared"):
        await environment.act(Call("look", "{}"))
    with pytest.raises(EnvironmentFailed, match=r"expected prepare\(task\) before reset"):
        await environment.reset(None)
    with pytest.raises(EnvironmentFailed, match="this environment asks for none"):
        await environment.resume(Completion(Message("assistant", "hi")))


@in_loop
async def test_a_fresh_instance_shares_nothing_with_the_first():
    first = await begun()
    second = first.fresh()
    second.prepare(TASK)
    await second.reset(None)
    await first.act(Call("put", '{"name": "a", "value": "b"}'))

    assert (await second.act(Call("look", '{"name": "a"}'))).error
