"""Checks of what an environment says of itself: each fails on an environment that breaks it."""

import pytest
from broken_environments import broken_for, require_found

from spectrace.testing.conformance.described import CHECKS


@pytest.mark.parametrize("name", broken_for(CHECKS))
def test_a_broken_promise_is_found_where_it_is_broken(name):
    require_found(name)
