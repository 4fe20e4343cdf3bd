import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectrace.interchange import json_text

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), VALUES, max_size=5), st.sampled_from([None, 1]))
def test_members_are_the_exact_texts_of_an_object(value, indent):
    text = json.dumps(value, indent=indent)

    parts = json_text.members(text)

    assert {name: json.loads(part) for name, part in parts.items()} == value
    assert all(part in text and part == part.strip() for part in parts.values())


@given(st.lists(VALUES, max_size=5), st.sampled_from([None, 1]))
def test_items_are_the_exact_texts_of_an_array(value, indent):
    parts = json_text.items(json.dumps(value, indent=indent))

    assert [json.loads(part) for part in parts] == value


def test_numbers_keep_their_digits():
    text = f'{{"reward": 1.0, "big": 1e400, "long": {"9" * 5000}, "nan": NaN}}'

    assert json_text.members(text) == {"reward": "1.0", "big": "1e400", "long": "9" * 5000, "nan": "NaN"}


@pytest.mark.parametrize(
    "text", ["", "{", '{"a"', '{"a":', '{"a": 1', '{"a": 1,', '{"a" 1}', "{1: 2}", "{} {}", "[1, 2", "[1] 2"]
)
def test_text_that_is_not_one_whole_value_is_an_error(text):
    with pytest.raises(json.JSONDecodeError):
        (json_text.items if text.startswith("[") else json_text.members)(text)


@given(VALUES, st.sampled_from([None, 1]), st.booleans())
def test_a_compact_text_means_the_same_and_depends_on_no_layout(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)

    compact = json_text.compact(text)

    assert json.loads(compact) == value
    assert compact == json_text.compact(json.dumps(value)) == json_text.compact(compact)


def test_a_compact_text_keeps_digits_order_and_lone_surrogates():
    text = '{ "b" : 1.50, "a": "\\u00e4 \\ud83d\\ude00 \\ud83d \\\\u00e4 \\"  \\n" }'

    assert json_text.compact(text) == '{"b":1.50,"a":"ä 😀 \\ud83d \\\\u00e4 \\"  \\n"}'


def test_joined_puts_exact_texts_back_together():
    assert json_text.joined({'a"': "1.0", "b": json_text.joined_items(["[1,2]", "null"])}) == (
        '{"a\\"":1.0,"b":[[1,2],null]}'
    )


def test_a_value_is_read_only_as_the_type_that_is_asked_for():
    assert [json_text.string(text) for text in ('"a\\ud800"', "1", "null", None)] == ["a\ud800", None, None, None]
    assert [json_text.integer(text) for text in ("12", "-3", "1.0", "9" * 30, "null", None, "-", "²")] == [
        12,
        -3,
        *[None] * 6,
    ]
    assert [json_text.is_object("{}"), json_text.is_object("[]"), json_text.is_array("[]")] == [True, False, True]
