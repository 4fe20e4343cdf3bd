"""Case 102: a blocked write did not run, whatever the model says later; a chat alone proves neither."""

import json
from pathlib import Path

import pytest

from spectrace.cli.audit import outcome_span
from spectrace.core.deeds import deeds
from spectrace.core.specagent import SpecAgent
from spectrace.core.types import Call, Finish
from spectrace.environments.functions import FunctionEnvironment, Task, tool
from spectrace.interchange.openai_chat import import_file
from spectrace.store.memory import MemoryEventStore
from tests.command_line import in_a_directory
from tests.forks import recorded_in
from tests.playbook import accept, reject

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())
DRAFT, _, TEXT = (json.loads(line) for line in (CASE / "events.jsonl").read_text().splitlines())


@tool(effect="write")
def charge_fee(member_id: int, cents: int) -> str:
    """Charge a fee."""
    raise AssertionError((member_id, cents))


def blocked(claim: str):
    """The case's draft, rejected by the reviewer; then the model says what it likes."""
    desk = FunctionEnvironment.from_functions("desk", (charge_fee,), "", tasks=(Task("t1", "Charge."),))
    draft = Call(DRAFT["name"], json.dumps(DRAFT["arguments"]))
    strong = [reject(1, Finish(claim), category="policy_violation"), accept()]
    return recorded_in(desk, SpecAgent(), weak=[draft, Finish(claim)], strong=strong)


def ledger(events):
    return [(deed.outcome, deed.requested_at, deed.authority) for deed in deeds(events) if deed.tool == "charge_fee"]


def test_a_blocked_write_did_not_run_and_the_claim_changes_nothing():
    assert EXPECTED["events"] == "not run"
    assert ledger(blocked(TEXT["text"])) == ledger(blocked("I could not.")) == [("never", None, None)]


@pytest.fixture
def chat(tmp_path):
    """The case's chat as an import."""
    store = MemoryEventStore()
    (made,) = import_file(CASE / "chat_form.jsonl", store)
    return list(store.read(made.episode))


def test_of_a_chat_the_authority_is_unknown_and_the_outcome_is_its_files_word(chat):
    (deed,) = [deed for deed in deeds(chat) if deed.tool == "charge_fee"]

    assert EXPECTED["chat"] == deed.authority == "unknown"
    assert deed.state_changed is None
    assert outcome_span(deed) == ("a result; effect unknown", "warning")


def test_on_the_command_line_it_is_never_said_to_have_run(monkeypatch, tmp_path):
    line = in_a_directory(monkeypatch, tmp_path)
    assert line("import", "openai", str(CASE / "chat_form.jsonl")).exit_code == 0
    shown = line("audit", "actions", "--tool", "charge_fee").stdout

    assert "a result; effect unknown" in shown
    assert {one["kind"] for one in line.items("audit", "unreviewed")} == {"import"}
    assert "imported" in {one["kind"] for one in line.items("audit", "unknowns")}
