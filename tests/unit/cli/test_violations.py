import asyncio
import json

import pytest

from spectrace.core.speculative_actions import SpeculativeActions
from spectrace.core.types import Finish
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live import Labels, record
from spectrace.store.sql import open_store
from tests.damage import damage
from tests.desk import at, open_desk


@pytest.fixture
def guessed(episode) -> str:
    """An episode in which the weak model guessed a read that changed something, beside the one that breaks no rule."""
    environment = open_desk([])
    clients = {"weak": ScriptedModel([at("peek")] * 3), "strong": ScriptedModel([at("look"), at("look"), Finish("x")])}
    store = open_store("spectrace.db")
    task, labels = environment.tasks()[0], Labels(run="guesses")
    recorded = asyncio.run(record(task, environment, clients, SpeculativeActions(), store, labels=labels))
    store.close()
    return recorded.episode


def test_items_have_the_fields_that_others_rely_on(line, guessed):
    (item,) = line.items("audit", "violations", "--no-warnings", code=1)

    assert sorted(item) == ["detail", "episode", "rule", "seq", "severity"]
    assert (item["episode"], item["rule"], item["severity"]) == (guessed, "speculative_write", "violation")
    assert item["detail"] == "peek at s1.g1 was declared a read, changed the state and ran on the authority speculative"
    assert line.items("show", f"{guessed}:{item['seq']}")[0]["type"] == "act.requested"


def test_people_are_told_the_event_and_the_exit_code_says_that_there_is_one(line, guessed):
    result = line("audit", "violations", guessed)

    assert result.exit_code == 1
    assert f"{guessed}:" in result.stdout
    assert "ran on the authority speculative" in result.stdout


def test_filters_choose_the_episodes(line, guessed):
    assert line.items("audit", "violations", "--run", "first") == []
    assert len(line.items("audit", "violations", "--run", "guesses", "--no-warnings", code=1)) == 1


def test_where_no_rule_is_broken_that_is_said(line, episode):
    result = line("audit", "violations")

    assert (result.exit_code, result.stdout) == (0, "No rule is broken (1 episode looked at).\n")


def test_what_cannot_be_read_is_not_called_well(line, episode):
    damage("spectrace.db", "UPDATE events SET payload = NULL, salt = NULL WHERE (key & 1048575) = 10")
    result = line("audit", "violations", episode)

    assert (result.exit_code, "No rule is broken" in result.stdout) == (3, False)
    assert "event 10" in result.stderr


TALK = [
    {"role": "user", "content": "cancel W1"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "x", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "a", "content": "cancelled"},
    {"role": "assistant", "content": "Done."},
]


@pytest.fixture
def imported(line, tmp_path):
    """A recording that does not say on whose authority anything ran."""
    (tmp_path / "talk.json").write_text(json.dumps(TALK))
    line("import", "openai", "talk.json", "--name", "talk")


def test_where_no_rule_could_be_applied_to_anything_the_answer_is_unknown(line, imported):
    result = line("audit", "violations")

    assert (result.exit_code, result.stdout) == (3, "Nothing could be judged (1 episode looked at).\n")
    assert "No rule could be applied to 2 of 2 actions that change something or speak to somebody" in result.stderr
    assert line.items("audit", "violations", code=3) == []


def test_what_could_not_be_judged_beside_what_could_is_counted(line, episode, imported):
    result = line("audit", "violations")

    assert (result.exit_code, "No rule is broken (2 episodes looked at)" in result.stdout) == (0, True)
    assert "No rule could be applied to 2 of " in result.stderr


def test_episodes_and_filters_together_are_refused(line, episode):
    assert line("audit", "violations", episode, "--all").exit_code == 2
