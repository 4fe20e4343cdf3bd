"""`replay --check` says what has changed, by its exit code too, and runs nothing."""

from dataclasses import replace

import pytest

from spectrace.environments.functions import FunctionEnvironment
from spectrace.store.sql import open_store
from tests.shop_log import recorded

OWN = """
from dataclasses import replace
from pathlib import Path
from spectrace.environments.shop import open_shop

def env():
    desk = open_shop()
    tools = desk.tools()
    desk.tools = lambda: (replace(tools[0], name="seek"), *tools[1:])
    def run(*_, **__):
        Path("ran").touch()
        raise AssertionError("something was run")
    desk.prepare = desk.reset = desk.act = desk.evaluate = run
    return desk
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "renamed_desk.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    return "renamed_desk:env"


def test_an_episode_of_today_is_the_same(line, episode):
    (item,) = line.items("replay", episode, "--check")

    assert (item["episode"], item["result"], item["findings"]) == (episode, "same", [])
    assert (item["compared"], item["first_difference"], item["detail"]) == (0, None, "nothing has changed")


def test_a_renamed_tool_is_named_with_its_schemas_and_nothing_is_run(line, episode, own, tmp_path):
    (item,) = line.items("replay", episode, "--check", "--env", own, code=125)
    shown = line("replay", episode, "--check", "--env", own)
    (found,) = item["findings"]

    assert item["result"] == "untestable"
    assert (found["kind"], found["found"], found["changed"]) == ("tool_renamed", "seek", True)
    assert found["recorded_digest"] == found["found_digest"]
    assert (shown.exit_code, "tool_renamed" in shown.stdout, found["found_digest"] in shown.stdout) == (125, True, True)
    assert not (tmp_path / "ran").exists()


def test_frozen_takes_the_recorded_tools_as_they_were(line, episode, own, tmp_path):
    (item,) = line.items("replay", episode, "--check", "--frozen", "--env", own)

    assert (item["result"], [found["changed"] for found in item["findings"]]) == ("same", [False])
    assert not (tmp_path / "ran").exists()


def test_another_option_is_a_change(line, episode):
    (item,) = line.items("replay", episode, "--check", "-o", "k=2", code=1)

    assert [(found["field"], found["recorded"], found["found"]) for found in item["findings"]] == [
        ("/options/k", "6", "2")
    ]


def test_an_environment_that_is_not_ours_is_not_opened_by_a_recorded_name(line, tmp_path, monkeypatch):
    (tmp_path / "trap.py").write_text("from pathlib import Path\nPath('imported').touch()\n")
    original = FunctionEnvironment.prepare
    store = open_store("spectrace.db")
    with monkeypatch.context() as patched:
        patched.setattr(FunctionEnvironment, "prepare", lambda self, task: named(original(self, task)))
        episode = recorded(store)
    store.close()
    (item,) = line.items("replay", episode, "--check")

    assert (item["result"], (tmp_path / "imported").exists()) == ("same", False)
    assert "trap:env is none of ours" in item["detail"]


def named(facts):
    return replace(facts, name="trap:env")


def test_a_record_that_cannot_be_replayed_here_is_untestable(line, episode):
    (item,) = line.items("replay", episode, "--check", "-o", "guesses=2", code=125)

    assert (item["result"], item["findings"]) == ("untestable", [])


def test_several_episodes_have_a_line_of_totals_and_each_finding_once(line, episode):
    store = open_store("spectrace.db")
    recorded(store)
    store.close()

    assert "2 episodes looked at, nothing run: 2 same." in line("replay", "--all", "--check").stdout
    changed = line("replay", "--all", "--check", "-o", "k=2").stdout
    assert (changed.count("/options/k"), " and 1 more  options" in changed) == (1, True)
