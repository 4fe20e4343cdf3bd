"""A user's expression is searched for as `re` does it, and no text keeps it for ever."""

import re
import time

import pytest

from spectrace.errors import UsageError
from spectrace.store.bounded_regex import BoundedRegex


@pytest.mark.parametrize("text", ["", "ana@example.com", "ANA@EXAMPLE.COM", "Zoë\n🙂 \ud800", "x" * 300_000])
@pytest.mark.parametrize("expression", [r"ana@\w+\.com$", r"Zoë\s🙂", "\ud800", "x{1000}$"])
@pytest.mark.parametrize("flags", [0, re.IGNORECASE])
def test_it_finds_what_re_finds(expression, flags, text):
    sought = BoundedRegex(expression, flags)

    assert sought.found(text) == bool(re.search(expression, text, flags))


def test_one_process_serves_all_texts():
    sought = BoundedRegex("b", 0)
    found = [sought.found(text) for text in ("abc", "", "acd", "b")]

    assert found == [True, False, False, True]


def test_one_that_would_never_end_is_stopped_and_said_and_the_next_text_is_searched():
    sought = BoundedRegex("(a+)+$", 0, limit_s=0.3)
    began = time.monotonic()
    with pytest.raises(UsageError, match=r"stopped after 0\.3 s on one text of 41 characters"):
        sought.found("a" * 40 + "b")

    assert time.monotonic() - began < 3
    assert sought.found("aaa")
