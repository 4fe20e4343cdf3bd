import pytest
from model_server import model_server


@pytest.fixture
def server():
    with model_server() as running:
        yield running


@pytest.fixture(autouse=True)
def no_ambient_keys(monkeypatch):
    for name in (
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "OPENAI_ADMIN_KEY",
        "OPENAI_ORG_ID",
        "OPENAI_PROJECT_ID",
        "OPENAI_CUSTOM_HEADERS",
    ):
        monkeypatch.delenv(name, raising=False)
