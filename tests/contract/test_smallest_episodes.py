"""H27: an episode with no step, with unreviewed reads alone, with a write first, through everything that reads one."""

import json

import pytest

from spectrace.store.sql import open_store
from tests.command_line import in_a_directory
from tests.smallest import BEGUN, SCRIPTS, record_smallest

NAMES = (*SCRIPTS, BEGUN)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """A log with each of them, and their ids."""
    path = tmp_path_factory.mktemp("smallest") / "spectrace.db"
    store = open_store(str(path))
    made = record_smallest(store)
    store.close()
    return path, made


@pytest.fixture
def line(monkeypatch, tmp_path, log):
    line = in_a_directory(monkeypatch, tmp_path)
    monkeypatch.setenv("SPECTRACE_DB", str(log[0]))
    return line


def asked(line, *arguments, code=0):
    """Ask twice, for people and as a document; return the items."""
    told = line(*arguments)
    assert "inside spectrace" not in told.stderr, told.stderr
    assert told.exit_code == code, told.output
    return line.items(*arguments, code=code)


def test_they_are_listed_with_what_they_come_to(line, log):
    found = {
        one["episode"]: (one["status"], one["end_reason"], one["steps"], one["writes"]) for one in asked(line, "ls")
    }

    assert {name: found[episode] for name, episode in log[1].items()} == {
        "no step": ("failed", "model_weak_unreachable", 0, 0),
        "unread drafts": ("failed", "no_repair", 0, 0),
        "only unreviewed reads": ("truncated", "max_steps", 4, 0),
        "a write first": ("completed", "finished", 2, 1),
        BEGUN: ("interrupted", None, 0, 0),
    }


@pytest.mark.parametrize("name", NAMES)
def test_each_is_shown_event_by_event(line, log, name):
    items = asked(line, "show", log[1][name])

    assert [one["seq"] for one in items] == list(range(len(items)))
    assert items[0]["type"] == "episode.started"


@pytest.mark.parametrize("name", NAMES)
def test_none_of_them_was_rejected_so_why_has_nothing_to_explain(line, log, name):
    assert asked(line, "why", log[1][name]) == []


def test_the_ledger_holds_the_write_and_the_answer_and_nothing_else(line, log):
    items = asked(line, "audit", "actions")

    assert {one["episode"] for one in items} == {log[1]["a write first"]}
    assert [(one["tool"], one["outcome"]) for one in items] == [("change", "ok"), (None, "ok")]


def test_no_rule_is_broken_and_the_log_is_intact(line, log):
    assert asked(line, "audit", "violations") == []
    assert {one["result"] for one in asked(line, "verify", *log[1].values())} == {"consistent"}


@pytest.mark.parametrize("name", NAMES)
def test_each_replays_as_far_as_it_goes(line, log, name):
    (item,) = asked(line, "replay", log[1][name])

    assert (item["result"], item["first_difference"]) == ("same", None)


@pytest.mark.parametrize("name", NAMES)
def test_each_goes_into_a_bundle_and_out_of_it_again(line, log, name, tmp_path, monkeypatch):
    episode = log[1][name]
    assert line("pack", episode, "-o", "one.zip").exit_code == 0
    monkeypatch.setenv("SPECTRACE_DB", "other.db")
    assert line("unpack", "one.zip").exit_code == 0
    there = line.items("show", episode)

    monkeypatch.setenv("SPECTRACE_DB", str(log[0]))
    assert there == line.items("show", episode)
    assert {one["result"] for one in line.items("verify", "one.zip")} == {"consistent"}


@pytest.mark.parametrize("format_", ["openai", "jsonl"])
@pytest.mark.parametrize("name", NAMES)
def test_each_can_be_exported(line, log, name, format_):
    result = line("export", format_, log[1][name], "-o", "out")

    assert (result.exit_code, "inside spectrace" in result.stderr) == (0, False), result.output


@pytest.mark.parametrize("name", ["no step", "only unreviewed reads", BEGUN])
def test_a_re_verification_of_what_was_never_reviewed_has_nothing_to_judge(line, log, tmp_path, name):
    (tmp_path / "judge.json").write_text(json.dumps({"replies": [{"content": "{}"}]}))
    result = line("reverify", log[1][name], "--verifier", "scripted:judge.json", "--name", f"again: {name}")

    assert (result.exit_code, "No review was there to judge again." in result.output) == (0, True), result.output
