import hashlib
import zipfile
from pathlib import Path

import pytest

from spectrace.audit.checkpoints import Created, create
from spectrace.audit.signing import Signer
from spectrace.store.bundle_reader import Bundle
from spectrace.store.manifest import Period
from spectrace.store.sql import open_store


def test_an_item_says_which_episode_and_what_file(line, episode, tmp_path):
    (item,) = line.items("pack", episode, "-o", "a.zip")

    assert item["bundle"] == "a.zip"
    assert item["sha256"] == hashlib.sha256((tmp_path / "a.zip").read_bytes()).hexdigest()
    assert (item["episode"], item["events"], item["state"], len(item["head"])) == (episode, 46, "ended", 64)
    assert item["bytes"] == (tmp_path / "a.zip").stat().st_size


def test_people_are_told_the_digest(line, episode, tmp_path):
    result = line("pack", "--all", "-o", "a.zip")

    assert "Packed 1 episode with 46 events" in result.stdout
    assert hashlib.sha256((tmp_path / "a.zip").read_bytes()).hexdigest() in result.stdout


@pytest.mark.parametrize("chosen", [["--all"], ["--run", "first"], ["--task", "cancel-own"], ["-"]])
def test_episodes_are_chosen_as_elsewhere(line, episode, chosen):
    line("pack", *chosen, "-o", "a.zip", input=episode)

    with zipfile.ZipFile("a.zip") as archive:
        assert f"episodes/{episode}.jsonl" in archive.namelist()


def test_a_file_is_replaced_only_by_force(line, episode):
    line("pack", episode, "-o", "a.zip")

    assert line("pack", episode, "-o", "a.zip").exit_code == 2
    assert line("pack", episode, "-o", "a.zip", "--force").exit_code == 0
    assert line("pack", episode, "-o", "spectrace.db", "--force").exit_code == 2


def test_nothing_chosen_and_nowhere_to_write_are_usage_errors(line, episode, tmp_path):
    assert line("pack", "-o", "a.zip").exit_code == 2
    assert line("pack", episode).exit_code == 2
    assert not (tmp_path / "a.zip").exists()


@pytest.fixture
def signed(line, episode):
    store = open_store("spectrace.db")
    assert isinstance(create(store, Signer("desk.example/log", b"k" * 32), Path("note")), Created)
    store.close()
    return episode


def carried(name):
    with Bundle(Path(name)) as bundle:
        return bundle.manifest.period, bundle.checkpoint()


def test_the_newest_checkpoint_that_is_kept_comes_along_and_the_period_that_was_asked_for(line, signed):
    line("pack", "--since", "2026-01-01", "--until", "2100-01-01T00:00:00.000001Z", "-o", "a.zip")
    period, checkpoint = carried("a.zip")

    assert period == Period(1_767_225_600_000_000, 4_102_444_800_000_001)
    assert checkpoint.note == Path("note").read_text()
    assert set(checkpoint.proofs) == {signed}


def test_a_checkpoint_that_is_given_comes_along(line, signed):
    line("pack", "--all", "--checkpoint", "note", "-o", "a.zip")

    assert carried("a.zip")[0] == Period(None, None)
    assert carried("a.zip")[1].note == Path("note").read_text()


@pytest.mark.parametrize("chosen", [("--project", "default"), ("--status", "completed", "--since", "2020-01-01")])
def test_what_is_chosen_by_anything_but_its_time_claims_to_be_the_whole_of_nothing(line, signed, chosen):
    line("pack", *chosen, "-o", "a.zip")
    line("pack", signed, "-o", "b.zip")

    assert (carried("a.zip")[0], carried("b.zip")[0]) == (None, None)


def test_without_a_checkpoint_it_is_said_that_nobody_can_see_what_was_left_out(line, episode):
    assert "nothing was left out" in line("pack", "--all", "-o", "a.zip").stderr
    assert "nothing was left out" not in line("pack", episode, "-o", "b.zip").stderr


def test_a_file_that_is_no_checkpoint_is_refused_and_no_bundle_is_written(line, signed, tmp_path):
    (tmp_path / "other").write_text("nothing\n")
    result = line("pack", "--all", "--checkpoint", "other", "-o", "a.zip")

    assert (result.exit_code, "other is no checkpoint" in result.stderr) == (2, True)
    assert not (tmp_path / "a.zip").exists()
