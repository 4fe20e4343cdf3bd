"""H21: what is no recording, or not the one that was named, is refused; nothing is asked, run or overwritten."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from spectrace.cli import main
from spectrace.store.sql import open_store
from tests.shop_log import STRONG_SCRIPT, WEAK_SCRIPT, recorded, script

MANNERS = {
    "record": (),
    "check": ("--check",),
    "tools": ("--tools", "live"),
    "models": ("--models", "live"),
}
DAMAGED = {
    "zero": b"",
    "not-utf-8": b"\xff\xfe\x00 no recording \xc3",
    "cut": None,
}


@pytest.fixture(params=MANNERS.values(), ids=MANNERS)
def manner(request, tmp_path):
    """How to replay; live models would leave their first answer's trace in a file that is not there."""
    live = "--models" in request.param
    weak, strong = (script(tmp_path / f"{who}.json", []) for who in ("weak", "strong"))
    return (*request.param, *(("--weak", weak, "--strong", strong) if live else ()))


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A database and a bundle of one episode, and its id."""
    folder = tmp_path_factory.mktemp("recording")
    store = open_store(str(folder / "log.db"))
    episode = recorded(store)
    store.close()
    packed = CliRunner().invoke(main, ["pack", episode, "-o", f"{folder / 'log.zip'}", "--db", f"{folder / 'log.db'}"])
    assert packed.exit_code == 0, packed.output
    return folder, episode


def contents(folder):
    """What lies in a folder, but for what SQLite puts beside a file while it looks at it."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.endswith(("-shm", "-wal"))}


def refused(line, file, *arguments):
    """Replay from a file that must be refused with exit 2 and left as it is; return what was said."""
    before = contents(file.parent)
    result = line("replay", *arguments, "--db", str(file))

    assert (result.exit_code, result.stdout) == (2, "")
    assert contents(file.parent) == before
    return " ".join(result.stderr.split())


@pytest.fixture
def place(tmp_path):
    made = tmp_path / "place"
    made.mkdir()
    return made


@pytest.fixture(params=[(suffix, name) for suffix in (".db", ".zip") for name in DAMAGED], ids="".join)
def damaged(request, recording, place):
    suffix, name = request.param
    whole = (recording[0] / f"log{suffix}").read_bytes()
    file = place / f"damaged{suffix}"
    file.write_bytes(whole[:2000] if DAMAGED[name] is None else DAMAGED[name])
    return file


def test_a_file_without_a_recording_in_it_is_refused_and_left_alone(line, damaged, manner):
    assert str(damaged) in refused(line, damaged, "--all", *manner)


def test_a_file_of_no_bytes_is_said_to_have_none(line, place):
    (place / "log.db").touch()

    assert "0 bytes: if it ever held a log, that is lost" in refused(line, place / "log.db", "--all")


def test_a_whole_recording_of_another_episode_is_refused_by_the_name_that_it_lacks(line, recording, manner):
    assert "0123456789abcdef" in refused(line, recording[0] / "log.zip", "0123456789abcdef", *manner)


def test_a_bundle_is_replayed_as_its_database_is(line, recording):
    folder, episode = recording
    (item,) = line.items("replay", episode, "--db", folder / "log.zip")

    assert (item["result"], item["compared"]) == ("same", 45)


@pytest.mark.parametrize("damage", [b"", b"\xff\xfe", b'{"episode": "x"}\n'], ids=["zero", "not-utf-8", "another's"])
def test_lines_that_are_no_recording_are_not_imported_to_be_replayed(line, logged, tmp_path, damage):
    (tmp_path / "lines.jsonl").write_bytes(damage)
    before = Path("spectrace.db").read_bytes()
    result = line("import", "jsonl", "lines.jsonl")

    assert (result.exit_code, Path("spectrace.db").read_bytes() == before) == (2, True), result.output


def test_the_models_that_were_refused_above_answer_where_there_is_a_recording(line, recording, tmp_path):
    folder, episode = recording
    weak, strong = script(tmp_path / "w.json", WEAK_SCRIPT), script(tmp_path / "s.json", STRONG_SCRIPT)
    live = ("--models", "live", "--weak", weak, "--strong", strong)
    (item,) = line.items("replay", episode, *live, "--db", folder / "log.db")

    assert item["live_answers"] == 7
