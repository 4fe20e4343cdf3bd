import pytest
from broken_stores import broken

from spectrace.errors import StoreError
from spectrace.store.conformance.writers import CHECKS


@pytest.mark.parametrize(
    ("store", "check"), broken(CHECKS), ids=lambda it: it.__name__ if isinstance(it, type) else it.claim
)
def test_a_broken_store_is_found_out(store, check):
    log = store()

    with pytest.raises(StoreError):
        check(lambda: log)
