"""What only a process shows: exit codes, what is on stdout, pipes that close, terminals that cannot show a character."""

import json
import os
import subprocess
import sys

import pytest

from tests.shop_log import STRONG_SCRIPT, WEAK_SCRIPT, script

RUN = ["run", "--env", "shop", "--task", "cancel-own"]


@pytest.fixture
def pair(spectrace):
    weak = script(spectrace.directory / "weak.json", WEAK_SCRIPT)
    strong = script(spectrace.directory / "strong.json", STRONG_SCRIPT)
    return [*RUN, "--weak", weak, "--strong", strong]


@pytest.fixture
def episode(spectrace, pair):
    return spectrace.items(*pair)[0]["episode"]


READING = [
    ["ls"],
    ["show", "EP"],
    ["show", "EP:10"],
    ["why", "EP"],
    ["rejections"],
    ["replay", "EP"],
    ["runs"],
    ["audit", "actions"],
    ["verify", "EP"],
    ["db", "check"],
    ["db", "stats"],
    ["doctor"],
]


def test_stdout_holds_one_document_and_nothing_else(spectrace, episode):
    for command in READING:
        done = spectrace(*(part.replace("EP", episode) for part in command), "--json")
        document = json.loads(done.stdout)
        name = "-".join(command[:2]) if command[0] == "db" else "actions" if command[0] == "audit" else command[0]

        assert (done.returncode, document["schema"]) == (0, f"spectrace.{name}.v1"), done.stderr


def test_a_reader_that_leaves_early_gets_no_complaint(spectrace, episode):
    for command in (["show", episode, "--stored"], ["show", episode, "--json"]):
        process = spectrace.start(*command)
        process.stdout.read(1)
        process.stdout.close()
        complaint = process.stderr.read()
        process.stderr.close()

        assert (process.wait(), complaint) == (141, "")


def test_a_terminal_of_ascii_gets_escapes_instead_of_an_error(spectrace, episode):
    done = spectrace("why", episode, env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})

    assert (done.returncode, done.stdout.isascii()) == (0, True)


def test_ids_travel_through_a_pipe(spectrace, episode):
    done = spectrace("verify", "-", "--json", input=f"{episode[:8]}\n")

    assert json.loads(done.stdout)["items"][0]["episode"] == episode


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([*RUN, "--weak", "nobody", "--strong", "nobody"], 2, "no model is named 'nobody'"),
        (["run", "--env", "shop", "--task", "none"], 2, "no task 'none'"),
        (
            [*RUN, "--weak", "openai:x@http://127.0.0.1:1", "--strong", "openai:x@http://127.0.0.1:1"],
            1,
            "Start the server",
        ),
        (["ls"], 2, "there is no database"),
        (["ls", "--db", "mysql://x/y"], 2, "a database is a path"),
        (["ls", "--db", "folder"], 2, "is a directory"),
        (["db", "upgrade", "--db", "/proc/log.db"], 2, "/proc/log.db"),
        (["ls", "--db", "postgresql://user:secret@127.0.0.1:1/x"], 2, "127.0.0.1"),
        (["replay", "x", "--tools", "dead"], 2, "'recorded', 'live'"),
    ],
)
def test_an_error_is_one_paragraph_without_a_traceback(spectrace, arguments, code, words):
    (spectrace.directory / "folder").mkdir()
    done = spectrace(*arguments)

    assert (done.returncode, words in done.stderr, "Traceback" in done.stderr) == (code, True, False), done.stderr
    assert "secret" not in done.stderr


def test_a_missing_extra_says_what_to_install(spectrace):
    blocked = (
        "import sys; sys.modules['xllamacpp'] = None; sys.argv[0] = 'spectrace'; from spectrace.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", blocked, *RUN, "--weak", "local:weak", "--strong", "local:strong"],
        cwd=spectrace.directory,
        env=spectrace.environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, "pip install 'spectrace[local]'" in done.stderr, "Traceback" in done.stderr) == (
        2,
        True,
        False,
    )


def test_help_and_version_load_no_model_sdk(spectrace):
    program = (
        "import sys\nfrom spectrace.cli import main\n"
        "try:\n    main(['ls', '--help'])\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('openai', 'xllamacpp', 'streamlit', 'tau2') if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=spectrace.directory, capture_output=True, text=True, check=True
    )

    assert done.stderr == "[]\n"


HOSTILE = "\x1b]0;owned\x07\x1b[2J[red]bold[/red]\u202egnp.exe\x9b31m"


@pytest.fixture
def hostile(spectrace):
    """An episode whose model, tool names and reasons are out to get the reader."""
    weak = script(
        spectrace.directory / "weak.json",
        [
            {"action": {"tool": f"cancel{HOSTILE}", "arguments": {}}, "reasoning": HOSTILE},
            {"action": {"tool": "cancel_order", "arguments": {"order_id": HOSTILE}}},
            {"action": {"finish": HOSTILE}},
        ],
    )
    rejection = {"verdict": "reject", "first_wrong": 2, "category": "other", "reason": HOSTILE, "replacement": None}
    strong = script(
        spectrace.directory / "strong.json",
        [
            {"verdict": rejection},
            {"action": {"tool": "find_customer", "arguments": {"name_or_email": HOSTILE}}},
            {"verdict": "accept"},
        ],
    )
    (item,) = spectrace.items(*RUN, "--weak", weak, "--strong", strong, "--name", HOSTILE, "--label", f"x={HOSTILE}")
    return item["episode"]


CONTROLS = {chr(code) for code in [*range(32), 127, *range(128, 160)]} - {"\n"} | set("\u202e")


def test_no_recorded_character_reaches_the_terminal_as_a_control(spectrace, hostile):
    commands = [
        ["ls"],
        ["ls", "--grep", "owned"],
        ["show", hostile],
        ["show", hostile, "--follow"],
        *(["show", f"{hostile}:{seq}"] for seq in range(0, 30, 3)),
        ["show", f"{hostile}:8", "--stored"],
        ["why", hostile],
        ["rejections", "--by", "category,tool"],
        ["runs"],
        ["audit", "actions"],
        ["replay", hostile],
        ["verify", hostile],
        ["show", HOSTILE],
    ]
    for command in commands:
        done = spectrace(*command, env={"COLUMNS": "200"})

        assert not CONTROLS & set(done.stdout + done.stderr), command
        assert "Traceback" not in done.stderr, command


def test_hostile_text_is_exact_in_json(spectrace, hostile):
    (item,) = spectrace.items("why", hostile)

    assert item["reason"] == HOSTILE


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="pseudo-terminals are a Unix thing")
def test_on_a_terminal_too_no_recorded_character_is_a_control(spectrace, hostile):
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "spectrace", "why", hostile],
        cwd=spectrace.directory,
        env=spectrace.environment | {"TERM": "xterm-256color", "COLUMNS": "100"},
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    ):
        os.close(theirs)
        shown = b""
        while True:
            try:
                data = os.read(ours, 65536)
            except OSError:
                break
            if not data:
                break
            shown += data
    os.close(ours)

    assert b"\\x1b]0;owned\\x07" in shown
    assert b"\x1b]" not in shown
    assert b"\x1b[2J" not in shown
    assert b"\x07" not in shown
