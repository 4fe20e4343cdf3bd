import gc
import os
import sys

import pytest

from spectrace.store.forks import keep_from_children


class Opened:
    """Says when it is finalised."""

    def __init__(self, said: int) -> None:
        self.said = said

    def left_to_the_parent(self) -> None:
        os.write(self.said, b"left ")

    def __del__(self) -> None:
        os.write(self.said, b"closed ")


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_what_a_child_inherits_is_left_and_never_finalised_in_it():
    reading, writing = os.pipe()
    opened = Opened(writing)
    keep_from_children(opened)
    child = os.fork()
    if child == 0:
        del opened
        gc.collect()
        os.write(writing, f"refs {sys.getrefcount(child)} "[:4].encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    opened.said = os.open(os.devnull, os.O_WRONLY)

    assert said == "left refs"
