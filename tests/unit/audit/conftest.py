import pytest

from spectrace.audit.queries import Reader
from spectrace.store.memory import MemoryEventStore
from tests.shop_log import recorded


@pytest.fixture
def store():
    return MemoryEventStore()


@pytest.fixture
def episode(store):
    return recorded(store)


@pytest.fixture
def reader(store):
    return Reader(store)
