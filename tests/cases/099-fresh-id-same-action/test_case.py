"""Case 099: three charges with fresh ids are one action done three times; grouped, and all three are kept."""

import json
from pathlib import Path

import pytest

from spectrace.audit.repeats import repeated
from spectrace.cli.audit import show
from spectrace.core.baselines import WeakOnly
from spectrace.core.deeds import deeds
from spectrace.core.types import Completion, Message
from spectrace.environments.functions import FunctionEnvironment, Task, tool
from tests.forks import recorded_in

CASE = Path(__file__).parent
EXPECTED = json.loads((CASE / "expected.json").read_text())
LINES = (CASE / "events.jsonl").read_text().splitlines()


def arguments(line: str) -> str:
    """Return the arguments as the line has them: 150.0 stays 150.0."""
    return line.partition('"arguments": ')[2].removesuffix("}")


@tool(effect="write")
def charge_fee(member_id: int, cents: float) -> str:
    """Charge a fee."""
    return f"charged {cents} to {member_id}"


@pytest.fixture
def events():
    """An episode in which the case's calls are made, each under its own id."""
    desk = FunctionEnvironment.from_functions("desk", (charge_fee,), "", tasks=(Task("t1", "Charge."),))
    written = [
        Completion(
            Message("assistant", f'{{"tool": "charge_fee", "arguments": {arguments(line)}}}'),
            provider_id=json.loads(line)["call"],
        )
        for line in LINES
    ]
    return recorded_in(desk, WeakOnly(), weak=[*written, '{"finish": "done"}'])


def test_they_are_grouped_by_tool_and_arguments_and_none_is_merged(events):
    ledger = [deed for deed in deeds(events) if deed.tool == "charge_fee"]
    groups = repeated(ledger)

    assert len(groups) == EXPECTED["groups"]
    assert (groups[0].least, groups[0].most) == (EXPECTED["executions"], EXPECTED["executions"])
    assert [deed.arguments for deed in ledger] == [arguments(line) for line in LINES]


def test_the_ledger_on_the_command_line_says_so_beside_the_three(events, capsys):
    show([deed for deed in deeds(events) if deed.tool == "charge_fee"])
    said = " ".join(capsys.readouterr().out.split())

    assert said.count("charge_fee") == EXPECTED["executions"] + EXPECTED["groups"]
    assert "Same action, 3 executions: charge_fee" in said
