import json
import sys
from pathlib import Path

import pytest
from model_server import model_server

from tests.shop_log import STRONG_SCRIPT, WEAK_SCRIPT, script

CONTRACT = "episode task trial status reward steps strong_calls weak_calls"


@pytest.fixture
def pair(line, tmp_path):
    weak, strong = script(tmp_path / "weak.json", WEAK_SCRIPT), script(tmp_path / "strong.json", STRONG_SCRIPT)
    return ["run", "--env", "shop", "--task", "cancel-own", "--weak", weak, "--strong", strong]


def test_an_item_has_the_fields_that_others_rely_on(line, pair):
    (item,) = line.items(*pair)

    assert set(CONTRACT.split()) <= set(item)
    assert (item["status"], item["reward"], item["steps"]) == ("completed", "1.0", 5)
    assert [found["episode"] for found in line.items("ls")] == [item["episode"]]


def test_people_get_a_table_and_the_progress_goes_to_stderr(line, pair):
    result = line(*pair)

    assert (result.exit_code, result.stdout.split()[0]) == (0, "episode")
    assert "begins" in result.stderr
    assert "begins" not in result.stdout


def test_what_is_filed_is_found(line, pair):
    line(*pair, "--name", "n", "--project", "p", "--label", "a=b", "--operator", "me", "--seed", "3", "-o", "k=4")
    (found,) = line.items("ls", "--run", "n", "--project", "p", "--label", "a=b")
    started = line.items("show", f"{found['episode']}:0")[0]["body"]

    assert (started["operator"], started["seed"], json.loads(started["options"])["k"]) == ("me", 3, 4)


def test_trials_are_episodes_of_their_own(line, tmp_path):
    weak = script(tmp_path / "weak.json", [{"action": {"finish": "no"}}] * 2)
    options = ["--env", "shop", "--task", "cancel-own", "--protocol", "weak-only", "--weak", weak, "--trials", "2"]

    assert [item["trial"] for item in line.items("run", *options)] == [0, 1]


def test_models_are_found_in_the_settings_by_their_role(line, pair, tmp_path):
    named = {"weak": pair[6].removeprefix("scripted:"), "strong": pair[8].removeprefix("scripted:")}
    tables = [f'[models.{role}]\nprovider = "scripted"\nname = "{path}"\n' for role, path in named.items()]
    (tmp_path / "spectrace.toml").write_text("".join(tables))

    assert line(*pair[:5]).exit_code == 0


def test_an_episode_that_fails_makes_the_answer_no_after_the_table(line, tmp_path):
    weak = script(tmp_path / "weak.json", [])
    result = line("run", "--env", "shop", "--task", "cancel-own", "--protocol", "weak-only", "--weak", weak)

    assert (result.exit_code, "failed" in result.stdout) == (1, True)


def test_a_server_that_does_not_answer_leaves_no_episode_and_says_what_to_do(line):
    dead = "openai:x@http://127.0.0.1:1"
    result = line("run", "--env", "shop", "--task", "cancel-own", "--weak", dead, "--strong", dead)

    assert (result.exit_code, "not recorded" in result.stdout) == (1, True)
    assert "Start the server" in result.stderr
    assert line.items("ls") == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"--task": "cancel-one"}, "did you mean cancel-own?"),
        ({"--task": ""}, "--task says what to run. shop has cancel-own"),
        ({"--env": "shpo"}, "did you mean shop?"),
        ({"--protocol": "specagnt"}, "did you mean specagent?"),
        ({"-o": "kk=3"}, "did you mean k?"),
        ({"-o": "k=x"}, "a whole number"),
        ({"-o": "hold=all"}, "writes, writes+replies"),
        ({"--weak": "nobody"}, "no model is named 'nobody'"),
        ({"--label": "x"}, "KEY=VALUE"),
        ({"--seed": "99999999999999999999"}, "'--seed': 99999999999999999999 is beyond"),
        ({"--prompts": "missing.json"}, "cannot be read"),
        ({"--max-cost-usd": "much"}, "expected US dollars, for example 2.50"),
        ({"--max-cost-usd": "-1"}, "expected US dollars"),
        ({"--max-wall-s": "-1"}, "--max-wall-s"),
        ({"--act-timeout-s": "0"}, "--act-timeout-s"),
        ({"--act-timeout-s": "nan"}, "'nan' is not a number of seconds"),
        ({"--max-wall-s": "inf"}, "--max-wall-s"),
        ({"--max-cost-usd": "1e99"}, "expected US dollars"),
        ({"--trials": "99999999999"}, "is not in the range"),
        ({"-o": "verdict=scored"}, "-o verdict=scored reads probabilities, and the strong model scripted:"),
        ({"--db": "no/such/folder/x.db"}, "does not exist"),
    ],
)
def test_bad_input_is_refused_before_anything_is_recorded(line, pair, changes, words, tmp_path):
    given = dict(zip(pair[1::2], pair[2::2], strict=True)) | changes
    result = line("run", *(part for option in given.items() for part in option))

    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr
    assert "begins" not in result.stderr


