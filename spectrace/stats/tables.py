"""The two by two table of `accept everything?`, where some answers are open: between what its statistics lie.

Of kappa and AC1 the least and the most are found without trying every way to fill the table in. Kappa is a ratio of two
linear functions of each single cell, hence monotone in it, so at its ends every cell with one open side is filled
alike, and of those with both sides open only (both, neither) or (one, other) are used. AC1 depends on how many differ
and how many accepts there are: for each number of accepts the fewest and the most that may differ are enough.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import product

Table = Counter[tuple[bool | None, bool | None]]
"""How many reviews (the recorded verdict accepts, the new one accepts); None: it left the review open."""

Shares = tuple[float, float, float]
"""Both accept, the first accepts, the second accepts."""

_BOTH, _FIRST, _SECOND, _NONE = (True, True), (True, False), (False, True), (False, False)


def extremes(table: Table) -> Iterator[Shares]:
    """Yield the shares of filled tables, among them those where kappa and AC1 are least and most."""
    yield from _corners(table)
    yield from _path(table)


def _corners(table: Table) -> Iterator[Shares]:
    open_ = [key for key in table if (key[0] is None) != (key[1] is None) and table[key]]
    for filled in product((True, False), repeat=len(open_)):
        made = _judged(table)
        for (old, new), accepts in zip(open_, filled, strict=True):
            made[accepts if old is None else old, accepts if new is None else new] += table[old, new]
        neither = table[None, None]
        for one, other in ((_BOTH, _NONE), (_FIRST, _SECOND)):
            for n in range(neither + 1):
                yield _shares(made + Table({one: n, other: neither - n}))


def _path(table: Table) -> Iterator[Shares]:
    """Yield, for each number of accepts among the open answers, a table where fewest differ, and one where most do."""
    easy, hard = table[True, None] + table[None, True], table[False, None] + table[None, False]
    fixed, free = _judged(table), table[None, None]
    for accepts in range(easy + hard + 2 * free + 1):
        for fewest in (True, False):
            with_accept, with_reject, both_open = _spread(accepts, easy, hard, free, fewest=fewest)
            made = Table(fixed)
            apart = both_open % 2 if fewest else min(both_open, 2 * free - both_open)
            by_first, by_second = min(easy - with_accept, table[True, None]), min(with_reject, table[False, None])
            made[_FIRST] += by_first + with_reject - by_second + apart
            made[_SECOND] += easy - with_accept - by_first + by_second
            made[_BOTH] += with_accept + (both_open - apart) // 2
            made[_NONE] += hard - with_reject + free - apart - (both_open - apart) // 2
            yield _shares(made)


def _spread(accepts: int, easy: int, hard: int, free: int, *, fewest: bool) -> tuple[int, int, int]:
    """Return how many open answers beside an accept, beside a reject, and beside an open one are accepts."""
    if fewest:
        with_accept = min(accepts, easy)
        both_open = min(accepts - with_accept, 2 * free)
        return with_accept, accepts - with_accept - both_open, both_open
    with_reject = min(accepts, hard)
    both_open = min(accepts - with_reject, 2 * free)
    return accepts - with_reject - both_open, with_reject, both_open


def _judged(table: Table) -> Table:
    return Table({key: n for key, n in table.items() if None not in key})


def _shares(table: Table) -> Shares:
    n, both = max(table.total(), 1), table[_BOTH]
    return both / n, (both + table[_FIRST]) / n, (both + table[_SECOND]) / n
