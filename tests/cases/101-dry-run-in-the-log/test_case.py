"""Case 101: a harness's dry run is simulated, a tool's own dry_run=true its claim; only the third surely ran."""

import asyncio
import json
from pathlib import Path

import pytest

from spectrace.core.baselines import WeakOnly
from spectrace.core.types import Call, Finish
from spectrace.environments.functions import FunctionEnvironment, Task, tool
from spectrace.models.scripted import ScriptedModel
from spectrace.runs.live import Labels, record
from spectrace.store.sql import open_store
from tests.command_line import in_a_directory

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())
LINES = [json.loads(line) for line in (CASE / "events.jsonl").read_text().splitlines()]


@tool(effect="write")
def renew_loan(loan_id: int, days: int, dry_run: bool = False) -> str:  # noqa: FBT001, FBT002 - as the case has it
    """Renew a loan."""
    return f"would renew {loan_id}" if dry_run else f"renewed {loan_id} for {days} days"


@pytest.fixture
def line(monkeypatch, tmp_path):
    """Each of the case's calls as an episode of its own; a harness that only pretends says so with a label."""
    asked = in_a_directory(monkeypatch, tmp_path)
    store = open_store("spectrace.db")
    for one in LINES:
        desk = FunctionEnvironment.from_functions("desk", (renew_loan,), "", tasks=(Task("t1", "Renew."),))
        said = [Call(one["name"], json.dumps(one["arguments"])), Finish("renewed")]
        labels = Labels(
            labels=(("mode", "simulated"),) if one.get("mode") == "dry_run" else (("seq", str(one["seq"])),)
        )
        clients = {"weak": ScriptedModel(said)}
        asyncio.run(record(desk.tasks()[0], desk, clients, WeakOnly(), store, labels=labels))
    store.close()
    return asked


def listed(line, *options):
    """The case's numbers of the calls that are listed, by their order of recording."""
    order = [item["episode"] for item in line.items("ls", "--sort", "started_at")]
    found = line.items("audit", "actions", "--tool", "renew_loan", *options)
    return [LINES[order.index(item["episode"])]["seq"] for item in found], found


@pytest.mark.parametrize("way", [[], ["--events"]], ids=["projections", "events"])
def test_the_first_is_simulated_and_the_second_is_called_with_dry_run(line, way):
    seqs, found = listed(line, *way)

    assert [seq for seq, item in zip(seqs, found, strict=True) if item["mode"] == "simulated"] == EXPECTED["simulated"]
    assert [item["claim"] for item in found] == [None, "called with dry_run=true", None]
    certain = [seq for seq, one in zip(seqs, found, strict=True) if one["mode"] == "real" and one["claim"] is None]
    assert certain == EXPECTED["ran"]


def test_what_is_simulated_can_be_left_out_and_is_never_a_failure(line):
    assert listed(line, "--mode", "real")[0] == [2, 3]
    assert listed(line, "--mode", "simulated")[0] == EXPECTED["simulated"]
    assert listed(line, "--outcome", "error")[0] == []


def test_people_see_both_words(line):
    shown = line("audit", "actions", "--tool", "renew_loan").stdout

    assert shown.count("simulated") == 1
    assert shown.count("(called with dry_run=true)") == 1


def test_a_simulated_action_is_nothing_that_the_system_should_have_a_record_of(line):
    Path("loans.csv").write_text("tool,arg.loan_id,arg.days\nrenew_loan,5001,14\nrenew_loan,5001,14\n")
    items = line.items("audit", "reconcile", "--with", "loans.csv")

    assert [item["result"] for item in items] == ["matched", "matched"]
