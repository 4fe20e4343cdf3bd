import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectrace.audit.visible import one_line, shortened, visible

HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ünïcode 数", "plain ünïcode 数"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("bell\x07 \x9b2J \x7f", "bell\\x07 \\x9b2J \\x7f"),
        ("abc\u202ecba\u2066", "abc\\u202ecba\\u2066"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("lone \ud800 surrogate", "lone \\ud800 surrogate"),
        ("line\u2028separator", "line\\u2028separator"),
        ("tag \U000e0041", "tag \\U000e0041"),
        ("[bold]markup[/bold]", "[bold]markup[/bold]"),
        ("back\\slash", "back\\slash"),
    ],
)
def test_hidden_characters_come_out_as_their_escapes(text, shown):
    assert visible(text) == shown


def test_line_breaks_and_tabs_stand_only_where_lines_are_asked_for():
    assert (visible("a\n\tb\r", lines=True), visible("a\n\tb\r")) == ("a\n    b\\r", "a\\n\\tb\\r")


def test_on_one_line_a_line_break_is_drawn():
    assert one_line("a\nb\r\nc\x1b") == "a⏎b\\r⏎c\\x1b"


def test_a_cut_says_how_much_is_missing():
    cut = shortened("x" * 100, 40)

    assert (len(cut) <= 40, cut) == (True, "x" * 22 + "… (+78 characters)")


def test_what_fits_is_not_cut():
    assert shortened("x" * 40, 40) == "x" * 40


@given(st.text(st.characters(), max_size=50))
def test_nothing_hidden_is_left_in_any_text(text):
    assert not {unicodedata.category(character) for character in visible(text) + one_line(text)} & HIDDEN
