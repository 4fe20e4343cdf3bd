import pytest

from spectrace.audit.unknowns import KINDS
from tests.damage import damage


def test_an_item_has_the_fields_that_others_rely_on_and_the_logs_own_has_no_episode(line, episode):
    (item,) = line.items("audit", "unknowns")

    assert item == {
        "episode": None,
        "seq": None,
        "kind": "uncovered",
        "detail": "there is no checkpoint: nothing outside the database vouches for it",
        "tool": None,
    }


def test_people_see_the_list_and_how_many_there_are_of_each_kind(line, episode):
    damage("spectrace.db", "UPDATE episodes SET ended_at = started_at - 1 WHERE number = 1")
    result = line("audit", "unknowns")

    assert result.exit_code == 0
    assert f"{episode}:" in result.stdout
    assert f"1  clock_skew  {KINDS['clock_skew']}" in result.stdout


def test_a_kind_may_be_chosen(line, episode):
    assert line.items("audit", "unknowns", "--kind", "erased") == []
    assert "Nothing is unknown (1 episode looked at)." in line("audit", "unknowns", "--kind", "erased").stdout
    assert line("audit", "unknowns", "--kind", "nothing").exit_code == 2


@pytest.mark.parametrize("choice", [["--env", "shop"], ["--all"], ["--run", "first"]])
def test_episodes_are_chosen_as_elsewhere(line, episode, choice):
    damage("spectrace.db", "UPDATE episodes SET ended_at = started_at - 1 WHERE number = 1")

    assert {one["episode"] for one in line.items("audit", "unknowns", *choice)} == {None, episode}
    assert len(line.items("audit", "unknowns", episode[:8])) == 2


def test_what_cannot_be_read_is_said_and_the_exit_is_unknown(line, episode):
    damage("spectrace.db", "UPDATE events SET payload = x'0011' WHERE (key & 1048575) = 10 AND key > 1048576")
    result = line("audit", "unknowns")

    assert (result.exit_code, f"event 10 of {episode}" in result.stderr) == (3, True)


def test_a_file_that_is_no_checkpoint_is_bad_input(line, episode):
    assert line("audit", "unknowns", "--checkpoint", "nowhere").exit_code == 2
