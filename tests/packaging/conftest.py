import pytest

from tests.packaging.installed import Installed, build_wheel, install


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def spectrace(wheel, tmp_path_factory) -> Installed:
    """The wheel with its viewer, in an environment of its own."""
    return install(wheel, "[viewer]", tmp_path_factory.mktemp("installed"))


@pytest.fixture(scope="session")
def recorded(spectrace) -> Installed:
    """The same, after a demonstration: its directory holds a spectrace.db."""
    spectrace.run("demo", "--models", "scripted")
    return spectrace
