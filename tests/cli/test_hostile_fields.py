"""Each hostile text in every text of every event, through every reading command: literal, harmless, and obeyed nowhere.

Run under audit hooks in a process of its own (`tests/watched.py`): what a recording names is not imported, opened,
contacted or started, whatever names it.
"""

import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from spectrace.store import runs
from spectrace.store.samples import pending, sample_episode
from spectrace.store.sql import open_store
from tests.command_tree import lines
from tests.episodes import recorded_events
from tests.hostile_log import TEXTS, record

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
CONTROLS = {chr(code) for code in [*range(32), 127, *range(128, 160)]} - {"\n"}
HIDDEN = CONTROLS | set("\u202e\u2066\u200b\ufeff\u2028\u2029")
ANSWERS = {0, 1, 2, 3, 125}
"""2 too: a spoiled episode may have no model call where the shop's has one."""


def hostile(folder: Path, text: str) -> tuple[Path, list[list[str]]]:
    """Record an episode of the shop and one of every other event, spoiled; return the log and the lines to run."""
    log, events = folder / "log.db", recorded_events()
    name = text.replace("\0", "").encode("utf-8", "ignore").decode()[:1000] or "x"
    with closing(open_store(str(log))) as store:
        assert record(store, "0123shop", events, text) > 25
        every = pending(sample_episode(1))
        assert record(store, "4567else", every, text) > 20
        runs.begin(store, name, "run", [("0123shop", store.row("0123shop").head.hex())], json.dumps({"env": name}))
    (folder / "out").mkdir()
    (folder / "out" / "theirs.csv").write_text("at,tool,arguments\n2026-11-30T12:00:00Z,cancel_order,{}\n")
    given = []
    for episode, count in (("0123shop", len(events)), ("4567else", len(every))):
        given += lines(count, EP=episode, RUN="RUN", AGAIN="RUN", CALL="3", OUT=str(folder / "out"))
    unique = [
        list(one) for one in dict.fromkeys(tuple(name if part == "RUN" else part for part in one) for one in given)
    ]
    return log, [[*one, "--db", str(log)] for one in unique]


def watched(folder: Path, given: list[list[str]]) -> list[dict]:
    """Run the lines in a process of its own."""
    result = folder / "told.json"
    subprocess.run(
        [sys.executable, str(ROOT / "tests" / "watched.py"), str(result)],
        input=json.dumps(given),
        text=True,
        check=True,
        cwd=folder / "out",
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120"},
    )
    return json.loads(result.read_text())


@pytest.fixture(scope="module", params=TEXTS)
def told(request, tmp_path_factory):
    """What each reading command said and did of a log full of one hostile text."""
    folder = tmp_path_factory.mktemp(request.param)
    log, given = hostile(folder, TEXTS[request.param])
    return request.param, log, folder, watched(folder, given)


def test_every_command_answers(told):
    bad = [(one["line"][:-2], one["stderr"][-300:]) for one in told[3] if one["code"] not in ANSWERS]
    bad += [(one["line"][:-2], one["stderr"][-300:]) for one in told[3] if "is a bug" in one["stderr"]]

    assert bad == []


def test_no_raw_control_reaches_a_stream_that_people_read(told):
    wrong = [
        (one["line"][:-2], sorted(map(ascii, HIDDEN & set(said))))
        for one in told[3]
        if "--csv" not in one["line"] and "csv" not in one["line"]
        for said in (one["stdout"], one["stderr"])
        if HIDDEN & set(said)
    ]

    assert wrong == []


def test_no_cell_of_a_csv_is_a_formula(told):
    wrong = []
    for one in told[3]:
        if "--csv" in one["line"] or "csv" in one["line"]:
            cells = [cell for row in csv.reader(io.StringIO(one["stdout"])) for cell in row]
            wrong += [(one["line"][:-2], cell[:60]) for cell in cells if re.match(r"[=+@\t\r]|-(?![\d.])", cell)]
            wrong += [(one["line"][:-2], "control") for cell in cells if {"\0", "\x1b"} & set(cell)]

    assert wrong == []


STARTED = {
    *("socket.connect", "socket.getaddrinfo", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen"),
    "webbrowser.open",
}


def test_nothing_that_is_named_is_run_contacted_or_opened(told):
    kind, _, folder, done = told
    # Its own files, Python's, and what the system keeps for every process.
    ours = (
        *map(str, (folder, ROOT)),
        sys.prefix,
        sys.base_prefix,
        tempfile.gettempdir(),
        "/proc/",
        "/dev/",
        "/etc/",
        "/usr/",
    )
    wrong = []
    for one in done:
        for event, *what in one["did"]:
            opened = event == "open" and Path(what[0]).is_absolute() and not what[0].startswith(ours)
            named = TEXTS[kind].partition(":")[0] if kind == "names" else "198.51.100.7"
            obeyed = event in {"open", "import"} and (what[0].endswith("/etc/passwd") or named in what[0].split("."))
            if event in STARTED or opened or (obeyed and not (event == "import" and what[0] == "os")):
                wrong.append((one["line"][:-2], event, what))

    assert wrong == []
