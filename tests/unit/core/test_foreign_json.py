"""Objects cut open without being parsed; strict since revision 2."""

import sys

import pytest

from spectrace.core.foreign_json import MAX_DEPTH, MAX_DIGITS, Unreadable, members, refuse_long_numbers, text_at


@pytest.mark.parametrize("strict", [False, True])
def test_members_keep_exact_texts_in_order(strict):
    assert members(' {"a": 1.50, "b" : [1, {"c": "}"}], "d":null}', strict=strict) == {
        "a": "1.50",
        "b": '[1, {"c": "}"}]',
        "d": "null",
    }


def test_a_number_of_any_length_keeps_its_text():
    assert members(f'{{"n": {"9" * 5000}}}', strict=True) == {"n": "9" * 5000}


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('{"a": 1,}', "a comma before the closing brace"),
        ('{"a": {"b": 1,}}', "the value of 'a' is broken or cut off"),
        ('{"a": NaN}', "NaN is not a number"),
        ('{"a": {"b": 1, "b": 2}}', "'b' stands twice"),
        ("{'a': 1}", "the name of a member is broken"),
        ('{"a": "b\\$"}', "the value of 'a' is broken or cut off"),
        ('{"a": "b\nc"}', "the value of 'a' is broken or cut off"),
        ('{"a": "b', "the value of 'a' is broken or cut off"),
        ('{"a": 1', "cut off"),
        ('{"a": 1} {"a": 2}', "text follows"),
        ('{"a": ' + "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1) + "}", "nested more than"),
    ],
)
def test_strictly_what_is_not_json_to_the_letter_is_refused_in_words_of_our_own(text, cause):
    with pytest.raises(Unreadable, match=cause):
        members(text, strict=True)


def test_brackets_inside_a_text_are_no_nesting():
    value = '"' + '[\\"{' * MAX_DEPTH + '"'

    assert members(f'{{"a": {value}}}', strict=True) == {"a": value}


def test_loosely_a_trailing_comma_and_nan_are_read_as_revision_1_read_them():
    assert members('{"a": NaN, "b": {"c": 1, "c": 2},}') == {"a": "NaN", "b": '{"c": 1, "c": 2}'}


@pytest.mark.parametrize(("value", "text"), [('"a\\u0062"', "ab"), ("9" * 6000, None), ("null", None), ('["a"]', None)])
def test_a_member_is_a_text_or_nothing_whatever_else_it_holds(value, text):
    found = members(f'{{"a": {value}}}', strict=True)

    assert (text_at(found, "a"), text_at(found, "b")) == (text, None)


@pytest.mark.parametrize("sign", ["", "-"])
def test_the_longest_number_that_every_python_converts_passes_and_one_more_digit_does_not(sign):
    refuse_long_numbers(f'{{"a": [{sign}{"9" * MAX_DIGITS}, 1.{"0" * 6000}]}}')

    with pytest.raises(Unreadable, match="more than 640 digits"):
        refuse_long_numbers(f'{{"a": [{sign}{"9" * (MAX_DIGITS + 1)}]}}')


def test_no_python_can_be_told_to_convert_fewer_digits():
    assert sys.int_info.str_digits_check_threshold == MAX_DIGITS
