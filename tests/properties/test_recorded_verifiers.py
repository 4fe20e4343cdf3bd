"""No recording makes anybody import, open or contact what it names as its verifier, whatever reads or replays it."""

import asyncio
import json
import sys
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from spectrace.cli import main
from spectrace.core.types import Completion, Message, ModelFacts
from spectrace.models.judge import ACCEPT
from spectrace.runs.replay import replay_episode
from spectrace.runs.reverify import rechecks_of, reverify_episode
from spectrace.runs.verifiers import JudgePool
from spectrace.store import runs
from spectrace.store.memory import MemoryEventStore
from spectrace.store.sql import open_store
from tests.episodes import record_shop, recorded_events

CANARY = "recorded_canary"
_heard: list[tuple[str, str]] = []
_listening = False


def _hear(event, given_):
    """Note imports, openings and calls of a shell; audit hooks stay for ever, so it hears only while it should."""
    if _listening and event in {"import", "open", "os.system", "subprocess.Popen", "socket.connect"}:
        _heard.append((event, str(given_[0])))


sys.addaudithook(_hear)


@contextmanager
def heard():
    """Collect what happens inside the block."""
    global _listening  # noqa: PLW0603 - the hook's switch
    _heard.clear()
    _listening = True
    try:
        yield _heard
    finally:
        _listening = False


@dataclass
class Named:
    """A verifier that a recording names as it likes."""

    provider: str
    name: str
    server: str = "{}"
    url: str | None = None

    async def facts(self):
        return ModelFacts("", self.provider, self.name, url=self.url, server=self.server)

    def covers(self, request):
        return request.segment > 0

    def unused(self):
        return ()

    async def judge(self, request):
        said = json.dumps({"function": self.name, "asked": request.position})
        return Completion(Message("assistant", ACCEPT), finish_reason="stop", model=self.name, server=said)

    async def close(self):
        """Nothing is held."""


PARENT = recorded_events()

names = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        [f"{CANARY}:judge", "os:system", "labels:/etc/passwd", "sglang:m@http://127.0.0.1:9", "builtins:exec"]
    ),
    st.builds(
        "{}:{}".format, st.from_regex(r"[a-z_]{1,9}", fullmatch=True), st.from_regex(r"[a-z_]{1,9}", fullmatch=True)
    ),
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["function", "labels", "sglang", "scripted", "local"]), names)
def test_a_replay_never_imports_opens_or_calls_what_its_verifier_is_called(provider, name):
    store = MemoryEventStore()
    rows, _ = asyncio.run(reverify_episode(PARENT, JudgePool(Named(provider, name)), store, "again"))
    child = list(store.read(rows[0].child))
    with heard() as found:
        result = asyncio.run(replay_episode(child, parent=PARENT)).result
        again = rechecks_of("again", child, PARENT)

    assert (result, again) == ("same", rows)
    assert [one for one in found if one[0] != "import"] == []
    module = name.partition(":")[0]
    assert [one for one in found if one[1].partition(".")[0] == module] == []


@pytest.fixture
def tempted(tmp_path, monkeypatch):
    """A log whose verifiers are named after a module that lies in the working directory, and a labels file there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("SPECTRACE_DB", raising=False)
    monkeypatch.delenv("SPECTRACE_CONFIG", raising=False)
    (tmp_path / f"{CANARY}.py").write_text("raise SystemExit('imported')\n")
    (tmp_path / "canary.csv").write_text("episode,segment,decision\n")
    store = open_store("spectrace.db")
    parent = asyncio.run(record_shop(store)).episode
    events, children = list(store.read(parent)), []
    for provider, name in (("function", f"{CANARY}:judge"), ("labels", "canary.csv")):
        verifier = f"labels:{name}" if provider == "labels" else name
        plan = {"verifier": verifier, "prompts": None, "only_rejected": False, "repeat": 1}
        runs.begin(
            store, provider, "reverify", [(parent, store.row(parent).head.hex())], json.dumps(plan, sort_keys=True)
        )
        rows, _ = asyncio.run(reverify_episode(events, JudgePool(Named(provider, name)), store, provider))
        children.append(rows[0].child)
    store.close()
    return parent, children


COMMANDS = [
    "replay {}",
    "replay {} --check",
    "show {}",
    "show {}:0",
    "why {}",
    "verify {}",
    "ls --run function",
    "ls --run labels",
    "runs",
    "runs function",
    "compare function",
    "compare function labels",
    "audit actions",
    "cost {}",
    "recover",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_imports_a_function_or_opens_labels_that_a_log_names(tempted, command):
    _, children = tempted
    for child in children:
        with heard() as found:
            CliRunner().invoke(main, command.format(child).split(), prog_name="spectrace")

        assert CANARY not in sys.modules
        assert [one for one in found if CANARY in one[1] or "canary.csv" in one[1]] == []


def test_a_function_that_is_named_on_the_command_line_is_imported(tempted):
    parent, _ = tempted
    with heard() as found:
        named = ["reverify", parent, "--verifier", f"{CANARY}:judge"]
        result = CliRunner().invoke(main, named, prog_name="spectrace")

    assert [one for one in found if one[0] == "open" and CANARY in one[1]]
    assert (result.exit_code, "importing it raised SystemExit: imported" in result.stderr) == (2, True)
