"""`spectrace view`: the viewer in a browser, on this machine only unless a login is configured (`view_address`)."""

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from urllib.parse import urlencode

import click

from spectrace.audit.queries import open_reader
from spectrace.cli import console, document
from spectrace.cli.options import db_option, json_option
from spectrace.cli.select import event_of
from spectrace.cli.view_address import LOCAL, allowed_hosts
from spectrace.config import database_url
from spectrace.errors import MissingExtra, SpectraceError, UsageError
from spectrace.store.database import parse_url
from spectrace.store.evidence import opened

_FIRST_PORT, _PORTS = 8501, 100
_START_S = 60.0
_POLL_S = 0.1
_PACKAGE = Path(__file__).resolve().parents[1]
_PLACES = (_PACKAGE / "_viewer" / "app.py", _PACKAGE.parent / "viewer" / "app.py")
"""In the wheel, and in a checkout."""

_STRICT = (
    "--server.enableCORS=true",  # said here, so that no config.toml where it is started says otherwise
    "--server.enableXsrfProtection=true",
    "--server.xsrfCookieSameSite=strict",
    "--server.enableStaticServing=false",
    "--client.showErrorDetails=none",
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the viewer listens, and by which names it may be asked for."""

    address: str
    hosts: list[str]

    @property
    def host(self) -> str:
        """As an address of the web names it."""
        if self.address in {"0.0.0.0", "::"}:  # noqa: S104 - as it was given; a login is configured
            return LOCAL
        return f"[{self.address}]" if ":" in self.address else self.address


@click.command()
@click.argument("event", required=False, metavar="[EP[:SEQ]]")
@click.option("--port", type=click.IntRange(1, 65535), help=f"[default: the first free one from {_FIRST_PORT}]")
@click.option("--address", default=LOCAL, show_default=True, help="Where to listen; elsewhere a login is needed.")
@click.option("--no-browser", "--headless", is_flag=True, help="Open no browser; only say where the viewer is.")
@db_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    event: str | None,
    port: int | None,
    address: str,
    db: str | None,
    *,
    no_browser: bool,
    as_json: bool,
) -> None:
    """Look at a log in a browser: read-only, on 127.0.0.1, until Ctrl-C."""
    place = Place(address, allowed_hosts(address))
    if importlib.util.find_spec("streamlit") is None:
        raise MissingExtra("The viewer", "viewer")
    with opened(database_url(db)) as evidence:  # kept as long as the viewer runs: it opens it anew for each drawing
        if evidence.note is not None:
            console.say(evidence.note)
        ctx.exit(_served(evidence.url, event, place, port, no_browser=no_browser, as_json=as_json))


def _served(url: str, event: str | None, place: Place, port: int | None, *, no_browser: bool, as_json: bool) -> int:
    """Run the viewer until it ends; return the exit code."""
    query = _query(url, event)
    if port is not None and not _free(place.address, port):
        raise UsageError(f"port {port} of {place.address} is taken: choose another, or leave --port out.")
    chosen = port or next(
        (number for number in range(_FIRST_PORT, _FIRST_PORT + _PORTS) if _free(place.address, number)), 0
    )
    if not chosen:
        raise UsageError(f"no port from {_FIRST_PORT} on is free: choose one with --port.")
    address = f"http://{place.host}:{chosen}/{query}"
    environment = {**os.environ, "SPECTRACE_DB": _absolute(url)}
    server = subprocess.Popen(_command(place, chosen), env=environment, stdout=sys.stderr)  # noqa: S603 - our own interpreter and script
    _stop_with_us(server)
    try:
        _wait(server, place, chosen)
        if as_json:
            document.write("view", [{"url": address, "port": chosen}])
            sys.stdout.flush()
        else:
            console.line("The viewer is at ", (address, "name"), " until Ctrl-C.")
        if not no_browser:
            webbrowser.open(address)
        code = server.wait()
    except KeyboardInterrupt:
        code = 0
    finally:
        _end(server)
    return 0 if code in {0, -signal.SIGTERM, -signal.SIGINT} else 1


def _query(url: str, event: str | None) -> str:
    """Return the address's query for an episode or event; the log is opened once, so that a wrong path is said here."""
    with open_reader(url) as reader:
        if event is None:
            return ""
        name, seq = event_of(event)
        episode = reader.resolve(name)
        if seq is None:
            return "?" + urlencode({"episode": episode})
        reader.event(episode, seq)
        return "?" + urlencode({"episode": episode, "event": seq})


def _absolute(url: str) -> str:
    """Return the database by its whole path: the viewer's process is another one."""
    return parse_url(url).render_as_string(hide_password=False)


def _command(place: Place, port: int) -> list[str]:
    app = next((place for place in _PLACES if place.is_file()), None)
    if app is None:
        raise UsageError(f"the viewer is missing ({_PLACES[0]}): this installation is damaged; install it again.")
    return [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        str(app),
        f"--server.address={place.address}",
        *(f"--server.allowedHosts={host}" for host in place.hosts),
        f"--server.port={port}",
        "--server.headless=true",
        "--server.fileWatcherType=none",
        *_STRICT,
        "--browser.gatherUsageStats=false",
        "--logger.hideWelcomeMessage=true",
    ]


def _free(address: str, port: int) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError:
            return False
        return True


def _wait(server: "subprocess.Popen[bytes]", place: Place, port: int) -> None:
    """Wait until the viewer answers."""
    deadline = time.monotonic() + _START_S
    while server.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"http://{place.host}:{port}/_stcore/health", timeout=1):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(_POLL_S)
    raise SpectraceError(f"the viewer did not start within {_START_S:.0f} s; what it said stands above.")


def _stop_with_us(server: "subprocess.Popen[bytes]") -> None:
    """Let SIGTERM end the viewer too, not only this process."""

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        server.terminate()

    signal.signal(signal.SIGTERM, stop)


def _end(server: "subprocess.Popen[bytes]") -> None:
    if server.poll() is None:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
