"""The plugin in real runs of pytest: what it records, what it replays, and all that it refuses."""

import importlib
import textwrap
from importlib.metadata import entry_points

import pytest

import spectrace
from spectrace import testing
from spectrace.core import prompts
from spectrace.store.bundle_reader import is_zip
from spectrace.testing import plugin

pytest_plugins = ["pytester"]

for _name in (*spectrace.__all__, *testing.__all__):
    getattr(testing if _name in testing.__all__ else spectrace, _name)
for _name in ("environments.shop", "testing.recordings"):
    importlib.import_module(f"spectrace.{_name}")
# What is imported inside a run is forgotten after it, and imported anew by the next: classes would not be the same.

INSTALLED = any(one.value == "spectrace.testing.plugin" for one in entry_points(group="pytest11"))
NAMED = () if INSTALLED else ("-p", "spectrace.testing.plugin")
"""pytest loads it by its entry point where this checkout is installed as it stands."""

AGENT = """
    import json
    import pytest
    from spectrace import SpecAgent, Prompts
    from spectrace.testing import ScriptedModel, accept, call, finish, reject

    FIND = call("find_customer", name_or_email="Ana Silva")
    READ, CANCEL = call("get_order", order_id="W200"), call("cancel_order", order_id="W200")

    class Live(ScriptedModel):
        async def generate(self, request):
            with open(LOG, "a") as log:
                log.write("called\\n")
            return await super().generate(request)

    def agent(spectrace_replay, protocol=None, task="cancel-own", env="shop", **how):
        weak = Live(CANCEL, READ, CANCEL, finish("W200 is cancelled."))
        strong = Live(reject(1, FIND), accept(), accept())
        return spectrace_replay(task, env, weak, strong, protocol or SpecAgent(), **how)
"""
CANCELS = """
    def test_it_cancels(spectrace_replay):
        run = agent(spectrace_replay)
        assert run.outcome.reward == "1.0"
        assert [action for action, _ in run.acts] == [FIND, READ, CANCEL, finish("W200 is cancelled.")]
        assert len(run.told("verdict.given")) == 3
"""
PLACE = "recordings/test_desk/test_it_cancels.zip"
RECORDED = {}


@pytest.fixture
def desk(pytester):
    """A folder with tests of an agent, and pytest to run there."""
    return Desk(pytester)


class Desk:
    def __init__(self, pytester):
        self.pytester, self.path = pytester, pytester.path
        self.log = self.path / "live.log"

    def tests(self, *texts, name="test_desk"):
        whole = "\n".join(textwrap.dedent(text) for text in (f"LOG = {str(self.log)!r}", AGENT, *texts))
        self.pytester.makepyfile(**{name: whole})

    def run(self, *options, passed=0, failed=0, errors=0):
        """Run pytest; insist on the numbers; return what it printed."""
        result = self.pytester.runpytest_inprocess(*NAMED, "-W", "error", "--strict-markers", *options)
        found = {name: count for name, count in result.parseoutcomes().items() if name != "warnings"}
        wanted = {"passed": passed, "failed": failed, "errors": errors}
        assert found == {name: count for name, count in wanted.items() if count}, result.stdout.str()
        return result.stdout.str()

    def recorded(self, *texts):
        """Record the test, once for all of the same text, and forget that models were called."""
        self.tests(*(texts or (CANCELS,)))
        place = self.path / PLACE
        if texts not in RECORDED:
            self.run("--spectrace-record", passed=1)
            self.log.unlink()
            RECORDED[texts] = place.read_bytes()
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(RECORDED[texts])
        return place

    @property
    def live(self):
        """How many calls of models there were."""
        return self.log.read_text().count("called") if self.log.exists() else 0


def test_a_test_is_recorded_on_request_and_replayed_ever_after(desk):
    desk.tests(CANCELS)
    said = desk.run("--spectrace-record", passed=1)
    live, recording = desk.live, desk.path / PLACE
    before = recording.read_bytes()
    desk.run(passed=1)

    assert f"test_desk.py::test_it_cancels: recorded {recording}" in said
    assert (live, desk.live) == (7, 7)
    assert recording.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "there is no recording"),
        (b"", "is empty: 0 bytes"),
        (b"\xff\xfe not UTF-8", "file is not a database"),
        (b"PK\x03\x04 broken off", "is no bundle"),
    ],
)
def test_a_recording_that_is_missing_empty_or_damaged_is_refused(desk, content, says):
    desk.tests(CANCELS)
    recording = desk.path / PLACE
    recording.parent.mkdir(parents=True)
    if content is not None:
        recording.write_bytes(content)
    said = desk.run(failed=1)

    assert says in said
    assert "--spectrace-record" in said
    assert desk.live == 0
    assert (recording.read_bytes() if recording.exists() else None) == content


