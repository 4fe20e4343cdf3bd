"""A report in a real browser with no network: it asks for nothing but itself, says nothing to the console, fits."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from spectrace.audit.queries import open_reader
from spectrace.audit.report import Wanted, report
from spectrace.audit.report_page import write
from tests.viewer.logs import hostile_log, shop_log

sync_api = pytest.importorskip("playwright.sync_api")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if CHROMIUM is None and os.environ.get("CI") != "true":
    pytest.skip("no Chromium is installed: apt install chromium", allow_module_level=True)

pytestmark = pytest.mark.slow

LIGHT, DARK = "rgb(255, 255, 255)", "rgb(21, 23, 27)"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report on the shop's episodes and a hostile one."""
    directory = tmp_path_factory.mktemp("report")
    shop_log(directory / "log.db")
    hostile_log(directory / "log.db")
    url, file = str(directory / "log.db"), directory / "report.html"
    wanted = Wanted(title="<b onload=alert(1)>Report", url=url, selection="the whole log")
    with open_reader(url) as reader, report(reader, wanted) as made, file.open("wb") as out:
        write(made, out)
    return file


@pytest.fixture(scope="module")
def browser() -> Iterator["sync_api.Browser"]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


class Tab:
    """A tab that remembers every address it asked for and every word in the console."""

    def __init__(self, browser: "sync_api.Browser", file: Path, width: int = 1280, **how: str) -> None:
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True, **how)
        self.page = context.new_page()
        self.asked: list[str] = []
        self.said: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("dialog", lambda dialog: self.said.append(dialog.message))
        self.page.goto(file.as_uri())
        for closed in self.page.locator("summary").all():
            closed.click()


def test_nothing_but_the_file_is_asked_for_and_nothing_runs(browser, page):
    tab = Tab(browser, page)
    for link in tab.page.locator("nav a").all():
        link.click()

    assert {one.partition("#")[0] for one in tab.asked} == {page.as_uri()}
    assert tab.said == []
    assert tab.page.locator("script, img, iframe, link, object, embed, form, input").count() == 0
    assert tab.page.title() == "<b onload=alert(1)>Report"


@pytest.mark.parametrize(("scheme", "paper"), [("light", LIGHT), ("dark", DARK)])
def test_it_has_a_light_and_a_dark_scheme(browser, page, scheme, paper):
    tab = Tab(browser, page, color_scheme=scheme)

    assert tab.page.evaluate("getComputedStyle(document.body).backgroundColor") == paper


@pytest.mark.parametrize("width", [360, 400, 640, 1280])
def test_no_page_is_wider_than_its_screen(browser, page, width):
    tab = Tab(browser, page, width)

    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width


def test_on_paper_it_is_dark_on_white_and_its_tables_are_unfolded(browser, page, tmp_path):
    context = browser.new_context(color_scheme="dark")
    tab = context.new_page()
    tab.goto(page.as_uri())
    tab.emulate_media(media="print")
    tab.pdf(path=tmp_path / "report.pdf", format="A4")

    assert tab.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert tab.locator("#by-time").is_visible()
    assert (tmp_path / "report.pdf").stat().st_size > 20_000


def test_the_pictures_have_names_and_descriptions_for_those_who_do_not_see_them(browser, page):
    tab = Tab(browser, page)
    pictures = tab.page.get_by_role("img")

    assert pictures.count() == 2
    assert tab.page.get_by_role("img", name="Actions by day and outcome").count() == 1
    assert "10 actions" in tab.page.locator("#by-time-desc").text_content()
