"""The checks of environments: those that are sound pass, and each check fails on an environment that breaks it."""

import asyncio

import pytest
from broken_environments import BROKEN, CALLS, Lasting, Sound
from environment_cases import CASES
from lasting_desk import open_lasting

import spectrace
from spectrace.core.types import Call
from spectrace.errors import UsageError
from spectrace.testing import call, check_environment, inspect_environment
from spectrace.testing.conformance import CHECKS

TALKS = {"a task is taken up where another instance left it"}
ASKS_NOBODY = {"what it asks of models is asked again after a reset"}


def skipped(report):
    return {claim for claim, _ in report.skipped}


@pytest.mark.parametrize("name", ["shop", "functions", "overridden", "tau2:mock"])
def test_our_own_environments_keep_every_promise(name):
    case = CASES[name]
    report = check_environment(case.open, [case.read, case.write, case.refused])

    assert (report.findings, len(report.kept) + len(report.skipped)) == ((), len(CHECKS))
    assert skipped(report) == (TALKS if name.startswith("tau2") else TALKS | ASKS_NOBODY)


def test_every_check_is_made_of_an_environment_that_can_do_all():
    sound, lasting = check_environment(Sound, CALLS), check_environment(Lasting, CALLS)

    assert skipped(sound) == TALKS
    assert set(lasting.kept) >= TALKS


def test_functions_whose_state_outlives_them_keep_every_promise(tmp_path):
    calls = [call("look", id="A"), call("change", id="A"), call("look", no="B")]
    report = check_environment(lambda: open_lasting(tmp_path / "desk.db"), calls)

    assert (report.environment, set(report.kept) >= TALKS) == ("lasting desk", True)


def test_an_environment_that_cannot_be_prepared_is_called_what_it_was_given_as():
    assert inspect_environment(BROKEN["no tasks"].made, CALLS).environment == "Broken"


def test_findings_are_raised_with_where_what_and_what_to_do():
    with pytest.raises(AssertionError) as raised:
        check_environment(BROKEN["a read that writes"].made, CALLS)

    text = str(raised.value)
    assert "environment sound: " in text
    assert 'where  act({"tool": "look", "arguments": {"name": "a"}})' in text
    assert "found  the state changed" in text
    assert "do     declare look a write, or change nothing" in text


def test_what_breaks_every_check_is_told_once():
    report = inspect_environment(BROKEN["a reset that is no coroutine"].made, CALLS)

    assert [one.where for one in report.findings].count("reset(seed)") == 1


def test_an_instance_that_cannot_be_made_again_is_checked_alone():
    report = check_environment(Sound(), CALLS)

    assert {claim for claim, why in report.skipped if "second instance" in why} == {
        "nothing is done before the reset",
        "instances do not see each other",
        "a task is taken up where another instance left it",
    }


def test_functions_are_made_again_and_an_environment_may_be_named():
    by_instance = check_environment(CASES["functions"].open(), [CASES["functions"].write])
    by_name = check_environment("shop")

    assert "instances do not see each other" in by_instance.kept
    assert dict(by_name.skipped)["writes move the fingerprint"].endswith("give one with calls=")


def test_another_task_is_named_and_one_that_is_not_there_is_a_finding():
    assert check_environment(Sound, CALLS, task="t2").findings == ()
    assert inspect_environment(Sound, CALLS, task="t9").findings[0].found == "no task t9"


def test_whoever_speaks_for_the_user_is_asked():
    heard = []

    def user(request):
        heard.append(request.messages[0].content)
        return "Well."

    check_environment(Sound, CALLS, user=user)

    assert set(heard) == {"You want 2 in a."}


def test_it_is_called_from_within_an_event_loop_too():
    async def test():
        return check_environment(Sound, CALLS)

    assert asyncio.run(test()).findings == ()


def test_an_error_in_the_loop_of_its_own_comes_out():
    def user(_):
        raise KeyboardInterrupt

    async def test():
        return check_environment(Sound, CALLS, user=user)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(test())


def test_what_is_no_environment_is_refused():
    with pytest.raises(UsageError, match="expected an Environment or a function that returns one, found a int"):
        check_environment(7)


@spectrace.tool(effect="read")
def peek(state: dict, name: str) -> str:
    """Look something up."""
    state["peeks"] = state.get("peeks", 0) + 1
    return state.get(name, "nothing")


def test_a_declared_read_that_writes_is_found_in_functions():
    task = spectrace.Task("t", "Look.")
    env = spectrace.Environment.from_functions(
        "desk", [peek], "Look.", reset=dict, tasks=[task], fingerprint=lambda state: state, restore="reset"
    )
    report = inspect_environment(env, [Call("peek", '{"name": "a"}')])

    assert {(one.claim, one.found) for one in report.findings} == {("reads leave the fingerprint", "the state changed")}
