"""Nothing that a recording names is run, imported, opened or contacted: not to read it, nor to go on from it.

The things it names are there and would spring (`tests/planted.py`); a test lets each of them spring for a user who
names it. Every command runs under audit hooks, in a process of its own (`tests/watched.py`).
"""

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from spectrace.config import BUILTIN_ENVIRONMENTS, builtin_environment
from spectrace.store import runs
from spectrace.store.samples import pending, sample_episode
from spectrace.store.sql import open_store
from tests.altered import store_all
from tests.command_tree import lines
from tests.episodes import recorded_events
from tests.hostile_log import record
from tests.planted import MODULE, naming, planted
from tests.shop_log import STRONG_SCRIPT, WEAK_SCRIPT, script

ROOT = Path(__file__).resolve().parents[2]
EPISODES = ("0named", "1shop", "2imported", "3spoiled", "4else")
KINDS = ("function", "file", "script", "address", "server", "command")
STARTS = {"os.system", "os.exec", "os.posix_spawn", "os.fork", "os.spawn", "pty.spawn", "subprocess.Popen"}
CONTACTS = {"socket.connect", "socket.getaddrinfo", "socket.sendto", "urllib.Request", "webbrowser.open"}
TOUCHES = {"open", "sqlite3.connect", "os.listdir", "os.scandir", "shutil.copyfile", "ctypes.dlopen", "os.chdir"}


def watched(folder: Path, things, given: list[list[str]]) -> list[dict]:
    """Run the lines in a process of its own that could import the planted module."""
    result = folder / "told.json"
    subprocess.run(
        [sys.executable, str(ROOT / "tests" / "watched.py"), str(result)],
        input=json.dumps(given),
        text=True,
        check=True,
        timeout=300,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{things.folder}", "COLUMNS": "120"},
    )
    return json.loads(result.read_text())


def touched(things, did: list[list[str]]) -> list[list[str]]:
    """Return what was done to anything that is planted, and any process or connection at all.

    The folder itself is on `sys.path`, so that Python lists it at any import.
    """
    return [
        [event, *what]
        for event, *what in did
        if event in STARTS | CONTACTS
        or (event == "import" and what[0].split(".")[0] == MODULE)
        or (event in TOUCHES and f"{things.folder}{os.sep}" in os.path.realpath(what[0]))
    ]


def laid(folder: Path, things, text: str) -> str:
    """Record episodes that name the text; return the log."""
    log, events = str(folder / "log.db"), recorded_events()
    with closing(open_store(log)) as store:
        store_all(store, naming(events, text, text), EPISODES[0])
        store_all(store, naming(events, text, "shop"), EPISODES[1])
        store_all(store, naming(events, text, "shop", imported=True), EPISODES[2])
        record(store, EPISODES[3], events, text)
        record(store, EPISODES[4], pending(sample_episode(1)), text)
        # Not ended: what `resume` goes on from.
        store_all(store, naming(events, text, "shop")[:-1], "5open")
        named = dict.fromkeys(("env", "verifier", "weak", "strong", "prompts", "url", "tasks", "module"), text)
        selection = [(EPISODES[1], store.row(EPISODES[1]).head.hex())]
        runs.begin(store, text, "run", selection, json.dumps(named))
        runs.begin(store, f"again {text}", "reverify", selection, json.dumps(named | {"prompts": None, "repeat": 1}))
    return log


def reading(folder: Path, log: str, text: str) -> list[list[str]]:
    """Return every reading command over every episode."""
    (folder / "theirs.csv").write_text("at,tool,arguments\n2026-11-30T12:00:00Z,cancel_order,{}\n")
    given: dict[tuple[str, ...], None] = {}
    for episode in EPISODES:
        # Where only the start names anything, one event is enough.
        for line in lines(
            40 if episode in EPISODES[3:] else 1, EP=episode, RUN="RUN", AGAIN="AGAIN", CALL="3", OUT=str(folder)
        ):
            given[tuple({"RUN": text, "AGAIN": f"again {text}"}.get(part, part) for part in line)] = None
    return [[*line, "--db", log] for line in given]


