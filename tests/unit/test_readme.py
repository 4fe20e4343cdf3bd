import re
import subprocess
import sys

import pytest
from readme import README, listed_rules, rewritten

TEXT = README.read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def example() -> tuple[str, str]:
    """Return the README's program and what it is said to print."""
    program, _ = PROGRAMS
    return program, re.findall(r"```text\n(.*?)```", TEXT, re.DOTALL)[0]


def test_the_example_runs_without_key_server_or_warning_and_prints_what_it_says(tmp_path):
    program, printed = example()
    (tmp_path / "example.py").write_text(program)

    command = [sys.executable, "-W", "error", "example.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (done.stdout, done.stderr) == (printed, "")


def test_the_tests_of_an_agent_run_and_the_one_without_a_recording_says_how_to_make_it(tmp_path):
    (tmp_path / "test_agent.py").write_text(PROGRAMS[1])
    command = [sys.executable, "-m", "pytest", "-W", "error", "-p", "no:cacheprovider", "-q", "test_agent.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert "2 failed, 2 passed" in done.stdout  # neither a recording nor runs.db is there
    assert "--spectrace-record" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} <= {"test_agent.py", "__pycache__"}


def test_the_commands_are_listed_as_they_are():
    assert rewritten(TEXT) == TEXT, "run `make readme`"


def test_the_rules_of_the_audit_are_listed_as_they_are():
    assert listed_rules() in TEXT, "put the markers of tests/readme.py into the README, then run `make readme`"


@pytest.mark.parametrize("target", sorted(set(re.findall(r"(?:^|`)make ([a-z-]+)", TEXT, re.MULTILINE))))
def test_every_make_target_that_is_named_is_there(target):
    makefile = (README.parent / "Makefile").read_text()

    assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(r"`((?:spectrace|tests|migrations|viewer|schemas)/[^` ]*)`", TEXT)))
)
def test_every_path_in_the_map_is_there(path):
    assert (README.parent / path).exists(), path
