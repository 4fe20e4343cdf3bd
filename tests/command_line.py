"""The command line in this process: exit codes, what stdout and stderr hold, the items of a JSON document."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from spectrace.cli import main


class Line:
    """The command line, in this process."""

    def __init__(self) -> None:
        self.runner = CliRunner()

    def __call__(self, *arguments: str, **given) -> Result:
        return self.runner.invoke(main, [str(argument) for argument in arguments], prog_name="spectrace", **given)

    def items(self, *arguments: str, code: int = 0) -> list[dict]:
        """Run with --json; return the items, having checked the document and that nothing else is on stdout."""
        result = self(*arguments, "--json")
        assert result.exit_code == code, result.output
        document = json.loads(result.stdout)
        assert set(document) == {"schema", "items"}
        return document["items"]


def in_a_directory(monkeypatch: pytest.MonkeyPatch, directory: Path) -> Line:
    """Return the command line in a directory of its own, without the settings of whoever runs the tests."""
    for name in ("SPECTRACE_DB", "SPECTRACE_CONFIG", "SPECTRACE_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.chdir(directory)
    return Line()
