"""Ctrl-C in the middle of a statement: it comes out as it is, and the next write works."""

import pytest

from spectrace.store.interruptions import interruption_of, unmasked
from spectrace.store.sql import open_store
from tests.copies import made_once
from tests.interrupting import interrupted_everywhere, read, write


def empty(url):
    open_store(url).close()


@pytest.mark.slow
@pytest.mark.parametrize("work", [write, read])
def test_an_interruption_anywhere_comes_out_as_it_is_and_the_next_write_works(database_url, work):
    made_once(database_url, empty)
    lines, wrong = interrupted_everywhere(database_url, work, step=7)

    assert lines > 200
    assert wrong == []


def fails_as_it_closes(error):
    try:
        raise error
    finally:
        raise RuntimeError("closing failed")


def test_what_an_interruption_led_to_does_not_take_its_place():
    interruption = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt) as caught, unmasked():
        fails_as_it_closes(interruption)

    assert caught.value is interruption


def test_an_error_that_an_error_led_to_stays():
    with pytest.raises(RuntimeError, match="closing failed"), unmasked():
        fails_as_it_closes(ValueError())


def wind_down(error):
    with unmasked():
        raise error


def wind_down_after(interruption, error):
    try:
        wind_down(interruption)
    except KeyboardInterrupt:
        wind_down(error)


def test_an_error_in_winding_down_after_an_interruption_is_no_interruption():
    with pytest.raises(ValueError, match="the disk is full"):
        wind_down_after(KeyboardInterrupt(), ValueError("the disk is full"))


def test_an_interruption_is_found_behind_its_consequences():
    assert interruption_of(None) is None
    assert interruption_of(ValueError()) is None
    assert type(interruption_of(KeyboardInterrupt())) is KeyboardInterrupt
