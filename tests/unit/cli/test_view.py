import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

VIEW = [sys.executable, "-m", "spectrace", "view"]


@pytest.fixture
def viewer(episode, tmp_path):
    """A viewer with --json on a free port: the process and what it said of itself."""
    started = []

    def start(*arguments):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SPECTRACE_")}
        with (tmp_path / "stderr").open("w") as stderr:
            process = subprocess.Popen(
                [*VIEW, *arguments, "--no-browser", "--json"],
                cwd=tmp_path,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )
        started.append(process)
        text = ""
        while not text.endswith("}\n") or text.count("{") != text.count("}"):
            text += process.stdout.readline()
        return process, json.loads(text)["items"][0]

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.slow
def test_it_answers_on_this_machine_only_and_ends_with_its_parent(viewer, episode, tmp_path):
    process, said = viewer(f"{episode[:8]}:10")
    port = said["port"]

    assert said["url"] == f"http://127.0.0.1:{port}/?episode={episode}&event=10"
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health") as answer:
        assert answer.read() == b"ok"

    process.send_signal(signal.SIGTERM)

    assert process.wait(30) == 0
    assert "Streamlit" not in (tmp_path / "stderr").read_text()  # where the viewer is, is said by us alone
    with socket.socket() as probe, pytest.raises(ConnectionRefusedError):
        probe.connect(("127.0.0.1", port))


def test_a_taken_port_is_said(line, episode):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = line("view", "--port", str(taken.getsockname()[1]))

    assert (result.exit_code, "is taken" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("event", "words"), [("zz", "no episode"), ("{}:99", "events 0 to 45"), ("{}:x", "SEQ a number")]
)
def test_what_is_not_there_is_said_before_anything_starts(line, episode, event, words):
    result = line("view", event.format(episode))

    assert (result.exit_code, words in result.stderr) == (2, True)


def test_a_missing_database_is_said_before_anything_starts(line):
    assert line("view").exit_code == 2
