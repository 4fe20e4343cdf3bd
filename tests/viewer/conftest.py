"""Fixtures of the viewer's tests: logs recorded once, and pages drawn on them without a browser."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.viewer.logs import hostile_log, shop_log

pytest.importorskip("streamlit", reason="the viewer's tests need spectrace[viewer]")

from streamlit import config
from streamlit.testing.v1 import AppTest

config.set_option("server.address", "127.0.0.1")  # AppTest reads no file; the one beside the app says this

APP = Path(__file__).resolve().parents[2] / "viewer" / "app.py"

Draw = Callable[..., AppTest]


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A log with three shop episodes, and their ids."""
    path = tmp_path_factory.mktemp("shop") / "log.db"
    return path, shop_log(path)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A log with one episode of hostile texts, and its id."""
    path = tmp_path_factory.mktemp("hostile") / "log.db"
    return path, hostile_log(path)


@pytest.fixture
def draw(monkeypatch: pytest.MonkeyPatch) -> Draw:
    """A function that draws a page of a log: `draw(path, episode=ID, event=4)`."""

    def drawn(log: Path | str, **address: object) -> AppTest:
        monkeypatch.setenv("SPECTRACE_DB", str(log))
        page = AppTest.from_file(str(APP), default_timeout=30)
        for name, value in address.items():
            page.query_params[name] = value if isinstance(value, list) else str(value)
        return page.run()

    return drawn
