import click
import pytest

from spectrace.cli import group, main
from spectrace.cli.group import COMMANDS, exit_code
from spectrace.errors import (
    Conflict,
    EnvironmentFailed,
    EpisodeNotFound,
    MissingExtra,
    ModelFailed,
    NewerSchema,
    ReplayDiverged,
    StoreError,
    Unsettled,
    Untestable,
    UsageError,
)


def commands(command=main, name="spectrace"):
    if not isinstance(command, click.Group):
        return [(name, command)]
    context = click.Context(command)
    return [
        found
        for child in command.list_commands(context)
        for found in commands(command.get_command(context, child), f"{name} {child}")
    ]


@pytest.mark.parametrize(("name", "command"), commands(), ids=lambda value: value if isinstance(value, str) else "")
def test_every_command_has_json_and_help_of_one_sentence(name, command):
    options = {option for param in command.params for option in param.opts}
    first, *rest = (command.help or "").strip().splitlines()

    assert "--json" in options
    assert (first.endswith("."), rest) == (True, [])


def test_every_option_says_what_it_does():
    silent = [
        f"{name} {param.opts[0]}"
        for name, command in commands()
        for param in command.params
        if isinstance(param, click.Option) and not param.help
    ]

    assert silent == []


def test_help_lists_every_command_and_cuts_no_sentence(line):
    shown = line("--help").stdout

    assert [name for name in COMMANDS if f"  {name} " not in shown] == []
    assert "..." not in shown.partition("Commands:")[2]


def test_help_fits_80_columns(line):
    assert max(len(row) for row in line("--help").stdout.splitlines()) <= 80


def test_it_says_its_version(line):
    assert line("--version").stdout == "spectrace, version 0.1.0\n"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("x"), 2),
        (MissingExtra("x", "y"), 2),
        (StoreError("x"), 2),
        (NewerSchema("x"), 2),
        (EpisodeNotFound("x"), 2),
        (Conflict("x"), 1),
        (ModelFailed("server", "x"), 1),
        (EnvironmentFailed("crashed", "x"), 1),
        (ReplayDiverged(1, "x"), 1),
        (Untestable("x"), 125),
        (Unsettled("x"), 3),
    ],
)
def test_each_error_has_its_exit_code(error, code):
    assert exit_code(error) == code


def test_an_error_is_one_paragraph_on_stderr_and_stdout_stays_empty(line):
    result = line("ls", "--json")

    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert result.stderr.startswith("Error: there is no database")


def test_an_unknown_command_is_a_usage_error(line):
    result = line("frobnicate")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "No such command 'frobnicate'" in result.stderr


@pytest.fixture
def broken(monkeypatch):
    """A command that raises what it is given."""

    def install(error):
        @click.command()
        def raises():
            raise error

        monkeypatch.setattr(group.Commands, "get_command", lambda _self, _context, _name: raises)

    return install


def test_what_nobody_foresaw_is_a_paragraph_that_asks_for_the_debug_switch(line, broken):
    broken(ZeroDivisionError("by zero"))
    result = line("ls")

    assert (result.exit_code, result.stdout) == (1, "")
    assert "ZeroDivisionError: by zero" in result.stderr
    assert "SPECTRACE_DEBUG=1" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_debug_switch_shows_the_traceback(line, broken):
    broken(ZeroDivisionError("by zero"))
    result = line("ls", env={"SPECTRACE_DEBUG": "1"})

    assert "Traceback" in result.stderr


def test_an_interrupt_is_one_line_and_130(line, broken):
    broken(KeyboardInterrupt())
    result = line("ls")

    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "Interrupted.\n")


def test_an_errors_text_cannot_reach_the_terminal_as_control_characters(line, broken):
    broken(StoreError("evil \x1b[31m name"))

    assert "\\x1b[31m" in line("ls").stderr
    assert "\x1b" not in line("ls").stderr
