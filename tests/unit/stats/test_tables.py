from collections import Counter
from itertools import combinations_with_replacement, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spectrace.stats.agreement import ac1_of, kappa_of
from spectrace.stats.tables import Table, extremes

CELLS = list(product((True, False, None), repeat=2))
TABLES = st.dictionaries(st.sampled_from(CELLS), st.integers(0, 4), min_size=1).map(Table)


def every_way(table):
    """Every table that the open answers may make."""
    ways = [Counter()]
    for (old, new), n in table.items():
        choices = [(a, b) for a in (True, False) for b in (True, False) if old in {a, None} and new in {b, None}]
        ways = [one + Counter(filled) for one in ways for filled in combinations_with_replacement(choices, n)]
        ways = list({frozenset(one.items()): one for one in ways}.values())
    return ways


def shares(table):
    n, both = max(table.total(), 1), table[True, True]
    return both / n, (both + table[True, False]) / n, (both + table[False, True]) / n


@settings(max_examples=150, deadline=None)
@given(TABLES)
def test_the_extremes_are_those_of_every_way_to_fill_the_table_in(table):
    every, found = [shares(one) for one in every_way(table)], list(extremes(table))

    assert set(found) <= set(every)
    for statistic in (kappa_of, ac1_of):
        expected, values = ([v for one in those if (v := statistic(one)) is not None] for those in (every, found))
        assert [min(values, default=None), max(values, default=None)] == [
            one if one is None else pytest.approx(one)
            for one in (min(expected, default=None), max(expected, default=None))
        ]


def test_a_table_without_an_open_answer_is_itself():
    table = Table({(True, True): 6, (True, False): 2, (False, False): 2})

    assert set(extremes(table)) == {(0.6, 0.8, 0.6)}