def going_on(folder: Path, log: str, text: str) -> list[list[str]]:
    """Return what refuses where nobody names anything, and what goes on with what the user names: ours."""
    weak, strong = script(folder / "weak.json", WEAK_SCRIPT), script(folder / "strong.json", STRONG_SCRIPT)
    ours = ["--weak", weak, "--strong", strong]
    given = []
    for episode in EPISODES:
        given += [
            ["replay", episode, "--models", "live"],
            ["replay", episode, "--models", "live", "--tools", "cached"],
            ["replay", episode, "--models", "live", *ours],
            ["fork", f"{episode}:3"],
            ["fork", f"{episode}:3", "--env", "shop"],
            ["fork", f"{episode}:3", "--env", "shop", *ours],
            ["reverify", episode],
            ["reverify", episode, "--verifier", strong],
        ]
    given += [
        ["resume", "5open"],
        ["resume", "5open", "--env", "shop"],
        ["resume", "5open", "--env", "shop", *ours],
        ["reverify", EPISODES[1], "--name", f"again {text}"],
        ["reverify", EPISODES[1], "--name", f"again {text}", "--verifier", strong],
        ["run", "--name", text],
        ["recover"],
        ["worker"],
        ["db", "rebuild"],
        ["db", "copy", str(folder / "copy.db")],
    ]
    given = [[*line, "--db", log] for line in given]
    for name in ("bundle.zip", "log.jsonl"):
        how = ["unpack"] if name.endswith("zip") else ["import", "jsonl"]
        given.append([*how, str(folder / name), "--db", str(folder / f"from-{name}.db")])
    return given


@pytest.fixture(scope="module", params=KINDS)
def told(request, tmp_path_factory):
    """What each command said and did where a recording names one planted thing everywhere."""
    folder = tmp_path_factory.mktemp("log")
    with planted(tmp_path_factory.mktemp("planted") / "things") as things:
        text = things.texts()[request.param]
        log = laid(folder, things, text)
        read = reading(folder, log, text)
        done = watched(folder, things, read + going_on(folder, log, text))
        yield SimpleNamespace(things=things, read=done[: len(read)], on=done[len(read) :])


@pytest.mark.slow
def test_nothing_named_is_touched_by_reading(told):
    wrong = [(one["line"][:-2], found) for one in told.read if (found := touched(told.things, one["did"]))]

    assert wrong == []
    assert (told.things.traces, told.things.came) == ([], [])


@pytest.mark.slow
def test_nothing_named_is_touched_by_going_on(told):
    wrong = [(one["line"][:-2], found) for one in told.on if (found := touched(told.things, one["did"]))]

    assert wrong == []
    assert (told.things.traces, told.things.came) == ([], [])


@pytest.mark.slow
def test_every_command_answers_in_words(told):
    wrong = [
        (one["line"][:-2], one["code"], one["stderr"][-300:])
        for one in told.read + told.on
        if one["code"] not in {0, 1, 2, 3, 125} or "is a bug" in one["stderr"]
    ]

    assert wrong == []


@pytest.mark.slow
def test_what_is_named_by_nobody_is_refused(told):
    codes = {" ".join(one["line"][:-2]): one["code"] for one in told.read + told.on}

    assert codes["replay 0named --tools live"] == 125
    assert codes["replay 0named"] == codes["replay 1shop"] == 0
    assert {codes[f"fork {episode}:3"] for episode in EPISODES} == {2}
    assert {codes[f"fork {episode}:3 --env shop"] for episode in EPISODES} <= {2, 125}
    assert {codes[f"reverify {episode}"] for episode in EPISODES} == {2}
    assert {codes[f"replay {episode} --models live"] for episode in EPISODES} <= {2, 125}
    assert (codes["resume 5open"], codes["resume 5open --env shop"]) == (2, 2)


@pytest.mark.slow
def test_the_same_things_spring_for_a_user_who_names_them(tmp_path):
    """What the other tests find nothing with does find something."""
    with planted(tmp_path / "things") as things:
        text = things.texts()
        log = laid(tmp_path, things, "nothing")
        given = [
            ["replay", "1shop", "--tools", "live", "--env", text["function"]],
            ["reverify", "1shop", "--verifier", f"{MODULE}:judge"],
            ["reverify", "1shop", "--verifier", text["script"]],
            ["reverify", "1shop", "--verifier", f"labels:{things.file}"],
            ["replay", "1shop", "--prompts", text["file"]],
            ["reverify", "1shop", "--verifier", text["server"], "--max-cost-usd", "1"],
        ]
        done = watched(tmp_path, things, [[*line, "--db", log] for line in given])
        seen = [sorted({found[0] for found in touched(things, one["did"])} & {"import", "open"}) for one in done]
        contacts = {found[0] for found in touched(things, done[-1]["did"])} & CONTACTS

        assert seen[0] == ["open"]  # the module's source: `importlib` itself raises no event
        assert (seen[2], seen[3], seen[4]) == (["open"], ["open"], ["open"])
        assert things.traces == ["imported"]
        assert contacts
        assert things.came


def test_only_our_own_environments_are_opened_by_a_recorded_name():
    """`replay --tools live` may open these unasked: each is built from this installation, with nothing recorded."""
    near = ["", "SHOP", "shop ", "shop\0", "shop:x", "tau2", "tau2:", "tau2:../x", f"tau2:{MODULE}", f"{MODULE}:shop"]

    assert list(BUILTIN_ENVIRONMENTS) == ["shop", "tau2:airline", "tau2:retail", "tau2:mock"]
    assert [name for name in near if builtin_environment(name) is not None] == []
