"""Messages without secrets."""

import pytest

from spectrace.cli import console
from spectrace.cli.messages import without_secrets
from tests.command_line import in_a_directory


@pytest.fixture
def line(monkeypatch, tmp_path):
    return in_a_directory(monkeypatch, tmp_path)


def test_a_message_keeps_its_words_and_loses_its_secret():
    told = without_secrets("connection failed: postgresql://app:FAKEpw9@db/prod refused")

    assert ("FAKEpw9" in told, told.startswith("connection failed: postgresql://app:REDACTED-secret-")) == (False, True)


def test_what_is_said_and_noted_holds_no_secret(capsys):
    console.say("password=FAKEpw9")
    with console.progress() as progress:
        progress.note("password=FAKEpw9")

    told = capsys.readouterr().err
    assert ("FAKEpw9" in told, told.count("REDACTED-secret-")) == (False, 2)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://app:FAKEpw9@127.0.0.1:1/prod",
        "postgresql://app:FAKEpw9@127.0.0.1:port/prod",
        "postgresql://127.0.0.1:1/prod?user=app&password=FAKEpw9",
        "nosuch://app:FAKEpw9@127.0.0.1/prod",
        "postgresql+nosuch://app:FAKEpw9@127.0.0.1/prod",
    ],
)
@pytest.mark.parametrize("debug", ["", "1"])
def test_a_database_that_cannot_be_reached_is_named_without_its_password(line, url, debug):
    result = line("ls", "--db", url, env={"SPECTRACE_DEBUG": debug})

    assert (result.exit_code, "FAKEpw9" in result.output, "Error: " in result.stderr) == (2, False, True)


def test_what_the_command_line_itself_refuses_is_repeated_without_its_secret(line):
    result = line("ls", "postgresql://app:FAKEpw9@db/prod")

    assert (result.exit_code, "FAKEpw9" in result.output, "unexpected extra argument" in result.stderr) == (
        2,
        False,
        True,
    )