def test_an_option_without_effect_is_told_on_stderr(line, pair):
    result = line(*pair, "-o", "threshold=0.6")

    assert (result.exit_code, "-o threshold=0.6 has no effect on specagent" in result.stderr) == (0, True)


def test_a_simulated_user_is_asked_for(line, pair):
    given = dict(zip(pair[1::2], pair[2::2], strict=True)) | {"--env": "tau2:mock", "--task": "create_task_1"}
    result = line("run", *(part for option in given.items() for part in option))

    assert (result.exit_code, "--user MODEL" in result.stderr) == (2, True)


def test_a_model_that_the_protocol_needs_is_asked_for(line, pair):
    result = line(*pair[:7])

    assert (result.exit_code, "specagent needs a strong model" in result.stderr) == (2, True)


GRADED = """
from spectrace.environments.functions import FunctionEnvironment
from spectrace.environments.tasks import Task


def fails(answer):
    raise RuntimeError("the grader tripped")


TASKS = [
    Task("raises", "x", grade=fails),
    Task("nan", "x", grade=lambda answer: float("nan")),
    Task("text", "x", grade=lambda answer: "good"),
    Task("fine", "x", grade=lambda answer: True),
    Task("ungraded", "x"),
]


def env():
    return FunctionEnvironment.from_functions("graded", [], "Answer.", tasks=TASKS)
"""


@pytest.fixture
def graded(line, tmp_path, monkeypatch):
    """An environment of the user's own whose graders misbehave, and a model that is done at once."""
    (tmp_path / "graded.py").write_text(GRADED)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "graded", raising=False)
    weak = script(tmp_path / "weak.json", [{"action": {"finish": "done"}}] * 2)
    return ["run", "--env", "graded:env", "--protocol", "weak-only", "--weak", weak]


@pytest.mark.parametrize("task", ["raises", "nan", "text"])
def test_a_grader_that_fails_is_told_and_makes_the_answer_no(line, graded, task):
    (item,) = line.items(*graded, "--task", task, code=1)
    shown = line(*graded, "--task", task)

    assert (shown.exit_code, item["status"], item["reward"]) == (1, "completed", None)
    assert f"not graded: {item['error']}" in shown.stderr


def test_a_grade_that_is_given_is_no_failure(line, graded):
    (item,) = line.items(*graded, "--task", "fine")

    assert (item["reward"], item["error"]) == ("1.0", None)


def test_a_named_run_on_ones_own_environment_goes_on(line, graded):
    line.items(*graded, "--task", "fine", "--name", "n")
    (item,) = line.items(*graded, "--task", "fine", "--name", "n")

    assert item["earlier"] is True


@pytest.mark.parametrize(("task", "stands"), [("raises", False), ("ungraded", True)])
def test_a_cell_whose_grader_failed_is_run_again_and_one_that_has_no_grader_is_not(line, graded, task, stands):
    line(*graded, "--task", task, "--name", "n")
    (item,) = json.loads(line(*graded, "--task", task, "--name", "n", "--json").stdout)["items"]

    assert item["earlier"] is stands


CHANGES = {
    "the instructions": ('"Answer."', '"Be bad."'),
    "tool look (new)": ("[], ", "[look], "),
    "the data desk": ("tasks=TASKS", 'tasks=TASKS, data=[("desk", "sha256:1")]'),
}


@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("task", ["fine,ungraded", "ungraded"])
def test_a_named_run_does_not_go_on_with_another_environment_of_the_same_name(line, graded, monkeypatch, what, task):
    line(*graded, "--task", "fine", "--name", "n")
    look = 'def look() -> str:\n    """Look."""\n    return ""\n'
    Path("graded.py").write_text(GRADED.replace(*CHANGES[what]) + look)
    monkeypatch.delitem(sys.modules, "graded")
    result = line(*graded, "--task", task, "--name", "n")

    assert (result.exit_code, f"of task 'fine': {what}" in result.stderr) == (2, True)
    assert (len(line.items("ls")), line.items("runs", "n")[0]["total"]) == (1, 1)


