import pytest

from spectrace.errors import UsageError
from spectrace.store.compression import CURRENT, dictionary
from spectrace.store.training import SIZES, main, samples


@pytest.mark.parametrize("number", SIZES)
def test_a_dictionary_is_never_written_over(number):
    with pytest.raises(UsageError, match=rf"v{number}\.zdict exists and never changes"):
        main(str(number))


def test_every_dictionary_is_as_long_as_it_was_made():
    assert {number: len(dictionary(number)) for number in SIZES} == SIZES
    assert set(CURRENT) <= set(SIZES)


@pytest.mark.parametrize("number", SIZES)
def test_what_is_trained_on_is_the_same_each_time(number):
    assert samples(number, range(2)) == samples(number, range(2)) != samples(number, range(1, 3))
