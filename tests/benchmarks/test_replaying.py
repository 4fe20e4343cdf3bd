"""What the replay benchmark puts side by side is the same work: as many questions, the same answers."""

import ast
import json

import pytest

from spectrace.core import prompts
from spectrace.store.sql import open_store
from tests.benchmarks import replaying

SOURCE = [("episode_started", {}), *(("tool_observation", {"value": f"v{number}"}) for number in range(7))]


@pytest.fixture
def log(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    names = replaying.corpus(store, [SOURCE])
    events = list(store.read(names[0]))
    store.close()
    return tmp_path / "log.db", names, events


def test_the_questions_are_the_model_calls_and_the_acts_with_their_answers(log):
    _, _, events = log
    asked = replaying.questions(events)

    assert len(asked) == sum(event.type in {"generate.requested", "act.requested"} for event in events)
    assert [answer for uri, _, answer in asked if uri == "/tools/step"] == [
        json.dumps({"value": f"v{number}"}) for number in range(7)
    ]
    prompts = [json.loads(body)["messages"] for uri, body, _ in asked if uri == "/v1/chat/completions"]
    assert all(replaying.INSTRUCTIONS in prompt[0]["content"] for prompt in prompts)
    assert [len(prompt) for prompt in prompts] == sorted(len(prompt) for prompt in prompts)


def test_without_what_they_ask_the_answers_are_the_same(log):
    asked = replaying.questions(log[2])
    bare = replaying.bare(asked, 3)

    assert [answer for _, _, answer in bare] == [answer for _, _, answer in asked]
    assert len({uri for uri, _, _ in bare}) == len(bare)


def test_every_case_of_ours_does_all_of_it(log):
    path, names, _ = log
    cases = (replaying.replay, replaying.fetch, replaying.fetch_json)

    assert [case(path, names, 17)()["n"] for case in cases] == [17, 17, 17]


def test_the_command_replays_every_episode(tmp_path):
    replaying.shop(tmp_path / "shop.db", 2)
    found = replaying.command_line(tmp_path / "shop.db")()

    assert (found["n"], found["events"]) == (2, 90)


def test_a_replay_that_is_not_the_same_is_no_figure(log, monkeypatch):
    monkeypatch.setattr(prompts, "shown", lambda _, text: text.upper())

    with pytest.raises(ValueError, match="/messages/"):
        replaying.replay(log[0], log[1], 1)()


def test_the_peers_script_imports_nothing_of_ours():
    tree = ast.parse(replaying.Path(replaying.VCR.script).read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}

    assert "vcr" in imported
    assert not [name for name in imported if name.split(".")[0] in {"spectrace", "tests"}]