def test_a_recording_that_was_altered_is_refused(desk):
    recording = desk.recorded()
    whole = recording.read_bytes()
    recording.write_bytes(whole[:2000] + bytes([whole[2000] ^ 1]) + whole[2001:])
    said = desk.run(failed=1)

    assert "cannot be read. Nothing was run." in said
    assert desk.live == 0


def test_a_recording_of_another_test_is_refused(desk):
    desk.recorded()
    desk.tests(CANCELS.replace("test_it_cancels", "test_another"))
    (desk.path / PLACE).rename(desk.path / "recordings/test_desk/test_another.zip")
    said = desk.run(failed=1)

    assert "is of test_desk.py::test_it_cancels; this test is test_desk.py::test_another. Nothing was run." in said
    assert desk.live == 0


def test_a_database_is_no_recording_of_a_test(desk):
    desk.tests(CANCELS)
    (desk.path / PLACE).parent.mkdir(parents=True)
    spectrace.open_store(str(desk.path / PLACE)).close()

    assert "is of nothing; this test is" in desk.run(failed=1)
    assert desk.live == 0


CHANGED = {
    "an option": ("agent(spectrace_replay)", "agent(spectrace_replay, SpecAgent(k=2))", "/options/k"),
    "the protocol": (
        "agent(spectrace_replay)",
        "agent(spectrace_replay, __import__('spectrace').StrongOnly())",
        "recorded with specagent, now strong-only runs",
    ),
    "the prompts": (
        "agent(spectrace_replay)",
        "agent(spectrace_replay, prompts=Prompts(held='(waits)'))",
        "/prompts/held",
    ),
    "the task": ("agent(spectrace_replay)", "agent(spectrace_replay, task='cancel-foreign')", "/task/id"),
}


@pytest.mark.parametrize("what", CHANGED)
def test_a_test_that_runs_something_else_fails_with_what_changed(desk, what):
    recording = desk.recorded()
    before = recording.read_bytes()
    old, new, says = CHANGED[what]
    desk.tests(CANCELS.replace(old, new))
    said = desk.run(failed=1)

    assert said.count(says) <= 2  # in the failure, and in the summary's line
    assert says in said
    assert "runs it live and records it anew" in said
    assert "During handling" not in said
    assert "Traceback" not in said
    assert (desk.live, recording.read_bytes()) == (0, before)


OWN = """
    import spectrace

    @spectrace.tool(effect="read")
    def look(state: dict, name: str) -> str:
        "Look it up."
        return state[name]

    ENV = spectrace.Environment.from_functions(
        "own", [look], "Look.", reset=lambda: {"a": "1"}, tasks=[spectrace.Task("t", "Look a up.")], restore="reset"
    )

    def test_it_looks(spectrace_replay):
        weak, strong = Live(call("look", name="a"), finish("1")), Live(accept())
        run = spectrace_replay(ENV.tasks()[0], ENV, weak, strong)
        assert run.outcome.answer == "1"
"""


def test_a_tool_that_changed_is_named(desk):
    desk.tests(OWN)
    desk.run("--spectrace-record", passed=1)
    live = desk.live
    desk.run(passed=1)
    desk.tests(OWN.replace("name: str", "key: str").replace("state[name]", "state[key]"))
    said = desk.run(failed=1)

    assert "schema  /tools/look/parameters" in said
    assert desk.live == live == 3


def test_a_replay_that_diverges_fails_with_the_report(desk, monkeypatch):
    desk.recorded()
    monkeypatch.setattr(prompts, "shown", lambda _, text: text.upper())  # as if a later version rendered otherwise
    said = desk.run(failed=1)

    for line in ("/messages/", "  recorded  ", "  now       ", "  cause     ", "same up to"):
        assert line in said, said
    assert desk.live == 0


def test_a_test_that_fails_does_not_replace_a_good_recording(desk):
    recording = desk.recorded()
    before = recording.read_bytes()
    desk.tests(CANCELS.replace('reward == "1.0"', 'reward == "0.3"'))
    said = desk.run("--spectrace-record", failed=1)

    assert "not recorded, the test failed; its run: " in said
    assert recording.read_bytes() == before


