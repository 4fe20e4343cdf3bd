"""Which database is shown, and by what name."""

import pytest

from tests.viewer.conftest import APP as _APP  # noqa: F401 - skips without streamlit
from viewer import source


def test_the_argument_after_the_dashes_wins_over_the_environment(monkeypatch):
    monkeypatch.setenv("SPECTRACE_DB", "sqlite:///environment.db")

    assert source.database(["--db", "sqlite:///argument.db"]) == "sqlite:///argument.db"
    assert source.database([]) == "sqlite:///environment.db"


def test_without_either_the_default_is_shown(monkeypatch):
    monkeypatch.delenv("SPECTRACE_DB", raising=False)

    assert source.database(["-q", "something/else"]) == "sqlite:///spectrace.db"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("sqlite:///logs/a.db", "logs/a.db"),
        ("logs/a.db", "logs/a.db"),
        ("postgresql+psycopg://ada:secret@db.example:5432/log?password=secret", "db.example/log"),
        ("postgresql:///log", "local socket/log"),
        ("postgresql://[", "a database whose URL cannot be read"),
    ],
)
def test_a_database_is_named_without_user_and_password(url, shown):
    assert source.shown(url) == shown
