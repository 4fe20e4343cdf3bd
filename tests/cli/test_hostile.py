"""Recorded text that is out to get its reader, through every command that shows any. In this process: many commands."""

import json

import pytest
from click.testing import CliRunner

from spectrace.cli import main
from tests.shop_log import script

pytestmark = pytest.mark.slow

HOSTILE = "\x1b]0;owned\x07\x1b[2J[red]bold[/red]\u202egnp.exe\x9b31m"
CONTROLS = {chr(code) for code in [*range(32), 127, *range(128, 160)]} - {"\n"} | set("\u202e")
RUN = ["run", "--env", "shop", "--task", "cancel-own", "--name", HOSTILE, "--label", f"x={HOSTILE}"]


def spectrace(*arguments):
    return CliRunner().invoke(main, list(arguments), prog_name="spectrace")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """An episode whose models put control characters into tools, arguments, answers, reasons and reasoning."""
    folder = tmp_path_factory.mktemp("hostile")
    weak = script(
        folder / "weak.json",
        [
            {"action": {"tool": f"cancel{HOSTILE}", "arguments": {}}, "reasoning": HOSTILE},
            {"action": {"tool": "cancel_order", "arguments": {"order_id": HOSTILE}}},
            {"action": {"finish": HOSTILE}},
        ],
    )
    rejection = {"verdict": "reject", "first_wrong": 2, "category": "other", "reason": HOSTILE, "replacement": None}
    strong = script(
        folder / "strong.json",
        [
            {"verdict": rejection},
            {"action": {"tool": "find_customer", "arguments": {"name_or_email": HOSTILE}}},
            {"verdict": "accept"},
        ],
    )
    database = str(folder / "log.db")
    done = spectrace(*RUN, "--weak", weak, "--strong", strong, "--db", database, "--json")
    return database, json.loads(done.stdout)["items"][0]["episode"]


COMMANDS = [
    ["ls"],
    ["ls", "--grep", "owned"],
    ["show", "EP"],
    ["show", "EP", "--follow"],
    ["show", "EP", "--stored"],
    *(["show", f"EP:{seq}"] for seq in range(33)),
    ["show", "EP:8", "--as", "prompt"],
    ["why", "EP"],
    ["rejections", "--by", "category,tool"],
    ["runs"],
    ["runs", HOSTILE],
    ["cost", "EP"],
    ["cost", "EP", "--reference", HOSTILE],
    ["audit", "actions"],
    ["replay", "EP"],
    ["verify", "EP"],
    ["show", HOSTILE],
    ["ls", "--sort", HOSTILE],
]


@pytest.mark.parametrize("width", ["80", "200"])
def test_no_recorded_character_reaches_the_terminal_as_a_control(hostile, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", width)
    database, episode = hostile
    for command in COMMANDS:
        done = spectrace(*(part.replace("EP", episode) for part in command), "--db", database)

        assert not CONTROLS & set(done.output), command
        assert max(map(len, done.stdout.splitlines()), default=0) <= int(width), command
        assert done.exit_code in {0, 2}, (command, done.output)
        assert "bug" not in done.stderr, (command, done.stderr)


def test_hostile_text_is_exact_in_json(hostile):
    database, episode = hostile
    (item,) = json.loads(spectrace("why", episode, "--db", database, "--json").stdout)["items"]

    assert item["reason"] == HOSTILE
