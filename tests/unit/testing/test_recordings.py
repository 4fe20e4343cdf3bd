"""A test's recording without pytest; with it: test_plugin.py."""

import pytest
from episodes import STRONG, WEAK

from spectrace import ScriptedModel, SpecAgent
from spectrace.environments.environment import Environment
from spectrace.environments.shop import open_shop
from spectrace.runs.live import Labels
from spectrace.store.bundle import pack
from spectrace.store.sql import open_store
from spectrace.testing.recordings import CALL, TEST, Mismatch, Recording, Replaying, Runs


def recording(tmp_path, path=None):
    return Recording(path or tmp_path / "there" / "test.zip", "test_x.py::test", tmp_path / "log.db")


def cancel(source, env="shop", **how):
    return Runs(source)("cancel-own", env, ScriptedModel(WEAK), ScriptedModel(STRONG), **how)


@pytest.fixture
def recorded(tmp_path):
    """The path of a recording with one run."""
    source = recording(tmp_path)
    cancel(source, labels=Labels(labels=(("team", "desk"),)))
    source.end(passed=True)
    return source.path


def test_a_run_is_the_same_live_and_replayed(tmp_path):
    source = recording(tmp_path)
    live = cancel(source)
    source.end(passed=True)
    again = Replaying(source.path, "test_x.py::test")
    replayed = cancel(again)
    again.end(passed=True)

    assert (live.replayed, replayed.replayed) == (False, True)
    assert (live.outcome, live.totals, live.acts) == (replayed.outcome, replayed.totals, replayed.acts)


def test_a_recording_says_of_which_test_and_run_it_is_beside_the_labels_of_the_test(recorded):
    run = cancel(Replaying(recorded, "test_x.py::test"))

    assert dict(run.events[0].body.labels) == {"team": "desk", TEST: "test_x.py::test", CALL: "1"}


class Dead:
    """An environment that says what it is and can do nothing."""

    def __init__(self):
        self.shop = open_shop()

    def __getattr__(self, name):
        if name not in {"tasks", "tools", "instructions"}:
            raise AssertionError(f"a replay asked for {name}")
        return getattr(self.shop, name)


def test_a_replay_asks_an_environment_for_its_tasks_tools_and_instructions_alone(recorded):
    environment: Environment = Dead()

    assert cancel(Replaying(recorded, "test_x.py::test"), environment).outcome.reward == "1.0"


def test_models_that_are_named_are_not_opened(recorded):
    with pytest.raises(Mismatch, match="Its weak model was scripted:scripted, now it is openai:none@http"):
        Runs(Replaying(recorded, "test_x.py::test"))("cancel-own", "shop", "openai:none@http://127.0.0.1:9", "no such")
    named = Runs(Replaying(recorded, "test_x.py::test"))("cancel-own", "shop", "scripted:scripted", "scripted:scripted")

    assert named.outcome.reward == "1.0"


def test_an_instance_may_run_again_and_again(tmp_path):
    source, environment = recording(tmp_path), open_shop()

    assert [cancel(source, environment).outcome.reward for _ in range(2)] == ["1.0", "1.0"]


def test_a_task_that_is_not_there_is_named(recorded):
    with pytest.raises(Mismatch, match="no task is named 'no-such'; there are "):
        Runs(Replaying(recorded, "test_x.py::test"))("no-such", "shop")


def test_nothing_is_recorded_of_a_test_that_ran_no_agent_or_failed(tmp_path):
    idle, failed = recording(tmp_path), recording(tmp_path)
    idle.end(passed=True)
    cancel(failed)
    failed.end(passed=False)

    assert not idle.path.exists()
    assert (idle.kept, failed.kept) == (False, False)


def test_a_replay_of_a_test_that_failed_asks_for_no_more(recorded):
    Replaying(recorded, "test_x.py::test").end(passed=False)
    with pytest.raises(Mismatch, match="holds 1 runs, and the test asked for 0"):
        Replaying(recorded, "test_x.py::test").end(passed=True)


def test_a_recording_that_lacks_a_run_is_refused(tmp_path):
    source = recording(tmp_path)
    for _ in range(2):
        cancel(source)
    store = open_store(str(source.database), read_only=True)
    pack(store, source.episodes[1:], tmp_path / "half.zip")
    store.close()

    with pytest.raises(Mismatch, match="lacks some of the test's runs"):
        cancel(Replaying(tmp_path / "half.zip", "test_x.py::test"))


def test_a_directory_in_its_place_is_refused(tmp_path):
    (tmp_path / "test.zip").mkdir()

    with pytest.raises(Mismatch, match="cannot be read"):
        cancel(Replaying(tmp_path / "test.zip", "test_x.py::test"))
    with pytest.raises(Mismatch, match="is no recording: remove it"):
        cancel(recording(tmp_path, tmp_path / "test.zip"))


def test_what_would_not_replay_is_not_recorded(tmp_path):
    class Mine(SpecAgent):
        NAME = "mine"

    with pytest.raises(Mismatch, match="does not replay the same"):
        cancel(recording(tmp_path), protocol=Mine())


def test_a_script_is_known_by_its_file_though_it_names_itself(tmp_path):
    source, files = recording(tmp_path), ("weak.json", "strong.json")
    clients = [
        ScriptedModel(replies, name="mine", source={"script": file})
        for replies, file in zip((WEAK, STRONG), files, strict=True)
    ]
    Runs(source)("cancel-own", "shop", *clients)
    source.end(passed=True)
    models = [f"scripted:elsewhere/{file}" for file in files]

    assert Runs(Replaying(source.path, "test_x.py::test"))("cancel-own", "shop", *models).outcome.reward == "1.0"
    with pytest.raises(Mismatch, match=r"Its weak model was scripted:mine, now it is scripted:other\.json"):
        Runs(Replaying(source.path, "test_x.py::test"))("cancel-own", "shop", "scripted:other.json", models[1])
