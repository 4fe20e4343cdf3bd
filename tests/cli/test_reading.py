"""Commands that read change nothing: not a byte of a file, on a connection that could not, as a role that may not."""

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from spectrace.cli import main
from spectrace.runs.live import Labels
from spectrace.store import runs
from spectrace.store.sql import open_store
from tests.command_tree import ELSEWHERE, READING, WRITING, commands, lines
from tests.playbook import accept
from tests.roles import roles_of
from tests.shop_log import recorded, reverified

WATCHED = Path(__file__).resolve().parents[1] / "watched.py"
CALL = 3
"""A model call of the shop's episode."""
ANSWERS = {0, 1, 3, 125}
"""What reading may end with: an answer. 2 would mean that the line itself is wrong."""


def filled(url: str) -> str:
    """Record an episode of a run and a pass that judges it again."""
    with closing(open_store(url)) as store:
        runs.begin(store, "first", "run", [])
        episode = recorded(store, labels=Labels(run="first"))
        head = store.row(episode).head.hex()
        runs.begin(store, "second", "reverify", [(episode, head)])
        reverified(store, episode, "second", [accept(), accept(), accept()])
    return episode


def all_lines(episode: str, folder: Path) -> list[list[str]]:
    folder.mkdir(exist_ok=True)
    (folder / "theirs.csv").write_text("at,tool,arguments\n2026-11-30T12:00:00Z,cancel_order,{}\n")
    return lines(3, EP=episode, RUN="first", AGAIN="second", CALL=str(CALL), OUT=str(folder))


def test_every_command_is_classed():
    there = set(commands())

    assert there - {*READING, *WRITING, *ELSEWHERE} == set()
    assert set(READING) - there == set()
    assert not set(READING) & WRITING


@pytest.mark.slow
def test_no_reading_command_changes_a_byte_or_opens_the_log_to_write(tmp_path):
    log = tmp_path / "evidence" / "log.db"
    log.parent.mkdir()
    episode = filled(str(log))
    log.chmod(0o400)
    log.parent.chmod(0o500)
    before = (log.read_bytes(), log.stat().st_mtime_ns)
    given = [[*line, "--db", str(log)] for line in all_lines(episode, tmp_path / "out")]
    result = tmp_path / "told.json"
    subprocess.run(
        [sys.executable, str(WATCHED), str(result)],
        input=json.dumps(given),
        text=True,
        check=True,
        cwd=tmp_path / "out",
        env={**os.environ, "PYTHONPATH": str(WATCHED.parents[1])},
    )
    told = json.loads(result.read_text())
    log.parent.chmod(0o700)

    assert [(one["line"], one["stderr"]) for one in told if one["code"] not in ANSWERS] == []
    assert [one["line"] for one in told if "bug" in one["stderr"]] == []
    connected = {did[1] for one in told for did in one["did"] if did[0] == "sqlite3.connect" and str(log) in did[1]}
    assert [name for name in connected if "mode=ro" not in name] == []
    assert (log.read_bytes(), log.stat().st_mtime_ns) == before


@pytest.mark.slow
def test_every_reading_command_answers_a_role_that_may_only_read(postgres_url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with roles_of(postgres_url) as roles:
        episode = filled(postgres_url)
        url = roles.granted("reader")
        told = {}
        for line in all_lines(episode, tmp_path / "out"):
            done = CliRunner().invoke(main, [*line, "--db", url], prog_name="spectrace")
            told[" ".join(line)] = (done.exit_code, done.stderr)

    assert {line: said for line, (code, said) in told.items() if code not in ANSWERS or "denied" in said} == {}
