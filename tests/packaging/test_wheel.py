"""The wheel holds what it needs and works where nothing of the checkout can be seen."""

import hashlib
import json
import re
import socket
import subprocess
import time
import urllib.error
import urllib.request
from importlib.metadata import version
from zipfile import ZipFile

import pytest

from tests.packaging.installed import ROOT, clean_environment

pytestmark = pytest.mark.packaging

CARRIED = {
    "spectrace": "spectrace",
    "migrations": "spectrace/_migrations",
    "viewer": "spectrace/_viewer",
    "schemas": "spectrace/_schemas",
}
START_S = 60


def files(folder: str) -> set[str]:
    found = (path.relative_to(ROOT / folder) for path in (ROOT / folder).rglob("*") if path.is_file())
    return {path.as_posix() for path in found if "__pycache__" not in path.parts}


def items(done: subprocess.CompletedProcess[str]) -> list[dict[str, object]]:
    return json.loads(done.stdout)["items"]


def get(url: str) -> str:
    """Return the page, waiting for its server to start."""
    until = time.monotonic() + START_S
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 - an http URL of ours
                return answer.read().decode()
        except (urllib.error.URLError, ConnectionError):
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_the_wheel_holds_the_package_migrations_viewer_and_schemas_and_no_more(wheel):
    names = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}

    assert names == {f"{home}/{path}" for folder, home in CARRIED.items() for path in files(folder)}


def test_the_wheel_names_no_directory_of_the_machine_that_built_it(wheel):
    archive = ZipFile(wheel)

    assert [name for name in archive.namelist() if str(ROOT).encode() in archive.read(name)] == []


def test_it_says_its_version(spectrace):
    assert spectrace.run("--version").stdout.split()[-1] == version("spectrace")


def test_it_prints_the_schema_of_an_event(spectrace):
    (item,) = items(spectrace.run("schema", "verdict.given", "--json"))

    assert item["schema"] == json.loads((ROOT / "schemas" / "events" / "verdict.given.v1.json").read_text())


def test_it_makes_a_database(spectrace):
    (spectrace.directory / "new.db").touch()
    spectrace.run("db", "upgrade", "--db", "sqlite:///new.db")

    assert (spectrace.directory / "new.db").stat().st_size > 0


def test_what_the_demonstration_recorded_is_consistent(recorded):
    results = {item["result"] for item in items(recorded.run("verify", "--all", "--json"))}

    assert results == {"consistent"}


def test_what_the_demonstration_recorded_replays_the_same(recorded):
    results = {item["result"] for item in items(recorded.run("replay", "--all", "--json"))}

    assert results == {"same"}


def test_what_the_demonstration_recorded_is_signed_verified_and_reported(recorded):
    recorded.run("checkpoint", "key", "desk.example/log", "-o", "log.key")
    recorded.run("checkpoint", "create", "-o", "signed", "--key", "log.key")
    proof = ("--checkpoint", "signed", "--key", "log.key.pub")
    results = {item["result"] for item in items(recorded.run("verify", "--all", *proof, "--json"))}
    (report,) = items(recorded.run("audit", "report", "-o", "audit.html", *proof, "--json"))
    page = (recorded.directory / "audit.html").read_bytes()

    assert results == {"valid"}
    assert (report["bytes"], report["sha256"]) == (len(page), hashlib.sha256(page).hexdigest())
    assert page.lower().startswith(b"<!doctype html>")


def test_the_viewer_answers_on_loopback(recorded):
    port = free_port()
    viewer = subprocess.Popen(
        [recorded.command, "view", "--port", str(port), "--no-browser"],
        cwd=recorded.directory,
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
    )
    try:
        health = get(f"http://127.0.0.1:{port}/_stcore/health")
        page = get(f"http://127.0.0.1:{port}/")
    finally:
        viewer.terminate()
        viewer.wait(30)

    assert health == "ok"
    assert re.search(r"<title>.*</title>", page)
