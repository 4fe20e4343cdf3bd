"""Ctrl-C in the middle of a statement comes out as Ctrl-C, whatever the library that it hit fails with as it unwinds.

SQLAlchemy gives up a connection that is interrupted; closing the transaction on it may then fail, as may closing a
transaction that was half begun (PendingRollbackError, AssertionError). Such an error is a consequence. It would take
the interruption's place, and a command would end as if it had a bug.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


def interruption_of(error: BaseException | None, before: BaseException | None = None) -> BaseException | None:
    """Return the interruption that an error is, or that was being unwound when it was raised; None if there is none.

    `before` was being handled at the beginning: whoever writes the end of an interrupted run may meet a true error.
    """
    while error is not None and error is not before:
        if not isinstance(error, Exception):
            return error
        error = error.__context__
    return None


@contextmanager
def unmasked() -> Iterator[None]:
    """Raise an interruption that happens inside in place of what it led to."""
    before = sys.exc_info()[1]
    try:
        yield
    except Exception as error:
        interruption = interruption_of(error, before)
        if interruption is None:
            raise
        raise interruption from None
