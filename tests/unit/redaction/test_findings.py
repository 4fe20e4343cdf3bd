"""Places that do not overlap."""

from spectrace.redaction.findings import PLACEHOLDER, Found, merged, words


def test_overlapping_places_become_one_that_holds_both():
    found = merged("0123456789", [Found(4, 8, "secret", "b"), Found(2, 6, "secret", "a"), Found(9, 10, "secret", "c")])

    assert [(one.start, one.end, one.why) for one in found] == [(2, 8, "a"), (9, 10, "c")]


def test_a_place_inside_another_keeps_what_the_outer_one_says():
    found = merged("0123456789", [Found(2, 8, "secret", "a", "decoded"), Found(3, 5, "secret", "b")])

    assert found == [Found(2, 8, "secret", "a", "decoded")]


def test_a_placeholder_is_never_a_finding_and_what_stands_beside_it_is():
    text = "x REDACTED-secret-0123456789ab, REDACTED-secret-0123456789ac; hunter2 "

    assert [text[one.start : one.end] for one in merged(text, [Found(2, len(text), "secret", "a")])] == ["; hunter2"]
    assert merged(text, [Found(2, text.index(";"), "secret", "a")]) == []


def test_a_placeholder_ends_where_its_digest_does():
    assert PLACEHOLDER.search("REDACTED-secret-0123456789ab0 behind")[0] == "REDACTED-secret-0123456789ab"
    assert PLACEHOLDER.search("REDACTED-my-own-0123456789abz")[0] == "REDACTED-my-own-0123456789ab"


def test_words_are_split_at_spaces():
    assert words("a b\n c") == {"a", "b", "c"}
