import pytest

from spectrace.errors import UsageError
from spectrace.store.compression import dictionary
from spectrace.store.training import SIZE, bodies, main


def test_a_dictionary_is_never_written_over():
    with pytest.raises(UsageError, match=r"v1\.zdict exists and never changes"):
        main("1")


def test_the_shipped_dictionary_is_small():
    assert len(dictionary(1)) == SIZE <= 64 << 10


def test_training_bodies_are_the_same_each_time():
    assert bodies(range(2)) == bodies(range(2))
