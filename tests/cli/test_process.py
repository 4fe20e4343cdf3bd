"""What only a process shows: exit codes, stdout's purity, pipes that close, terminals that cannot show a character."""

import json
import os
import subprocess
import sys

import pytest

from tests.shop_log import STRONG_SCRIPT, WEAK_SCRIPT, script

pytestmark = pytest.mark.slow

RUN = ["run", "--env", "shop", "--task", "cancel-own"]


@pytest.fixture
def pair(spectrace):
    weak = script(spectrace.directory / "weak.json", WEAK_SCRIPT)
    strong = script(spectrace.directory / "strong.json", STRONG_SCRIPT)
    return [*RUN, "--weak", weak, "--strong", strong]


@pytest.fixture
def episode(spectrace, pair):
    return spectrace.items(*pair)[0]["episode"]


READING = [["ls"], ["show", "EP:10"], ["why", "EP"], ["replay", "EP"], ["db", "check"]]
"""The others' documents are read in tests/unit/cli, in this process."""


def test_stdout_holds_one_document_and_nothing_else(spectrace, episode):
    for command in READING:
        done = spectrace(*(part.replace("EP", episode) for part in command), "--json")
        document = json.loads(done.stdout)
        name = "-".join(command) if command[0] == "db" else command[0]

        assert (done.returncode, document["schema"]) == (0, f"spectrace.{name}.v1"), done.stderr


def test_a_reader_that_leaves_early_gets_no_complaint(spectrace, episode):
    for command in (["show", episode, "--stored"], ["show", episode, "--json"]):
        process = spectrace.start(*command)
        process.stdout.close()
        complaint = process.stderr.read()
        process.stderr.close()

        assert (process.wait(), complaint) == (141, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a Linux thing")  # noqa: PTH110
@pytest.mark.parametrize("command", [["ls"], ["ls", "--json"], ["--help"]])
def test_a_full_disk_is_said_and_no_bug(spectrace, episode, command):
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "spectrace", *command],
            cwd=spectrace.directory,
            env=spectrace.environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert (done.returncode, done.stderr) == (1, "Error: the output cannot be written: No space left on device.\n")


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_a_stream_that_the_caller_closed_changes_nothing_but_what_is_said(spectrace, episode, closed):
    before = (spectrace.directory / "spectrace.db").read_bytes()
    done = subprocess.run(
        ["/bin/sh", "-c", f'"{sys.executable}" -m spectrace verify --all {closed}'],
        cwd=spectrace.directory,
        env={**spectrace.environment, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert (spectrace.directory / "spectrace.db").read_bytes() == before


def test_a_working_directory_that_is_gone_is_said(spectrace):
    done = subprocess.run(
        [
            "/bin/sh",
            "-c",
            f'mkdir gone && cd gone && rmdir ../gone && exec "{sys.executable}" -c "$1"',
            "sh",
            "from spectrace.cli import main; main(['ls'], 'spectrace')",
        ],
        cwd=spectrace.directory,
        env=spectrace.environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (1, "Error: the working directory no longer exists: change to another.\n")


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
        (["replay", "x", "--tools", "dead"], 2, "'recorded', 'cached', 'live'"),
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


HOSTILE = "\x1b]0;owned\x07\x1b[2J[red]bold[/red]\u202egnp.exe"


@pytest.fixture
def hostile(spectrace):
    replies = [dict(STRONG_SCRIPT[0]["verdict"], reason=HOSTILE)]
    strong = script(spectrace.directory / "strong.json", [{"verdict": replies[0]}, *STRONG_SCRIPT[1:]])
    weak = script(spectrace.directory / "weak.json", WEAK_SCRIPT)
    return spectrace.items(*RUN, "--weak", weak, "--strong", strong)[0]["episode"]


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="pseudo-terminals are a Unix thing")
def test_on_a_terminal_no_recorded_character_is_a_control(spectrace, hostile):
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
