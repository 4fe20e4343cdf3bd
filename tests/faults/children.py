"""Forked children of a test: what a process does that then ends, and what it says of it."""

import os
import traceback
import warnings
from collections.abc import Callable


def fork() -> int:
    """Fork; Python warns from 3.12 on that a process with threads had better not, which is what is tested here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def in_child(work: Callable[[], str]) -> str:
    """Do the work in a forked child and return what it returns, or its traceback."""
    reading, writing = os.pipe()
    pid = fork()
    if pid == 0:
        try:
            said = work()
        except BaseException:  # noqa: BLE001 - the parent shows it
            said = traceback.format_exc()
        os.write(writing, said.encode()[:60_000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    os.waitpid(pid, 0)
    return said
