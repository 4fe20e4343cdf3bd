"""A log with one rejected, repaired and completed shop episode, and the command line to ask it with."""

import json
import shutil

import pytest
from click.testing import CliRunner, Result

from spectrace.cli import main
from spectrace.runs.live import Labels
from spectrace.store.sql import open_store
from tests.shop_log import recorded


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


@pytest.fixture
def line(monkeypatch, tmp_path) -> Line:
    for name in ("SPECTRACE_DB", "SPECTRACE_CONFIG", "SPECTRACE_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.chdir(tmp_path)
    return Line()


@pytest.fixture(scope="session")
def original(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "spectrace.db"
    store = open_store(str(path))
    episode = recorded(store, labels=Labels(run="first", labels=(("team", "x"),)))
    store.close()
    return path, episode


@pytest.fixture
def episode(original, line, tmp_path) -> str:
    """The episode's id; the log lies in the working directory, under the default name."""
    shutil.copy(original[0], tmp_path / "spectrace.db")
    return original[1]
