"""Which tests of the contracts are the slow part on Postgres: those that ask for an empty schema again and again."""

from pathlib import Path

import pytest

SLOW_ON_POSTGRES = {"test_hard_copies", "test_hard_dialogues", "test_hard_inputs", "test_tampering"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark them; each also runs on SQLite in the quick part, and the store's own checks on Postgres too."""
    for item in items:
        parameters = getattr(item, "callspec", None)
        asks = "postgres_url" in getattr(item, "fixturenames", ()) or (
            parameters is not None and "postgres" in parameters.params.values()
        )
        if asks and Path(item.path).stem in SLOW_ON_POSTGRES:
            item.add_marker(pytest.mark.slow)
