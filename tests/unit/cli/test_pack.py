import hashlib
import zipfile

import pytest


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
