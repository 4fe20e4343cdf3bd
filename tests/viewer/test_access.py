"""Who is shown anything, asked of a really started Streamlit in a real browser."""

import json
import os
import socket
import subprocess
import sys
from contextlib import closing, contextmanager

import pytest

from tests.viewer.conftest import APP
from tests.viewer.test_browser import WAIT_MS, _wait, browser, sync_api  # noqa: F401 - a fixture
from viewer.access import is_local, is_named

pytestmark = pytest.mark.slow

ANY = "0.0.0.0"  # noqa: S104 - nothing is shown there, or only after a login
SECRET = "0123456789abcdef" * 2
AUTH = (
    f'[auth]\nredirect_uri = "http://127.0.0.1:1/oauth2callback"\ncookie_secret = "{SECRET}"\nclient_id = "c"\n'
    'client_secret = "s"\nserver_metadata_url = "http://127.0.0.1:1/none"\n'
)
RECORDED = "cancel-own"


@contextmanager
def served(log, folder, *flags, secrets=None):
    """Serve a log as somebody does who runs Streamlit directly, in a folder with these secrets."""
    if secrets is not None:
        (folder / ".streamlit").mkdir()
        (folder / ".streamlit" / "secrets.toml").write_text(secrets)
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(APP), f"--server.port={port}", "--server.headless=true"]
    server = subprocess.Popen(
        [*command, *flags],
        cwd=folder,
        env={**os.environ, "SPECTRACE_DB": str(log), "HOME": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait(address, server)
        yield address
    finally:
        server.terminate()
        server.wait(10)


def shown(browser, address, words, query="", cookie=None) -> str:  # noqa: F811 - the fixture's value
    """Open a page, wait for words and return all of its text."""
    context = browser.new_context()
    if cookie is not None:
        context.add_cookies([{"name": "_streamlit_user", "value": cookie, "url": address}])
    page = context.new_page()
    try:
        page.goto(f"{address}/{query}")
        page.get_by_text(words).first.wait_for(timeout=WAIT_MS)
        return page.inner_text("body")
    finally:
        context.close()


def signed(address, **claims) -> str:
    """Return the cookie that Streamlit gives to whoever has logged in."""
    from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

    value = create_signed_value(
        SECRET, "_streamlit_user", json.dumps({"origin": address, "is_logged_in": True, **claims})
    )
    return value.decode() if isinstance(value, bytes) else value


def test_an_open_address_without_a_login_shows_nothing(browser, shop, tmp_path):  # noqa: F811
    with served(shop[0], tmp_path, f"--server.address={ANY}") as address:
        for query in ("", f"?episode={shop[1]['rejected']}", "?runs=", "?compare=x"):
            text = shown(browser, address, "The viewer shows nothing here", query)

            assert "no login is configured" in text
            assert RECORDED not in text
            assert str(shop[0]) not in text


def test_with_a_login_every_page_asks_for_it_first_and_names_nothing(browser, shop, tmp_path):  # noqa: F811
    with served(shop[0], tmp_path, f"--server.address={ANY}", secrets=AUTH) as address:
        for query in ("", f"?episode={shop[1]['rejected']}", "?runs=", "?compare=x"):
            text = shown(browser, address, "Log in", query)

            assert RECORDED not in text
            assert str(shop[0]) not in text


def test_whoever_has_logged_in_and_is_named_sees_the_log(browser, shop, tmp_path):  # noqa: F811
    users = '[spectrace]\nusers = ["*@example.org"]\n'
    with served(shop[0], tmp_path, f"--server.address={ANY}", secrets=AUTH + users) as address:
        named = signed(address, email="ana@example.org", email_verified=True)
        other = signed(address, email="eve@example.net", email_verified=True)

        assert str(shop[0]) in shown(browser, address, "3 episodes", cookie=named)
        assert RECORDED not in shown(browser, address, "You are not let in here", cookie=other)
        assert RECORDED not in shown(browser, address, "Log in", cookie=named[:-4] + "AAAA")


@pytest.mark.parametrize(
    ("email", "verified", "users", "named"),
    [
        ("ana@example.org", True, None, True),
        ("", None, None, True),
        ("ana@example.org", True, ["Ana@example.org"], True),
        ("ana@example.org", None, ["*@example.org"], True),
        ("ana@example.org", False, ["*@example.org"], False),
        ("ana@example.org.evil.net", True, ["*@example.org"], False),
        ("bob@example.org", True, ["ana@example.org"], False),
        ("", True, ["*"], False),
        ("ana@example.org", True, [], False),
        ("ana@example.org", True, "ana@example.org", False),
    ],
)
def test_those_named_are_let_in(email, verified, users, named):
    assert is_named(email, verified, users) is named


@pytest.mark.parametrize(
    ("address", "local"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), (ANY, False), ("", False), (None, False)],
)
def test_no_address_is_every_address(address, local):
    assert is_local(address) is local
