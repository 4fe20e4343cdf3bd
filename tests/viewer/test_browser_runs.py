"""The runs in a real browser: from the list to a report, its charts, and a disagreement in its episode."""

import re
import shutil

import pytest

from spectrace.audit.disagreements import disagreements
from spectrace.audit.queries import open_reader
from spectrace.audit.reverified import read_reverified
from tests.viewer.logs import EVERYTHING
from tests.viewer.test_browser import LIST_ROW_PX, Tab, browser, served
from tests.viewer.test_runs import original

pytestmark = pytest.mark.slow
__all__ = ["browser", "original"]


@pytest.fixture
def judged(original, tmp_path):
    return shutil.copy(original, tmp_path / "log.db")


def row_of(judged, run):
    """The place of a run in the list."""
    with open_reader(str(judged)) as reader:
        return [one.run for one in reader.runs()].index(run)


def first_disagreement(judged):
    with open_reader(str(judged)) as reader:
        found = read_reverified(reader, ["night"])
        return disagreements(found, found.pairs[0])[0]


def test_a_reader_opens_a_run_sees_its_charts_and_a_disagreement_in_its_episode(browser, judged):
    tab, wanted = Tab(browser), first_disagreement(judged)
    with served(judged) as address:
        tab.open(address)
        tab.page.locator(".st-key-to-runs button").click()
        tab.page.get_by_text("judge reviews again").wait_for()
        tab.click_row(".stMainBlockContainer", row=row_of(judged, "night"), height=LIST_ROW_PX, x=16)
        tab.page.wait_for_url("**/?compare=night")
        tab.page.locator(".st-key-methods").wait_for()
        tab.page.locator("[data-testid=stVegaLiteChart] svg, [data-testid=stVegaLiteChart] canvas").first.wait_for()
        tab.settled()
        charts = tab.page.locator("[data-testid=stVegaLiteChart]").count()
        tab.click_row("[class*=st-key-disagreements-]", row=0, height=LIST_ROW_PX, x=16)
        tab.page.wait_for_url(re.compile("episode="))
        tab.page.locator(".st-key-event-title").wait_for()
        opened = tab.page.url

    assert charts == 4
    assert opened == f"{address}/?episode={wanted.episode}&event={wanted.verdict_seq}"
    assert tab.strangers() == set()


def test_hostile_names_are_drawn_as_text_and_nothing_outside_this_machine_is_asked(browser, judged):
    made = "script:not([src]), img, b, i, h1, .katex, a[href^=javascript], [onload], [onerror], iframe"
    tab = Tab(browser)
    with served(judged) as address:
        tab.open(address)
        tab.page.locator(".st-key-to-runs button").click()
        tab.page.get_by_text("judge reviews again").wait_for()
        tab.click_row(".stMainBlockContainer", row=row_of(judged, EVERYTHING), height=LIST_ROW_PX, x=16)
        tab.page.locator(".st-key-methods").wait_for()
        tab.page.locator("[data-testid=stVegaLiteChart] svg, [data-testid=stVegaLiteChart] canvas").first.wait_for()
        tab.settled()
        elements = tab.page.locator(f".stMain :is({made})").all_inner_texts()
        shown = tab.page.locator(".stMain").inner_text()
        title = tab.page.title()

    assert (elements, title) == ([], "spectrace")
    assert "<script>document.title='XSS'</script>" in shown
    assert tab.strangers() == set()
