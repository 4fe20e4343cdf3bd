"""Recorded text is drawn literally: no element that reads markdown or HTML ever holds any of it."""

import pytest

from tests.viewer.conftest import Draw
from tests.viewer.logs import HOSTILE
from tests.viewer.test_episodes import texts

pytestmark = pytest.mark.slow

READS_MARKDOWN = ("markdown", "title", "header", "subheader", "caption", "error", "warning", "info", "success", "latex")
OURS = ("198.51.100.7", "script>", "onload", "javascript:", "$5", ":red[")


def labels(page) -> list[str]:
    """Return every text of a page that Streamlit would read as markdown."""
    shown = [one.value for kind in READS_MARKDOWN for one in getattr(page, kind)]
    widgets = [*page.button, *page.multiselect, *page.text_input, *page.toggle, *page.download_button]
    return [*map(str, shown), *(f"{one.label} {getattr(one, 'help', '')}" for one in widgets)]


@pytest.mark.parametrize("seq", [None, 0, 3, 10, 19])
def test_no_recorded_text_is_in_an_element_that_reads_markdown(draw: Draw, hostile, seq):
    log, episode = hostile

    page = draw(log, episode=episode, **({} if seq is None else {"event": seq}))

    assert len(page.exception) == 0
    assert [text for text in labels(page) if any(part in text for part in OURS)] == []


def test_the_list_keeps_recorded_text_in_its_table(draw: Draw, hostile):
    page = draw(hostile[0])

    assert page.dataframe[0].value["task"].iloc[0] == HOSTILE["title"]
    assert [text for text in labels(page) if any(part in text for part in OURS)] == []


def test_recorded_text_is_shown_as_it_stands_and_its_hidden_characters_are_visible(draw: Draw, hostile):
    shown = texts(draw(hostile[0], episode=hostile[1]))

    for name in ("script", "image", "svg", "link", "markdown_image", "math", "dollars", "heading", "directive"):
        assert HOSTILE[name] in shown
    assert r"abc\u202edef\u2066\x1b[31m" in shown
    assert "\u202e" not in shown


def test_the_style_sheet_is_the_only_html(draw: Draw, hostile):
    page = draw(hostile[0], episode=hostile[1], event=10)

    html = [one.proto.body for one in page.get("html")]

    assert len(html) == 1
    assert html[0].startswith("<style>")
