"""The five protocols run four tasks of the shop each, and every episode replays: the scripted version of the table."""

import asyncio
import json

import pytest
from click.testing import CliRunner

from spectrace.audit.rules import violations
from spectrace.cli import main
from spectrace.core.deeds import deeds
from spectrace.core.events import ActRequested, ControlPassed, SpeculationMatched
from spectrace.core.fold import fold
from spectrace.runs.replay import replay_episode
from spectrace.store.memory import MemoryEventStore
from tests.protocol_table import OPTIONS, PROTOCOLS, REWARDS, TASKS, record_table, script_files


@pytest.fixture(scope="module")
def table():
    store = MemoryEventStore()
    recorded = asyncio.run(record_table(store))
    return recorded, {cell: list(store.read(one.episode)) for cell, one in recorded.items()}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_each_protocol_makes_of_the_tasks_what_its_review_allows(table, protocol):
    recorded, _ = table

    assert tuple(recorded[protocol, task].outcome.reward for task in TASKS) == REWARDS[protocol]


def test_every_episode_of_the_table_replays(table):
    _, events = table
    replayed = {cell: asyncio.run(replay_episode(log)).result for cell, log in events.items()}

    assert replayed == dict.fromkeys(events, "same")


def test_no_protocol_breaks_a_rule_of_the_audit(table):
    _, events = table

    assert [found for log in events.values() for found in violations(log)] == []


def test_every_act_of_the_table_is_one_deed_and_every_step_that_stands_is_in_the_history(table):
    for log in table[1].values():
        episode = fold(log)
        asked = [event.seq for event in log if isinstance(event.body, ActRequested)]
        stands = [step for segment in episode.segments for step in segment.steps if step.fate == "committed"]
        repaired = [step for segment in episode.segments if segment.repair for step in segment.repair.steps]

        assert sorted(deed.seq for deed in deeds(log) if deed.requested_at is not None) == asked
        assert len(episode.history.steps) == len(stands) + len(repaired)


def test_the_table_has_guesses_that_match_and_control_that_passes(table):
    _, events = table
    bodies = [event.body for log in events.values() for event in log]

    assert sum(isinstance(body, SpeculationMatched) for body in bodies) >= 3
    assert {body.reason for body in bodies if isinstance(body, ControlPassed)} == {"planned", "stagnation"}


def test_specagent_asks_the_strong_model_less_than_strong_only_and_speculation_does_not(table):
    recorded, _ = table

    def strong_calls(protocol):
        return sum(recorded[protocol, task].totals.strong_calls for task in TASKS)

    assert strong_calls("speculative-actions") == strong_calls("strong-only")
    assert strong_calls("weak-only") == 0 < strong_calls("specagent")


@pytest.mark.parametrize("protocol", ["speculative-actions", "agentcollab"])
def test_a_protocol_runs_from_the_command_line_and_its_episodes_replay_there(protocol, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def items(*arguments):
        result = CliRunner().invoke(main, [*arguments, "--db", "log.db", "--json"], prog_name="spectrace")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)["items"]

    weak, strong = script_files(tmp_path, protocol)
    options = [part for option in OPTIONS[protocol] for part in ("-o", option)]
    asked = ("--env", "shop", "--task", ",".join(TASKS), "--protocol", protocol, "--weak", weak, "--strong", strong)
    rewards = {item["task"]: item["reward"] for item in items("run", *asked, *options)}

    assert tuple(rewards[task] for task in TASKS) == REWARDS[protocol]
    assert [item["result"] for item in items("replay", "--all")] == ["same"] * 4
    assert {item["result"] for item in items("verify", "--all")} == {"consistent"}
