"""What each command makes of an episode with a newer version of an event: refused by name, or carried as it is."""

import asyncio

import pytest
from click.testing import CliRunner

from spectrace.cli import main
from spectrace.core.versions import CLASSES
from spectrace.store.memory import MemoryEventStore
from spectrace.store.sql import open_store
from tests.episodes import record_shop
from tests.shop_log import script
from tests.stored_episodes import blobs_of, chained, put, told_lines


def said(type_):
    """What is said of a version that is one too new."""
    known = CLASSES[type_].VERSION
    return f"is {type_} version {known + 1}; this spectrace knows version {known}. Read it with the spectrace that"


@pytest.fixture(scope="module", params=["verdict.given", "episode.started"])
def log(request, tmp_path_factory):
    """A log whose one episode has one event of a newer version, and that event's type."""
    memory = MemoryEventStore()
    episode = asyncio.run(record_shop(memory)).episode
    events = told_lines(memory, episode)
    at = next(number for number, (header, _) in enumerate(events) if header[3] == request.param)
    events[at] = (
        [*events[at][0][:4], CLASSES[request.param].VERSION + 1, *events[at][0][5:]],
        {**events[at][1], "renamed": "new"},
    )
    lines = chained("newer", events)
    directory = tmp_path_factory.mktemp("newer")
    store = open_store(str(directory / "spectrace.db"))
    put(store, lines, blobs_of(memory, lines))
    store.close()
    return directory, request.param, at


@pytest.fixture
def line(log, monkeypatch):
    monkeypatch.chdir(log[0])
    monkeypatch.setenv("COLUMNS", "4000")
    for name in ("SPECTRACE_DB", "SPECTRACE_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    return lambda *arguments: CliRunner().invoke(main, arguments, prog_name="spectrace")


def words(result):
    return " ".join(result.output.split())


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("replay", "newer"), 125),
        (("why", "newer"), 3),
        (("audit", "actions"), 3),
    ],
)
def test_what_interprets_refuses_it_naming_the_version(log, line, arguments, code):
    result = line(*arguments)

    assert (result.exit_code, said(log[1]) in words(result)) == (code, True), result.output


def test_a_re_verification_refuses_it_before_anything_is_asked(log, line):
    verifier = script(log[0] / "verifier.json", [{"verdict": "accept"}])
    result = line("reverify", "newer", "--verifier", verifier)

    assert (result.exit_code, said(log[1]) in words(result)) == (2, True), result.output


def test_what_only_carries_bytes_works(log, line):
    output = log[0] / f"{log[1]}.bundle"
    codes = [
        line(*arguments).exit_code
        for arguments in (
            ("verify", "newer"),
            ("pack", "newer", "-o", str(output)),
            ("unpack", str(output), "--db", str(log[0] / f"{log[1]}-copy.db")),
            ("verify", "newer", "--db", str(log[0] / f"{log[1]}-copy.db")),
        )
    ]

    assert codes == [0] * 4


def test_show_tells_the_others_and_of_the_newer_its_json(log, line):
    whole, one = line("show", "newer"), line("show", f"newer:{log[2]}")

    assert (whole.exit_code, one.exit_code) == (0, 0), whole.output + one.output
    assert f"{log[1]} version {CLASSES[log[1]].VERSION + 1} is not known to this spectrace: " in words(whole)
    assert '"renamed": "new"' in words(one)


def test_a_listing_goes_on(line):
    assert line("ls").exit_code == 0
