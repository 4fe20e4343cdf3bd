import json
import sqlite3

import pytest

from spectrace.environments.functions import FunctionEnvironment
from spectrace.store.sql import open_store
from tests.shop_log import recorded, script

CONTRACT = "episode result compared first_difference"


def test_a_replay_from_the_record_is_the_same(line, episode):
    (item,) = line.items("replay", episode)

    assert set(CONTRACT.split()) <= set(item)
    assert (item["result"], item["compared"], item["first_difference"]) == ("same", 45, None)


def test_tools_live_executes_again_on_a_fresh_order_desk(line, episode):
    (item,) = line.items("replay", episode, "--tools", "live")

    assert (item["result"], item["observations"]) == ("same", 4)


@pytest.fixture
def other_prompts(tmp_path):
    path = tmp_path / "prompts.json"
    path.write_text(json.dumps({"review": "Judge $steps"}))
    return path


def test_other_prompts_diverge_at_the_first_review_and_both_sides_are_shown(line, episode, other_prompts):
    (item,) = line.items("replay", episode, "--prompts", other_prompts, code=1)
    shown = line("replay", episode, "--prompts", other_prompts)

    assert (item["result"], item["first_difference"]["seq"]) == ("diverged", 8)
    assert shown.exit_code == 1
    assert [words for words in (f"{episode}:8", "  recorded  ", "  now       ") if words not in shown.stdout] == []
    assert "  same up to 7 of 45 events" in shown.stdout


def test_a_difference_is_an_object_with_both_sides_its_cause_and_what_comes_nearest(line, episode, other_prompts):
    (item,) = line.items("replay", episode, "--prompts", other_prompts, code=1)
    first = item["first_difference"]

    assert set(first) == {"seq", "field", "recorded", "found", "cause", "nearest"}
    assert first["field"].startswith("/messages/")
    assert first["cause"].startswith("Changed here: /prompts/review (recorded ")
    assert {tuple(near) for near in first["nearest"]} == {("seq", "name", "differs")}


def test_another_option_diverges_and_is_named(line, episode):
    (item,) = line.items("replay", episode, "-o", "unreviewed=revisable", "-o", "k=1", code=1)

    assert "/options/k (recorded 6, now 1)" in item["first_difference"]["cause"]


@pytest.mark.parametrize("given", ["k", "kk=2"])
def test_an_option_that_no_protocol_has_is_refused(line, episode, given):
    assert line("replay", episode, "-o", given).exit_code == 2


def test_an_option_that_its_protocol_has_not_cannot_be_tested(line, episode):
    (item,) = line.items("replay", episode, "-o", "guesses=2", code=125)

    assert "has no option 'guesses'" in item["detail"]


def test_several_episodes_have_a_line_of_totals(line, episode):
    store = open_store("spectrace.db")
    recorded(store)
    store.close()
    shown = line("replay", "--all")

    assert "2 episodes: 2 same. 90 of 90 events are the same, 8 observations." in shown.stdout


def test_the_shipped_prompts_can_be_asked_for(line, episode):
    assert line("replay", episode, "--prompts", "current").exit_code == 0


def test_an_altered_observation_diverges_where_tools_are_live(line, episode):
    connection = sqlite3.connect("spectrace.db")
    connection.execute("DROP TRIGGER events_no_update")
    found = "SELECT codec, payload FROM events WHERE (key & 1048575) = "
    codec, payload = connection.execute(found + "15").fetchone()
    connection.execute("UPDATE events SET codec = ?, payload = ? WHERE (key & 1048575) = 20", (codec, payload))
    connection.commit()
    connection.close()
    (item,) = line.items("replay", episode, "--tools", "live", code=1)

    assert item["result"] == "diverged"


@pytest.fixture
def foreign(line, tmp_path, monkeypatch):
    """An episode on an environment named like a module that would leave a trace if it were imported."""
    (tmp_path / "trap.py").write_text(
        "from pathlib import Path\nPath('imported').touch()\nfrom spectrace.environments.shop import open_shop as env\n"
    )
    original = FunctionEnvironment.prepare

    def prepare(self, task):
        from dataclasses import replace

        return replace(original(self, task), name="trap:env")

    store = open_store("spectrace.db")
    with monkeypatch.context() as patched:
        patched.setattr(FunctionEnvironment, "prepare", prepare)
        episode = recorded(store)
    store.close()
    return episode


def test_a_module_that_a_recording_names_is_not_imported(line, foreign, tmp_path):
    (item,) = line.items("replay", foreign, "--tools", "live", code=125)

    assert (item["result"], (tmp_path / "imported").exists()) == ("untestable", False)
    assert "--env MODULE:ATTRIBUTE" in item["detail"]


def test_an_environment_of_another_name_cannot_test_it(line, foreign):
    (item,) = line.items("replay", foreign, "--tools", "live", "--env", "shop", code=125)

    assert "recorded on trap:env" in item["detail"]


def test_an_environment_is_for_live_tools_and_the_check_only(line, episode):
    assert line("replay", episode, "--env", "shop").exit_code == 2
    assert line("replay", episode, "--check", "--tools", "live").exit_code == 2


JOBS = """
import itertools, pathlib
from spectrace.environments.functions import FunctionEnvironment, Task, tool

def desk():
    made_up = pathlib.Path("id").read_text()

    @tool(effect="write")
    def schedule(at: str) -> str:
        "Schedule a job."
        return f"Scheduled {made_up} for {at}"

    return FunctionEnvironment.from_functions(
        "jobs", [schedule], "Schedule.", reset=lambda: None, tasks=[Task("job", "Schedule it.")], restore="reset"
    )
"""


@pytest.fixture
def scheduled(line, tmp_path, monkeypatch):
    """An episode on a desk that makes up another id today."""
    (tmp_path / "jobs_desk.py").write_text(JOBS)
    (tmp_path / "id").write_text("f4af")
    monkeypatch.syspath_prepend(tmp_path)
    call = {"action": {"tool": "schedule", "arguments": {"at": "02:00"}}}
    weak = script(tmp_path / "w.json", [call, {"action": {"finish": "f4af"}}])
    strong = script(tmp_path / "s.json", [{"verdict": "accept"}] * 2)
    (item,) = line.items("run", "--env", "jobs_desk:desk", "--task", "job", "--weak", weak, "--strong", strong)
    (tmp_path / "id").write_text("91c0")
    return item["episode"]


def test_what_a_fresh_environment_answers_otherwise_passes_only_as_far_as_is_said(line, scheduled):
    live = ("replay", scheduled, "--tools", "live", "--env", "jobs_desk:desk")
    (strict,) = line.items(*live, code=1)
    (renamed,) = line.items(*live, "--accept", "id-renamed")
    (named,) = line.items(*live, "--volatile", "schedule:")
    shown = line(*live, "--lenient").stdout

    assert "--accept id-renamed lets that pass" in strict["first_difference"]["cause"]
    assert [renamed["inexact"][0]["notes"], named["inexact"][0]["class"]] == [["f4af is 91c0"], "volatile"]
    assert ("id-renamed  f4af is 91c0" in shown, ", 1 id-renamed, " in shown) == (True, True)


def test_a_record_that_cannot_be_read_is_untestable(line, episode):
    connection = sqlite3.connect("spectrace.db")
    connection.execute("DELETE FROM blobs")
    connection.commit()
    connection.close()
    (item,) = line.items("replay", episode, code=125)

    assert "missing from the database" in item["detail"]
