import json
import re

import pytest

from spectrace.core.events import OutcomeSettled
from spectrace.store.event_store import Pending
from spectrace.store.sql import open_store
from tests.episodes import CANCEL, DONE
from tests.playbook import accept
from tests.shop_log import recorded, script

CONTRACT = "run episode segment verdict_seq derived recorded new agree counterfactual child repeat"
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
    assert f"run 'mine' exists with verifier '{lenient}', now '{stricter}'" in " ".join(another_verifier.stderr.split())
    assert "run 'first' is one of recorded episodes" in another_kind.stderr


def test_a_failed_verifier_is_told_with_the_episode_and_its_error(line, episode, tmp_path):
    failing = script(tmp_path / "failing.json", [{"error": {"kind": "server", "message": "the server is down"}}])
    said = line("reverify", episode, "--verifier", failing, "--name", "again").stderr

    assert f"{episode} was not judged to its end: the server is down\n" in said
    assert "3 reviews: judged now 0, before 0, left 3." in said


def test_a_database_that_is_missing_is_not_made(line, lenient, tmp_path):
    result = line("reverify", "--all", "--verifier", lenient, "--db", "typo.db")

    assert (result.exit_code, "there is no database" in result.stderr) == (2, True)
    assert not (tmp_path / "typo.db").exists()


def test_an_empty_log_has_nothing_to_judge(line, lenient):
    open_store("spectrace.db").close()
    result = line("reverify", "--all", "--verifier", lenient)

    assert (result.exit_code, "no episode passes --all" in result.stderr) == (2, True)


@pytest.fixture
def closing(tmp_path):
    """A function that judges the first segment, and the others only while nobody is away."""
    body = "from pathlib import Path\n\ndef judge(request):\n    if request.segment > 1 and Path('away').exists():\n"
    (tmp_path / "closing.py").write_text(f"{body}        raise OSError('nobody is here')\n    return True\n")
    (tmp_path / "away").touch()
    return "closing:judge"


def test_going_on_by_name_alone_judges_what_is_left_and_says_both(line, episode, closing, tmp_path):
    first = line("reverify", episode, "--verifier", closing, "--name", "again", "--json")
    (tmp_path / "away").unlink()
    second = line("reverify", "--verifier", closing, "--name", "again", "--json")

    assert (first.exit_code, second.exit_code) == (1, 0)
    assert "3 reviews: judged now 1, before 0, left 2. Not all is judged." in " ".join(first.stderr.split())
    assert "1 review was judged before. It will take 2 calls" in " ".join(second.stderr.split())
    assert "3 reviews: judged now 2, before 1, left 0." in second.stderr


def test_another_verifier_under_the_same_name_is_refused_with_what_it_says_otherwise(line, episode, tmp_path):
    down = {"error": {"kind": "server", "message": "down"}}
    model = script(tmp_path / "one.json", [ACCEPT, down])
    line("reverify", episode, "--verifier", model, "--name", "again")
    script(tmp_path / "one.json", [ACCEPT] * 2)
    result = line("reverify", episode, "--verifier", model, "--name", "again")

    assert result.exit_code == 2
    assert "is not the model here that run 'again' was begun with" in " ".join(result.stderr.split())
    assert "server.digest" in result.stderr


def test_repeats_are_judged_apart_and_counted_apart(line, episode, tmp_path):
    mixed = script(tmp_path / "mixed.json", [ACCEPT] * 6)
    items = line.items("reverify", episode, "--verifier", mixed, "--name", "again", "--repeat", "2")
    (run,) = line.items("runs", "again")

    assert [(item["repeat"], item["segment"]) for item in items] == [(n, m) for n in (1, 2) for m in (1, 2, 3)]
    assert len({item["child"] for item in items}) == 2
    assert (run["total"], run["done"], run["left"], run["state"]) == (2, 2, 0, "ended")


def test_a_run_that_is_half_done_says_so(line, episode, tmp_path):
    down = {"error": {"kind": "server", "message": "down"}}
    failing = script(tmp_path / "failing.json", [*[ACCEPT] * 3, down])
    line("reverify", episode, "--verifier", failing, "--name", "again", "--repeat", "3")
    (run,) = line.items("runs", "again")

    assert (run["total"], run["done"], run["failed"], run["left"]) == (3, 1, 2, 0)
    assert run["state"] == "stopped"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--repeat", "2"], "--repeat 1, now 2"),
        (["--only", "rejected"], "all reviews, now --only rejected"),
        (["--prompts", "current"], "the recorded prompts, now prompts sha256:"),
    ],
)
def test_other_settings_under_the_same_name_are_refused_with_what_differs(line, episode, lenient, more, said):
    line("reverify", episode, "--verifier", lenient, "--name", "again")
    result = line("reverify", episode, "--verifier", lenient, "--name", "again", *more)

    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