def test_a_failed_grade_is_no_result_to_going_on_to_runs_and_to_compare(line, graded):
    line(*graded, "--task", "raises,ungraded", "--name", "n")
    (run,) = line.items("runs", "n")

    assert (run["done"], run["failed"], run["state"]) == (1, 1, "stopped")
    assert "lacks 1 of the 2 episodes that were asked for" in line("compare", "n").stderr


def test_a_named_run_does_not_go_on_with_another_task_of_the_same_name(line, graded, tmp_path, monkeypatch):
    line(*graded, "--task", "fine", "--name", "n")
    (tmp_path / "graded.py").write_text(GRADED.replace('Task("fine", "x"', 'Task("fine", "another"'))
    monkeypatch.delitem(sys.modules, "graded")
    result = line(*graded, "--task", "fine", "--name", "n", "--trials", "2")

    assert (result.exit_code, "of task 'fine': the task's request" in result.stderr) == (2, True)
    assert (len(line.items("ls")), line.items("runs", "n")[0]["total"]) == (1, 1)


def test_an_episode_that_fails_says_of_what(line, tmp_path):
    weak = script(tmp_path / "weak.json", [{"error": {"kind": "server", "message": "the server is down"}}])
    options = ["run", "--env", "shop", "--task", "cancel-own", "--protocol", "weak-only", "--weak", weak]
    (item,) = line.items(*options, code=1)

    assert (item["status"], item["error"]) == ("failed", "the server is down")
    assert "failed: the server is down" in line(*options).stderr


BUSY = {"error": {"kind": "server", "message": "the server is down"}}
FINISH = {"action": {"finish": "no"}}
TWO = ["run", "--env", "shop", "--task", "cancel-own,cancel-foreign", "--protocol", "weak-only", "--name", "n"]


def test_several_protocols_run_interleaved_and_record_how_many_at_once(line, tmp_path):
    model = script(tmp_path / "m.json", [FINISH] * 4)
    options = ["--protocol", "weak-only,strong-only", "--protocol", "weak-only", "--concurrency", "2"]
    found = line.items(*TWO[:5], *options, "--weak", model, "--strong", model)
    started = line.items("show", f"{found[0]['episode']}:0")[0]["body"]

    assert [(item["task"], item["protocol"]) for item in found] == [
        ("cancel-own", "weak-only"),
        ("cancel-own", "strong-only"),
        ("cancel-foreign", "weak-only"),
        ("cancel-foreign", "strong-only"),
    ]
    assert started["concurrency"] == 2


def test_the_same_name_goes_on_and_runs_again_only_what_has_no_result(line, tmp_path):
    model = script(tmp_path / "weak.json", [FINISH, BUSY])
    first = line.items(*TWO, "--weak", model, code=1)
    script(tmp_path / "weak.json", [FINISH])
    second = line.items(*TWO, "--weak", model)

    assert [(item["status"], item["earlier"]) for item in first] == [("completed", False), ("failed", False)]
    assert [(item["status"], item["earlier"]) for item in second] == [("completed", True), ("completed", False)]
    assert second[0]["episode"] == first[0]["episode"]
    assert len(line.items("ls", "--run", "n")) == 3  # nothing is deleted


def test_a_run_that_has_every_result_runs_nothing(line, tmp_path):
    model = script(tmp_path / "weak.json", [FINISH] * 2)
    first = line.items(*TWO, "--weak", model)
    result = line(*TWO, "--weak", model)

    assert (result.exit_code, result.stdout.count("completed")) == (0, 2)
    assert "of 2 episodes it has 2" in result.stderr
    assert len(line.items("ls")) == len(first)


def test_a_run_that_recorded_nothing_is_listed_with_what_is_left(line):
    line(*TWO, "--weak", "openai:x@http://127.0.0.1:1")
    (item,) = line.items("runs")

    assert (item["run"], item["total"], item["left"], item["episodes"], item["state"]) == ("n", 2, 2, 0, "stopped")
    assert "Its episodes" not in line("runs", "n").stderr
    for command in (["compare", "n"], ["cost", "--run", "n"], ["ls", "--run", "n"]):
        assert line(*command).exit_code in {0, 2}


def test_what_a_run_left_undone_is_told_by_its_comparison(line, tmp_path):
    model = script(tmp_path / "weak.json", [FINISH, BUSY])
    line.items(*TWO, "--weak", model, code=1)

    assert "weak-only lacks 1 of the 2 episodes that were asked for" in line("compare", "n").stderr


