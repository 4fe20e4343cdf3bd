"""The viewer in a real browser against a really started server: clicks, links, hostile texts, and who is spoken to."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.viewer.conftest import APP
from tests.viewer.logs import hostile_log, long_log, shop_log

sync_api = pytest.importorskip("playwright.sync_api")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if CHROMIUM is None and os.environ.get("CI") != "true":
    pytest.skip("no Chromium is installed: apt install chromium", allow_module_level=True)

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
HEADER_PX, LIST_ROW_PX, TIMELINE_ROW_PX = 34, 33, 28
"""The tables are drawn on a canvas: rows are found by their height."""
HEADER = -1
WAIT_MS = 30_000


@contextmanager
def served(log: Path) -> Iterator[str]:
    """Serve a log on a free port; yield the address."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(APP), f"--server.port={port}"]
    server = subprocess.Popen(
        command, env={**os.environ, "SPECTRACE_DB": str(log)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait(address, server)
        yield address
    finally:
        server.terminate()
        server.wait(10)


def _wait(address: str, server: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 60
    while True:
        assert server.poll() is None, "the server ended"
        assert time.monotonic() < deadline, "the server did not answer within 60 s"
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=2).close()  # noqa: S310 - our own server
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
        else:
            return


@pytest.fixture(scope="module")
def browser() -> Iterator["sync_api.Browser"]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@dataclass(frozen=True)
class Site:
    """A served log: the shop's episodes, then the hostile one."""

    address: str
    rejected: str
    hostile: str


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    log = tmp_path_factory.mktemp("site") / "log.db"
    ids, episode = shop_log(log), hostile_log(log)
    with served(log) as address:
        yield Site(address, ids["rejected"], episode)


class Tab:
    """A browser window of its own that remembers every address it spoke to."""

    def __init__(self, browser: "sync_api.Browser") -> None:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(WAIT_MS)
        self.page = context.new_page()
        self.spoken_to: set[str] = set()
        self.page.on("request", lambda request: self.spoken_to.add(request.url))
        self.page.on("websocket", lambda socket_: self.spoken_to.add(socket_.url))

    def open(self, address: str) -> None:
        self.page.goto(address)
        self.settled()

    def settled(self) -> None:
        """Wait until the server's script has run and the page stands still."""
        self.page.wait_for_selector(".st-key-bar")
        self.page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")

    def click_row(self, table: str, row: int, height: int, x: int = 260) -> None:
        canvas = self.page.locator(f"{table} canvas").first
        canvas.wait_for()
        self.page.wait_for_timeout(400)  # the canvas takes clicks only once it has been laid out
        box = canvas.bounding_box()
        assert box is not None
        self.page.mouse.click(box["x"] + x, box["y"] + HEADER_PX + row * height + height // 2)

    def strangers(self) -> set[str]:
        """Return the hosts spoken to that are not this machine; addresses inside the page have none."""
        own = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:", "about:")
        return {url for url in self.spoken_to if not url.startswith(own)}


@pytest.mark.slow
def test_a_reader_opens_an_episode_sees_why_it_was_rejected_and_selects_an_event(browser, site):
    tab = Tab(browser)
    title = tab.page.locator(".st-key-event-title")
    tab.open(site.address)
    tab.page.locator(".st-key-rejected label").click()
    tab.page.wait_for_url("**/?rejected=true")
    tab.page.get_by_text("2 episodes  ·").wait_for()
    for _ in range(2):  # by task, downwards
        tab.click_row(".stMainBlockContainer", row=HEADER, height=LIST_ROW_PX, x=560)
    tab.page.locator("canvas tbody tr").first.get_by_text(site.rejected).wait_for(state="attached")
    sorted_at = tab.page.url
    tab.click_row(".stMainBlockContainer", row=0, height=LIST_ROW_PX, x=16)
    tab.page.get_by_text("find the customer first", exact=True).wait_for()
    opened = tab.page.url
    tab.click_row(".st-key-pane", row=3, height=TIMELINE_ROW_PX)
    title.get_by_text("#3 generate.requested").wait_for()
    selected = tab.page.url
    tab.page.reload()
    title.get_by_text("#3 generate.requested").wait_for()
    tab.page.locator(".st-key-goto-verdict-0 button").click()
    title.get_by_text("#10 verdict.given").wait_for()
    tab.page.go_back()
    title.get_by_text("#3 generate.requested").wait_for()
    tab.page.go_back()
    tab.page.go_back()
    tab.page.get_by_text("2 episodes  ·").wait_for()
    left = tab.page.url

    assert sorted_at == f"{site.address}/?rejected=true"
    assert opened == f"{site.address}/?episode={site.rejected}"
    assert selected == f"{site.address}/?episode={site.rejected}&event=3"
    assert left == f"{site.address}/?rejected=true"
    assert tab.strangers() == set()
    assert len(tab.spoken_to) > 10


@pytest.mark.slow
def test_hostile_texts_stay_texts_and_nothing_outside_this_machine_is_asked(browser, site):
    made = "script:not([src]), img, b, i, h1, .katex, a[href^=javascript], [onload], [onerror], iframe"
    tab = Tab(browser)
    for query in ("", f"?episode={site.hostile}", f"?episode={site.hostile}&event=10"):
        tab.open(f"{site.address}/{query}")
        tab.page.wait_for_selector("canvas")

        assert tab.page.locator(f".stMain :is({made})").all_inner_texts() == [], query
        assert tab.page.title() == "spectrace"
    shown = tab.page.locator(".stMain").inner_text()

    assert "<script>document.title='XSS'</script>" in shown
    assert "![pixel](http://198.51.100.7/m.png)" in shown
    assert tab.strangers() == set()


@pytest.mark.slow
def test_a_big_field_is_usable_at_once_and_its_download_is_exact(browser, tmp_path):
    text = "".join(chr(0x21 + n) for n in range(94)) * 212_766
    episode = long_log(tmp_path / "log.db", text, calls=1)
    tab = Tab(browser)
    with served(tmp_path / "log.db") as address:
        tab.open(address)
        begun = time.monotonic()
        tab.open(f"{address}/?episode={episode}&event=7")
        tab.page.wait_for_selector(".st-key-download-0 button")
        took = time.monotonic() - begun
        with tab.page.expect_download() as downloaded:
            tab.page.locator(".st-key-download-0 button").click()
        got = Path(downloaded.value.path()).read_text()

    assert got == text
    assert took < 10  # 5 s on an idle machine; tests share theirs