def test_recording_replaces_a_recording_and_nothing_else(desk):
    recording = desk.recorded()
    desk.run("--spectrace-record", passed=1)
    again = is_zip(recording)
    recording.write_text("my notes")
    said = desk.run("--spectrace-record", failed=1)

    assert again
    assert "is there and is no recording: remove it" in said
    assert recording.read_text() == "my notes"


TWICE = """
    def test_it_cancels(spectrace_replay):
        for _ in range(RUNS):
            assert agent(spectrace_replay).outcome.reward == "1.0"
"""


@pytest.mark.parametrize(
    ("runs", "outcome", "says"),
    [
        (1, {"passed": 1, "errors": 1}, "holds 2 runs, and the test asked for 1"),
        (2, {"passed": 1}, ""),
        (3, {"failed": 1}, "holds 2 runs, and this is run 3 of the test"),
    ],
)
def test_each_run_of_a_test_has_its_own_episode_and_none_is_left(desk, runs, outcome, says):
    desk.recorded("RUNS = 2\n", TWICE)
    desk.tests(f"RUNS = {runs}\n", TWICE)

    assert says in desk.run(**outcome)
    assert desk.live == 0


def test_the_marker_names_another_place(desk):
    desk.tests('@pytest.mark.spectrace(recording="there/mine.zip")', CANCELS)
    desk.run("--spectrace-record", passed=1)
    desk.run(passed=1)

    assert is_zip(desk.path / "there" / "mine.zip")
    assert not (desk.path / "recordings").exists()


@pytest.mark.parametrize("marker", ['("there.zip")', "", '(file="x.zip")'])
def test_a_marker_of_another_form_is_refused(desk, marker):
    desk.tests(f"@pytest.mark.spectrace{marker}", CANCELS)

    assert "expected @pytest.mark.spectrace(recording=PATH)" in desk.run(errors=1)


def test_tests_with_parameters_do_not_share_a_file(desk):
    desk.tests(
        '@pytest.mark.parametrize("name", ["a/b", "a b", "a:b" * 60])\n'
        'def test_it(spectrace_replay, name):\n    assert agent(spectrace_replay).outcome.reward == "1.0"\n'
    )
    desk.run("--spectrace-record", passed=3)
    desk.run(passed=3)

    assert len(list((desk.path / "recordings" / "test_desk").iterdir())) == 3


def test_a_test_may_be_a_coroutine_and_stand_in_a_class(desk):
    desk.tests(
        "import asyncio\n"
        "class TestDesk:\n"
        "    def test_it(self, spectrace_replay):\n"
        "        async def inside():\n"
        "            return agent(spectrace_replay)\n"
        '        assert asyncio.run(inside()).outcome.reward == "1.0"\n'
    )
    desk.run("--spectrace-record", passed=1)
    desk.run(passed=1)

    assert is_zip(
        desk.path / "recordings" / "test_desk" / next((desk.path / "recordings" / "test_desk").iterdir()).name
    )


def test_the_folder_of_tests_may_move_with_its_recordings(desk):
    desk.recorded()
    (desk.path / "moved").mkdir()
    for name in ("test_desk.py", "recordings"):
        (desk.path / name).rename(desk.path / "moved" / name)
    desk.run("moved", passed=1)

    assert desk.live == 0


@pytest.mark.slow
def test_it_records_and_says_so_under_xdist_too(desk):
    desk.tests(CANCELS, CANCELS.replace("test_it_cancels", "test_again"))
    result = desk.pytester.runpytest_subprocess(*NAMED, "-n", "2", "--spectrace-record")
    desk.run(passed=2)

    assert result.parseoutcomes() == {"passed": 2}
    assert result.stdout.str().count("recorded ") == 2
    assert desk.live == 14


def test_a_suite_that_does_not_use_it_is_left_alone(pytester):
    pytester.makepyfile(
        """
        import sys

        def test_nothing_was_imported_for_a_plugin_that_nobody_uses():
            heavy = ["sqlalchemy", "jsonschema", "openai", "orjson", "cattrs", "click", "rich", "zstandard", "alembic"]
            assert [name for name in heavy if name in sys.modules] == []
            ours = [name for name in sys.modules if name.startswith("spectrace")]
            assert set(ours) <= {"spectrace", "spectrace.testing", "spectrace.testing.plugin"}
        """
    )
    result = pytester.runpytest_subprocess(*NAMED, "-W", "error", "--strict-markers", "--strict-config")

    assert result.parseoutcomes() == {"passed": 1}


def test_the_entry_point_is_declared(request):
    text = (request.config.rootpath / "pyproject.toml").read_text()

    assert f'[project.entry-points.pytest11]\nspectrace = "{plugin.__name__}"' in text
