import hashlib
import json
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from spectrace.core.baselines import WeakOnly
from spectrace.core.events import ActRequested
from spectrace.store.sql import open_store
from tests.damage import damage
from tests.episodes import CANCEL, DONE, FIND, READ
from tests.forks import desk_events, first
from tests.report_pages import Page
from tests.resumes import cut
from tests.shop_log import recorded
from tests.viewer.logs import hostile_log


@pytest.fixture
def rich(episode) -> list[str]:
    """A log with a reviewed, an unreviewed, a hostile and an interrupted episode; their ids."""
    store = open_store("spectrace.db")
    alone = recorded(store, weak=[FIND, READ, CANCEL, DONE], protocol=WeakOnly())
    events = desk_events()
    left = cut(store, events, first(events, ActRequested))
    store.close()
    return [episode, alone, left, hostile_log(Path("spectrace.db"))]


def page(file: str = "report.html") -> Page:
    return Page(Path(file).read_text(encoding="utf-8"))


def cells(found: Page, table: str) -> list[str]:
    """Return the first cell of each row, as `EP:SEQ`."""
    return ["".join(row[0].split()) for row in found.tables.get(table, [])]


def places(items) -> list[str]:
    return [f"{one['episode'] or '(database)'}" + ("" if one["seq"] is None else f":{one['seq']}") for one in items]


@pytest.mark.parametrize("chosen", [(), (0, 2)])
def test_every_number_and_every_row_is_what_the_other_commands_say(line, rich, chosen):
    names = [rich[place] for place in chosen]
    (said,) = line.items("audit", "report", *names, "-o", "report.html", "--rows", "0")
    found = page()
    actions = line.items("audit", "actions", *names)
    unknowns = line.items("audit", "unknowns", *names)
    unreviewed = line.items("audit", "unreviewed", *names)
    violations = line.items("audit", "violations", *names)
    verified = line.items("verify", *(names or ["--all"]))
    ran = [one for one in actions if one["requested_at"] is not None]
    never = [one for one in actions if one["requested_at"] is None]

    embedded = json.loads(found.texts["numbers-json"])
    assert embedded == {name: value for name, value in said.items() if name not in {"file", "sha256", "bytes"}}
    assert said["actions"]["total"] == len(actions)
    assert found.counts("by-outcome") == said["actions"]["by_outcome"] == Counter(one["outcome"] for one in actions)
    kinds = Counter(one["authority"].partition(":")[0] for one in ran)
    assert found.counts("by-authority") == said["actions"]["by_authority"] == kinds
    assert found.counts("by-effect") == Counter(one["effect_declared"] for one in actions)
    reviewers = Counter(one["reviewer_model"] for one in ran if one["authority"].startswith(("verdict", "repair")))
    assert found.counts("reviewers") == said["actions"]["reviewers"] == reviewers
    assert cells(found, "ran-rows") == places(ran)
    assert cells(found, "never-rows") == places(never)
    assert sorted(cells(found, "unknown-rows")) == sorted(places(unknowns))
    assert found.counts("unknown-kinds") == said["unknowns"]["by_kind"] == Counter(one["kind"] for one in unknowns)
    assert sorted(cells(found, "unreviewed-rows")) == sorted(places(unreviewed))
    assert found.counts("unreviewed-kinds") == Counter(one["kind"] for one in unreviewed)
    assert sorted(cells(found, "violation-rows")) == sorted(places(violations))
    assert said["violations"]["violations"] + said["violations"]["warnings"] == len(violations)
    rows = {row[0].strip(): [cell.strip() for cell in row[1:5]] for row in found.tables["verify-rows"]}
    dash = "\N{EN DASH}"
    for one in verified:
        expected = [one["result"], one["events"], one["first_bad_seq"], one["covered_to"]]
        assert rows[one["episode"]] == [dash if value is None else str(value) for value in expected]
    assert set(rows) - {one["episode"] for one in verified} == (set(admin_logs(line)) if names else set())
    assert cells(found, "open-rows") == places(one for one in actions if one["outcome"] == "indeterminate")
    assert said["open"] == {"indeterminate": 1, "settled": 0}


def admin_logs(line) -> list[str]:
    return [one["episode"] for one in line.items("verify", "--all") if one["episode"].startswith("admin-")]


def test_the_digest_that_is_printed_is_that_of_the_file(line, episode):
    result = line("audit", "report", "-o", "report.html", "--title", "For the file")
    data = Path("report.html").read_bytes()

    assert result.exit_code == 0
    assert f"SHA-256  {hashlib.sha256(data).hexdigest()}" in result.stdout
    assert f"{len(data):,} bytes, about 1 episode" in result.stdout
    assert "For the file" in page().all_text


def test_a_file_that_is_there_is_replaced_only_with_force_and_by_the_same_page(line, episode):
    Path("report.html").write_text("mine")
    refused = line("audit", "report", "-o", "report.html")
    kept = Path("report.html").read_text()

    assert (refused.exit_code, kept) == (2, "mine")
    assert line("audit", "report", "-o", "report.html", "--force").exit_code == 0
    assert page().elements["h1"] == 1


def test_a_period_and_filters_are_said_in_the_page(line, rich):
    (said,) = line.items(
        "audit", "report", "-o", "report.html", "--run", "first", "--since", "2020-01-01", "--until", "2100-01-01"
    )
    identity = " ".join(page().texts["identity"].split())

    assert said["episodes"]["total"] == 1
    assert "--run first: 1 episode (1 completed)" in identity
    assert "2020-01-01T00:00:00.000000Z to 2100-01-01T00:00:00.000000Z" in identity
    assert line("audit", "report", rich[0], "--run", "first", "-o", "x.html").exit_code == 2
    assert line("audit", "report", "--run", "nobody", "-o", "x.html").exit_code == 2
    assert not Path("x.html").exists()