def test_more_trials_of_the_same_run_are_added(line, tmp_path):
    model = script(tmp_path / "weak.json", [FINISH] * 4)
    line.items(*TWO, "--weak", model)

    assert [item["earlier"] for item in line.items(*TWO, "--weak", model, "--trials", "2")] == [
        True,
        True,
        False,
        False,
    ]


def test_another_spec_under_the_same_name_is_refused_with_what_differs(line, tmp_path):
    model, other = (script(tmp_path / f"{name}.json", [FINISH] * 2) for name in ("weak", "other"))
    line.items(*TWO, "--weak", model)
    result = line(*TWO, "--weak", other, "--seed", "4", "-o", "max_steps=9")

    assert result.exit_code == 2
    for words in (
        "run 'n' was begun with another seed None, now 4",
        f"weak model {model}, now {other}",
        "option max_steps of weak-only (60, now 9)",
    ):
        assert words in result.stderr


def test_twenty_failures_in_a_row_stop_the_run_and_say_what_is_left(line, tmp_path):
    (tmp_path / "weak.json").write_text(json.dumps({"replies": [BUSY], "repeat": True}))
    options = ["--env", "shop", "--task", "all", "--trials", "2", "--protocol", "weak-only"]
    result = line("run", *options, "--weak", f"scripted:{tmp_path / 'weak.json'}", "--name", "n")

    assert (result.exit_code, result.stdout.count("failed")) == (1, 20)
    assert "Stopped: the weak model failed 20 times in a row: the server is down" in result.stderr
    assert "Left undone: 4 episodes: refund-returned #1 (weak-only), " in result.stderr
    assert "The same command with --name 'n' goes on where it stopped." in result.stderr


PRICED = """
[models.weak]
provider = "scripted"
name = "weak.json"

[prices."scripted:weak"]
input = 1
output = 100
since = "2026-01-01"
"""
COUNTED = {"action": {"tool": "nope", "arguments": {}}, "usage": {"input": 100, "cached": 0, "output": 9}}


@pytest.fixture
def priced(line, tmp_path):
    """A run of two tasks whose model loops, at a tenth of a cent a call."""
    (tmp_path / "spectrace.toml").write_text(PRICED)
    (tmp_path / "weak.json").write_text(json.dumps({"replies": [COUNTED], "repeat": True}))
    return TWO


def test_a_runs_money_stops_it_and_what_was_cut_is_run_again(line, priced):
    (cut,) = line.items(*priced, "--max-cost-usd", "0.003", code=1)
    said = line(*priced, "--max-cost-usd", "0.003")
    more = line.items(*priced, "--max-cost-usd", "1", "-o", "max_steps=60")

    assert (cut["status"], cut["end_reason"]) == ("truncated", "run_max_cost_usd")
    assert (said.exit_code, "Nothing was run." in said.stdout) == (1, True)
    assert "Stopped: the run has cost what --max-cost-usd allows" in said.stderr
    assert [(item["end_reason"], item["earlier"]) for item in more] == [("max_steps", False)] * 2


@pytest.fixture
def served():
    """A server of one model that reads 1000 tokens a call and writes 1."""
    reply = {"choices": [{"message": {"role": "assistant", "content": '{"finish": "no"}'}, "finish_reason": "stop"}]}
    with model_server() as server:
        server.on("/v1/models", {"data": [{"id": "x"}]})
        yield server.chat(reply | {"usage": {"prompt_tokens": 1000, "completion_tokens": 1}})


def test_a_limit_of_money_without_a_price_is_refused_and_says_how_to_give_one(line, served, tmp_path):
    asked = [*TWO, "--weak", f"openai:x@{served.url}", "--max-cost-usd", "1"]
    refused = line(*asked)
    (tmp_path / "spectrace.toml").write_text(refused.stderr.partition("tokens:")[2])

    assert refused.exit_code == 2
    assert "max_cost_usd needs a price for the weak model openai:x, and none is known" in refused.stderr
    assert line.items("ls") == []
    assert [item["status"] for item in line.items(*asked)] == ["completed"] * 2  # what it says can be pasted


def test_a_limit_of_tokens_that_nobody_can_keep_stops_the_run_at_once_and_says_what_to_do(line, pair):
    result = line(*pair, "-o", "max_tokens=1000", "--trials", "3", "--name", "n")

    assert (result.exit_code, len(line.items("ls"))) == (1, 1)
    assert "Drop -o max_tokens, or use a model" in result.stderr
    assert "goes on where it stopped" not in result.stderr
