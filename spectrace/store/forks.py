"""What a forked child inherits of open databases is its parent's: never used (`Database` refuses), and never closed.

Not even at the child's end, where a driver would say goodbye to the server, or fold in a write-ahead log, on its
parent's behalf, or wait for a lock that a thread held which the fork did not copy.
"""

import ctypes
import os
from functools import cache
from typing import Protocol
from weakref import WeakSet


class Opened(Protocol):
    """Something with connections."""

    def left_to_the_parent(self) -> None:
        """Called in a child: let go of what is the child's own to let go of."""
        ...


_OPENED: "WeakSet[Opened]" = WeakSet()


def keep_from_children(opened: Opened) -> None:
    """Have every later fork leave `opened` alone in the child."""
    _hook()
    _OPENED.add(opened)


@cache
def _hook() -> None:
    if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
        os.register_at_fork(after_in_child=_forked)


def _forked() -> None:
    for opened in list(_OPENED):
        # One reference too many: nothing in this child ever finalises its connections.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(opened))
        opened.left_to_the_parent()