def test_with_a_checkpoint_episodes_are_valid_and_the_page_holds_its_text_and_leaves(line, rich):
    line("checkpoint", "key", "example.org/log", "-o", "key")
    assert line("checkpoint", "create", "--key", "key", "-o", "cp").exit_code == 0
    (said,) = line.items("audit", "report", "-o", "report.html", "--checkpoint", "cp", "--key", "key.pub")
    verified = line.items("verify", "--all", "--checkpoint", "cp", "--key", "key.pub")
    found = page()

    assert said["verify"]["by_result"] == Counter(one["result"] for one in verified) == {"valid": len(verified)}
    assert said["checkpoint"]["note"] == Path("cp").read_text()
    assert found.texts["note"] == Path("cp").read_text()
    assert found.texts["leaves"] == Path("cp.leaves").read_text()
    assert Path("key.pub").read_text().strip() in found.texts["checkpoint"]
    assert "uncovered" not in said["unknowns"]["by_kind"]


def test_another_key_proves_nothing_and_no_key_is_a_usage_error(line, episode):
    line("checkpoint", "key", "example.org/log", "-o", "key")
    line("checkpoint", "key", "example.org/log", "-o", "other")
    line("checkpoint", "create", "--key", "key", "-o", "cp")
    (said,) = line.items("audit", "report", "-o", "report.html", "--checkpoint", "cp", "--key", "other.pub")

    assert set(said["verify"]["by_result"]) == {"unknown"}
    assert "proves nothing" in page().all_text
    assert line("audit", "report", "-o", "x.html", "--checkpoint", "cp").exit_code == 2


def run_on_another_text(bundle: str) -> int:
    """Run the step that lies here on a copy of a bundle with one long text altered; return its exit code."""
    with zipfile.ZipFile(bundle) as good, zipfile.ZipFile("altered.zip", "w") as bad:
        last = [name for name in good.namelist() if name.startswith("blobs/sha256/")][-1]
        for name in good.namelist():
            bad.writestr(name, good.read(name) + (b" " if name == last else b""))
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "step.py", "altered.zip"], check=False, capture_output=True, text=True
    )
    assert f"{last}: it is not the text that was recorded" in ran.stderr
    return ran.returncode


def test_all_is_every_episode_and_no_choice_beside_another(line, rich):
    (said,) = line.items("audit", "report", "--all", "-o", "report.html")

    assert said["verify"]["by_result"] == line.items("audit", "report", "-o", "r2.html")[0]["verify"]["by_result"]
    assert line("audit", "report", "--all", rich[0], "-o", "x.html").exit_code == 2
    assert line("audit", "report", "--all", "--env", "shop", "-o", "x.html").exit_code == 2
    assert line("audit", "report", "--since", "2026-02-02", "--until", "2026-02-01", "-o", "x.html").exit_code == 2


def test_the_steps_of_the_page_check_chains_root_and_signature_without_spectrace(line, rich, tmp_path):
    line("checkpoint", "key", "example.org/log", "-o", "key")
    line("checkpoint", "create", "--key", "key", "-o", "cp")
    line("audit", "report", "-o", "report.html", "--checkpoint", "cp", "--key", "key.pub")
    line("pack", "--all", "-o", "evidence.zip")
    found = page()
    heads = {row[0].strip(): row[5].split()[0] for row in found.tables["verify-rows"]}

    def run(name: str, *arguments: str) -> str:
        Path("step.py").write_text(found.texts[name])
        command = [sys.executable, "-I", "-S", "-W", "error::SyntaxWarning", "step.py", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    printed = [one.split() for one in run("check-chain", "evidence.zip").splitlines()]
    assert {episode: head for episode, _, head in printed if episode in rich} == {one: heads[one] for one in rich}
    assert run_on_another_text("evidence.zip") == 1
    out = run("check-root", "cp", "cp.leaves", Path("key.pub").read_text().strip()).splitlines()
    assert out[0].endswith("leaves: equal")
    checked = subprocess.run(out[1].split(), check=False, capture_output=True, text=True)
    assert (checked.returncode, checked.stdout.strip()) == (0, "Signature Verified Successfully")
    Path("text").write_bytes(Path("text").read_bytes() + b"\n")
    assert subprocess.run(out[1].split(), check=False, capture_output=True).returncode != 0


def test_what_cannot_be_read_stands_first_and_the_exit_code_says_so(line, rich):
    damage("spectrace.db", "UPDATE events SET payload = NULL, salt = NULL WHERE key = (2 << 20) + 10")
    result = line("audit", "report", "-o", "report.html")
    found = page()

    assert result.exit_code == 3
    assert "Incomplete" in result.stderr
    assert {row[0].strip() for row in found.tables["unread"]} == {rich[1]}
    assert found.texts["glance"].strip().startswith("Cannot be read1")
    assert found.tables["verify-rows"][0][0].strip() == rich[1]


@pytest.mark.slow
def test_ctrl_c_leaves_no_half_file(line, tmp_path):
    store = open_store("spectrace.db")
    for _ in range(40):
        recorded(store)
    store.close()
    code = (
        "import os, signal, spectrace.audit.report_page as page; parts = page._parts\n"
        "def cut(made):\n"
        "    for number, part in enumerate(parts(made)):\n"
        "        yield part\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "page._parts = cut\n"
        "from spectrace.cli import main; main(['audit', 'report', '-o', 'report.html'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)

    assert done.returncode == 130, done.stderr
    assert not [one.name for one in tmp_path.iterdir() if "report" in one.name]
