"""A name is found however its reference is written; a JSON text that looks like one is none."""

from spectrace.audit.text_names import WRITTEN, all_names, names, written
from spectrace.store.texts import MARK

FIRST, SECOND = (f"sha256:{digit * 64}" for digit in "ab")
CANONICAL = f'{{"a":{{"$blob":"{FIRST}"}},"b":{{"$blob":"{SECOND}"}}}}'.encode()
SPACED = f'{{"a": {{"codec":"bytes","$blob":"{FIRST}"}}}}'.encode()


def link(body):
    return (0, "step.drafted", b"[]", body, b"", b"")


def test_names_come_in_the_order_of_the_body():
    assert names(CANONICAL) == [FIRST, SECOND]


def test_a_reference_that_was_not_written_here_is_parsed():
    assert names(SPACED) == [FIRST]
    assert all_names([link(CANONICAL), link(SPACED)]) == {FIRST, SECOND}


def test_no_body_and_a_quoted_reference_name_nothing():
    assert names(None) == ()
    assert names(rb'{"text":"{\"$blob\":\"sha256:00\"}"}') == ()


def test_what_follows_the_mark_is_as_long_as_it_says():
    after = CANONICAL.split(MARK)[1]

    assert after[:WRITTEN] == written(FIRST)
