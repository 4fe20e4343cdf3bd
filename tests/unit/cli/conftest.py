"""A log with one rejected, repaired and completed shop episode, and the command line to ask it with."""

import shutil

import pytest

from spectrace.runs.live import Labels
from spectrace.store.sql import open_store
from tests.command_line import Line, in_a_directory
from tests.shop_log import recorded


@pytest.fixture
def line(monkeypatch, tmp_path) -> Line:
    return in_a_directory(monkeypatch, tmp_path)


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
