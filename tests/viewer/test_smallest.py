"""The smallest episodes (H27) are drawn like any other."""

import pytest

from spectrace.store.sql import open_store
from tests.smallest import BEGUN, SCRIPTS, record_smallest
from tests.viewer.conftest import Draw

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def smallest(tmp_path_factory):
    path = tmp_path_factory.mktemp("smallest") / "log.db"
    store = open_store(str(path))
    made = record_smallest(store)
    store.close()
    return path, made


def test_they_are_listed(draw: Draw, smallest):
    page = draw(smallest[0])

    assert len(page.exception) == 0
    assert len(page.dataframe[0].value) == len(smallest[1])


@pytest.mark.parametrize("name", [*SCRIPTS, BEGUN])
def test_each_has_a_page(draw: Draw, smallest, name):
    log, made = smallest

    for address in ({}, {"event": 0}):
        page = draw(log, episode=made[name], **address)
        assert ([one.value for one in page.exception], [one.value for one in page.error]) == ([], [])
