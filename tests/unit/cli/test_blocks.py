import pytest

from spectrace.cli.blocks import blocks

HEADER = ["", "one", "two", "three"]
ROWS = [["row", "1", "22", "3"], ["r", "4", "5", "a wide cell"]]


@pytest.mark.parametrize(
    ("width", "heads"),
    [
        (26, [["", "one", "two", "three"]]),
        (25, [["", "one", "two"], ["", "three"]]),
        (12, [["", "one"], ["", "two"], ["", "three"]]),
        (1, [["", "one"], ["", "two"], ["", "three"]]),
    ],
)
def test_each_block_has_the_titles_and_as_many_columns_as_fit(monkeypatch, width, heads):
    monkeypatch.setenv("COLUMNS", str(width))
    found = blocks(HEADER, ROWS)

    assert [block[0] for block in found] == heads
    assert [[row[0] for row in block] for block in found] == [["", "row", "r"]] * len(heads)


def test_nothing_of_a_row_is_lost(monkeypatch):
    monkeypatch.setenv("COLUMNS", "12")

    assert [[block[number][1] for block in blocks(HEADER, ROWS)] for number in (1, 2)] == [ROWS[0][1:], ROWS[1][1:]]


def test_hidden_characters_count_as_they_are_shown(monkeypatch):
    monkeypatch.setenv("COLUMNS", "11")

    assert blocks(["", "\x1b", "b"], [["x", "1", "2"]]) == [[["", "\\x1b", "b"], ["x", "1", "2"]]]
