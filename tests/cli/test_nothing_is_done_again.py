"""With restore=none no write of a record is done again, in whatever mode it is replayed, looked at or gone on with.

The desk's state is a file outside the log; every change adds a row to it, whoever makes it.
"""

import json

import pytest

from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Finish
from spectrace.store.sql import open_store
from tests.desk import at
from tests.forks import recorded_in
from tests.lasting_desk import changes, open_lasting
from tests.playbook import accept
from tests.resumes import cut
from tests.shop_log import script

WEAK = [at("look"), at("change"), at("change", "B"), Finish("done")]
TOLD = [
    *({"action": {"tool": one.tool, "arguments": json.loads(one.arguments)}} for one in WEAK[:-1]),
    {"action": {"finish": "done"}},
]
ENV = ("--env", "lasting:desk")


@pytest.fixture
def lasting(line, tmp_path, monkeypatch):
    """The episode as its events tell it; its desk is desk.db, where two changes have been made."""
    (tmp_path / "lasting.py").write_text(
        "from tests.lasting_desk import open_lasting\ndef desk():\n    return open_lasting('desk.db')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    return recorded_in(open_lasting("desk.db"), SpecAgent(), weak=WEAK, strong=[accept()] * 3)


@pytest.fixture
def models(tmp_path):
    weak, strong = script(tmp_path / "w.json", TOLD), script(tmp_path / "s.json", [{"verdict": "accept"}] * 4)
    return "--weak", weak, "--strong", strong


def stored(events, last=None):
    store = open_store("spectrace.db")
    name = cut(store, events, events[-1].seq if last is None else last)
    store.close()
    return name


REPLAYS = {
    "record": ((), 0),
    "check": (("--check", *ENV), 0),
    "check frozen": (("--check", "--frozen", *ENV), 0),
    "tools live": (("--tools", "live", *ENV), 125),
    "tools live, all passes": (("--tools", "live", "--lenient", "--frozen", *ENV), 125),
    "models live": (("--models", "live"), 0),
    "models live, lenient": (("--models", "live", "--lenient"), 0),
}


@pytest.mark.parametrize(("arguments", "code"), REPLAYS.values(), ids=REPLAYS)
def test_a_replay_does_nothing_again(line, lasting, models, arguments, code):
    episode = stored(lasting)
    (item,) = line.items("replay", episode, *arguments, *(models if "--models" in arguments else ()), code=code)

    assert item["result"] == {0: "same", 125: "untestable"}[code]
    assert changes("desk.db") == ["A", "B"]


def test_a_fork_at_any_event_does_nothing_again(line, lasting, models):
    episode = stored(lasting)
    codes = {line("fork", f"{episode}:{seq}", *ENV, *models).exit_code for seq in range(0, len(lasting), 5)}

    assert codes == {125}
    assert changes("desk.db") == ["A", "B"]
    assert len(line.items("ls")) == 1


def test_a_re_verification_does_nothing_again(line, lasting, models):
    stored(lasting)

    assert line("reverify", "--all", "--verifier", models[3], "--name", "again").exit_code == 0
    assert changes("desk.db") == ["A", "B"]


def test_going_on_does_what_is_left_and_nothing_again(line, lasting, tmp_path):
    done = [event.seq for event in lasting if event.type == "act.completed"]
    episode = stored(lasting, last=done[2])
    weak, strong = script(tmp_path / "w.json", TOLD[-1:]), script(tmp_path / "s.json", [{"verdict": "accept"}] * 2)
    (item,) = line.items("resume", episode, *ENV, "--weak", weak, "--strong", strong)

    assert (item["parent"], item["status"]) == (episode, "completed")
    assert changes("desk.db") == ["A", "B"]
    assert [one["result"] for one in line.items("replay", item["episode"])] == ["same"]
    assert changes("desk.db") == ["A", "B"]