def test_another_selection_under_the_same_name_is_refused_with_what_differs(line, episode, lenient):
    line("reverify", episode, "--verifier", lenient, "--name", "again")
    store = open_store("spectrace.db")
    other = recorded(store)
    store.close()
    result = line("reverify", episode, other, "--verifier", lenient, "--name", "again")

    assert result.exit_code == 2
    assert "another selection of 1 episode: 1 of these 2 are not in it" in " ".join(result.stderr.split())


def test_before_it_begins_it_says_what_it_will_take(line, episode, lenient):
    said = " ".join(line("reverify", episode, "--verifier", lenient, "--name", "again").stderr.split())

    assert "Run again: 3 reviews of 1 episode." in said
    assert re.search(r"It will take 3 calls, about \d+ prompt tokens \(of 3 a token taken for 4 characters\)", said)


def test_a_price_is_said_before_and_a_limit_leaves_the_rest(line, episode, tmp_path):
    (tmp_path / "spectrace.toml").write_text(
        '[prices."scripted:second"]\ninput = 1\ncached = 1\noutput = 1\nsince = "2026-01-01"\n'
    )
    reply = ACCEPT | {"usage": {"input": 600_000, "cached": 0, "output": 0}}
    paid = script(tmp_path / "second.json", [reply] * 9)
    short = line("reverify", episode, "--verifier", paid, "--name", "again", "--max-cost-usd", "1")
    same = line("reverify", episode, "--verifier", paid, "--name", "again", "--max-cost-usd", "1")
    more = line("reverify", episode, "--verifier", paid, "--name", "again", "--max-cost-usd", "2")

    assert [one.exit_code for one in (short, same, more)] == [1, 1, 0]
    assert "USD (for the prompts alone, nothing cached)" in " ".join(short.stderr.split())
    assert "judged now 2, before 0, left 1" in short.stderr
    assert "the money is spent: --max-cost-usd" in " ".join(short.stderr.split())
    assert "judged now 0, before 2, left 1" in same.stderr
    assert "judged now 1, before 2, left 0" in more.stderr


def test_a_run_that_was_cancelled_goes_on_no_more(line, episode, tmp_path):
    stops = script(tmp_path / "stops.json", [ACCEPT])
    line("reverify", episode, "--verifier", stops, "--name", "again")
    cancelled = line("runs", "again", "--cancel")
    result = line("reverify", "--verifier", stops, "--name", "again")

    assert (cancelled.exit_code, result.exit_code) == (0, 2)
    assert "run 'again' was cancelled" in result.stderr


def test_an_episode_that_grew_since_is_judged_as_it_was_and_that_is_said(line, episode, closing, tmp_path):
    line("reverify", episode, "--verifier", closing, "--name", "again")
    (tmp_path / "away").unlink()
    store = open_store("spectrace.db")
    writer, row = store.reopen(episode), store.row(episode)
    later = OutcomeSettled(authority="person:ana", outcome="ok", request=3, evidence="a later word")
    writer.append([Pending(row.events, "", 1, later)], durable=True)
    writer.close()
    store.close()
    result = line("reverify", episode, "--verifier", closing, "--name", "again")

    assert result.exit_code == 0
    assert f"{episode} went on since the run began: judged as it was then." in result.stderr


def test_a_function_of_the_users_judges(line, episode, tmp_path):
    (tmp_path / "my_judge.py").write_text("def stands(request):\n    return request.drafted\n")
    items = line.items("reverify", episode, "--verifier", "my_judge:stands", "--name", "again")

    assert [item["new"]["decision"] for item in items] == ["accept"] * 3


def test_labels_leave_out_what_nobody_labelled_and_that_is_said(line, episode, tmp_path):
    label = {"episode": episode, "segment": 1, "accepted": 0}
    (tmp_path / "people.jsonl").write_text(json.dumps(label) + "\n")
    result = line("reverify", episode, "--verifier", "labels:people.jsonl", "--name", "again", "--json")
    items = json.loads(result.stdout)["items"]

    assert (result.exit_code, [item["segment"] for item in items]) == (0, [1])
    assert "3 reviews: judged now 1, before 0, left 0, left out 2." in result.stderr


def test_an_episode_with_nothing_to_judge_is_done_and_not_left(line, lenient):
    store = open_store("spectrace.db")
    recorded(store, weak=[CANCEL, DONE], strong=[accept(), accept()])
    store.close()
    result = line("reverify", "--all", "--verifier", lenient, "--name", "again", "--only", "rejected")
    (run,) = line.items("runs", "again")

    assert result.exit_code == 0
    assert "Run again: 0 rejected reviews of 1 episode." in result.stderr
    assert (run["total"], run["done"], run["left"], run["episodes"], run["state"]) == (1, 1, 0, 0, "ended")
    assert run["selection"] == "reviews of 1 episode"


def test_a_name_that_holds_a_secret_is_refused(line, episode, lenient):
    result = line("reverify", episode, "--verifier", lenient, "--name", "ghp_" + "a1B2" * 9)

    assert (result.exit_code, "ghp_" in result.stderr, [one["kind"] for one in line.items("runs")]) == (
        2,
        False,
        ["run"],
    )
