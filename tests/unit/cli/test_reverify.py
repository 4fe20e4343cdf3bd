import re

import pytest

from spectrace.store.sql import open_store
from tests.shop_log import script

CONTRACT = "run episode segment verdict_seq derived recorded new agree counterfactual"
ACCEPT = {"verdict": "accept"}


@pytest.fixture
def lenient(tmp_path):
    return script(tmp_path / "lenient.json", [ACCEPT] * 3)


def test_an_item_has_the_fields_that_others_rely_on(line, episode, lenient):
    items = line.items("reverify", episode, "--verifier", lenient, "--name", "again")

    assert set(CONTRACT.split()) <= set(items[0])
    assert [(item["recorded"]["decision"], item["new"]["decision"], item["agree"]) for item in items] == [
        ("reject", "accept", False),
        ("accept", "accept", True),
        ("accept", "accept", True),
    ]
    assert [item["counterfactual"] for item in items] == [False, True, True]


def test_people_get_an_agreement_table(line, episode, lenient):
    result = line("reverify", episode, "--verifier", lenient)

    assert result.exit_code == 0
    assert re.search(r"agree on accepting all +66\.7 % +3 reviews +1\n", result.stdout)
    assert "No interval: fewer than 10 tasks." in result.stdout
    assert "run reverify-" in result.stdout


def test_the_same_name_goes_on_where_it_stopped(line, episode, lenient):
    first = line.items("reverify", episode, "--verifier", lenient, "--name", "again")
    second = line.items("reverify", episode, "--verifier", lenient, "--name", "again")

    assert second == first
    assert [run["total"] for run in line.items("runs", "again")] == [1]


def test_only_rejections_may_be_asked_again(line, episode, lenient):
    (item,) = line.items("reverify", episode, "--verifier", lenient, "--only", "rejected")

    assert item["segment"] == 1


def test_rejections_alone_stand_beside_the_floor(line, episode, lenient):
    shown = line("reverify", episode, "--verifier", lenient, "--only", "rejected").stdout

    assert re.search(r"rejected again +0\.0 % +1 review +1\n", shown)
    assert "No value of by the first verifier: floor unknown, it has not been asked again." in shown
    assert "agree" not in shown


def test_a_re_verification_is_not_judged_itself(line, episode, lenient):
    line("reverify", episode, "--verifier", lenient, "--name", "again")
    (child,) = (item["episode"] for item in line.items("ls", "--protocol", "reverify"))

    assert line("reverify", child, "--verifier", lenient).exit_code == 2
    assert len(line.items("reverify", "--all", "--verifier", lenient, "--name", "again")) == 3


def test_a_verifier_that_fails_is_an_answer_of_no(line, episode, tmp_path):
    failing = script(tmp_path / "failing.json", [{"error": {"kind": "server", "message": "down"}}])
    result = line("reverify", episode, "--verifier", failing, "--name", "again")

    assert result.exit_code == 1
    assert "not judged to its end" in result.stderr
    assert "Left out: 3 failed; the bounds count them either way." in result.stdout


def test_an_unknown_verifier_is_refused_before_anything_is_recorded(line, episode):
    assert line("reverify", episode, "--verifier", "nobody").exit_code == 2
    assert len(line.items("ls")) == 1


def test_a_name_stands_for_one_verifier_one_selection_and_one_kind_of_work(line, episode, lenient, tmp_path):
    stricter = script(tmp_path / "stricter.json", [ACCEPT] * 9)
    line("reverify", episode, "--verifier", lenient, "--name", "mine")
    another_verifier = line("reverify", episode, "--verifier", stricter, "--name", "mine")
    another_kind = line("reverify", episode, "--verifier", stricter, "--name", "first")

    assert (another_verifier.exit_code, another_kind.exit_code) == (2, 2)
    assert "another kind, selection or settings" in another_verifier.stderr
    assert "run 'first' is one of recorded episodes" in another_kind.stderr


def test_a_failed_verifier_is_told_with_the_episode_and_its_error(line, episode, tmp_path):
    failing = script(tmp_path / "failing.json", [{"error": {"kind": "server", "message": "the server is down"}}])
    said = line("reverify", episode, "--verifier", failing, "--name", "again").stderr

    assert f"{episode} was not judged to its end: failed, " in said
    assert said.endswith(". the server is down\n")


def test_a_database_that_is_missing_is_not_made(line, lenient, tmp_path):
    result = line("reverify", "--all", "--verifier", lenient, "--db", "typo.db")

    assert (result.exit_code, "there is no database" in result.stderr) == (2, True)
    assert not (tmp_path / "typo.db").exists()


def test_an_empty_log_has_nothing_to_judge(line, lenient):
    open_store("spectrace.db").close()
    result = line("reverify", "--all", "--verifier", lenient)

    assert (result.exit_code, "no episode passes --all" in result.stderr) == (2, True)
