import json
from pathlib import Path

import pytest

from tests.shop_log import STRONG_SCRIPT, WEAK_SCRIPT, script


@pytest.fixture
def models(tmp_path) -> tuple[str, ...]:
    """What is asked after the first review of `tests.episodes` was edited to accept."""
    weak = script(tmp_path / "weak.json", WEAK_SCRIPT[-1:])
    strong = script(tmp_path / "strong.json", STRONG_SCRIPT[-1:])
    return "--weak", weak, "--strong", strong


@pytest.fixture
def accepting(tmp_path) -> Path:
    path = tmp_path / "accept.json"
    path.write_text('{"verdict": "accept"}\n')
    return path


@pytest.fixture
def rejected(line, episode) -> str:
    """The verdict on the rejected write."""
    return f"{episode}:{line.items('why', episode)[0]['verdict_seq']}"


def test_an_edited_verdict_goes_on_live_in_a_child_whose_ledger_names_the_person(
    line, episode, rejected, models, accepting
):
    edit = ("--answer", accepting, "--by", "Ann Lee")
    (item,) = line.items("fork", rejected, "--env", "shop", *models, *edit)
    (ran,) = line.items("audit", "actions", item["episode"], "--tool", "cancel_order")

    assert (item["parent"], item["edited_by"], item["status"], item["writes"]) == (episode, "Ann Lee", "completed", 1)
    assert (ran["authority"], ran["outcome"]) == ("person:Ann Lee", "ok")
    assert [one["result"] for one in line.items("replay", item["episode"])] == ["same"]
    assert [one["result"] for one in line.items("verify", item["episode"])] == ["consistent"]
    assert line.items("audit", "violations", item["episode"]) == []
    assert line.items("recover", item["episode"])[0]["parent"] == episode


def test_people_see_the_child_its_parent_and_the_person(line, episode, rejected, models, accepting):
    result = line("fork", rejected, "--env", "shop", *models, "--answer", accepting, "--by", "Ann Lee")

    assert result.exit_code == 0
    assert f"{episode}:" in result.stdout
    assert "Ann Lee" in result.stdout


def test_options_take_the_place_of_the_recorded_ones(line, episode, rejected, models, accepting):
    edit = ("--answer", accepting, "--by", "Ann Lee")
    (item,) = line.items("fork", rejected, "--env", "shop", *models, *edit, "-o", "k=3")
    options = json.loads(line.items("show", f"{item['episode']}:0")[0]["body"]["options"])

    assert options["k"] == 3


def test_an_environment_that_cannot_be_brought_back_is_refused_before_anything_runs(line, rejected, models, tmp_path):
    (tmp_path / "unrestorable.py").write_text(
        "from dataclasses import replace\n"
        "from pathlib import Path\n"
        "from spectrace.environments.shop import open_shop\n"
        "def desk():\n"
        "    shop = open_shop()\n"
        "    prepare, reset = shop.prepare, shop.reset\n"
        "    shop.prepare = lambda task: replace(prepare(task), restore='none')\n"
        "    def begun(seed):\n"
        "        Path('reached').touch()\n"
        "        return reset(seed)\n"
        "    shop.reset = begun\n"
        "    return shop\n"
    )
    before = len(line.items("ls"))
    result = line("fork", rejected, "--env", "unrestorable:desk", *models)

    assert (result.exit_code, "restore=none" in result.stderr) == (125, True)
    assert (len(line.items("ls")), Path("reached").exists()) == (before, False)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--answer", "accept.json"), "--answer needs --by NAME"),
        (("--answer", "none.json", "--by", "Ann"), "cannot be read"),
        (("--by", "a\nb"), "--by takes a person's name"),
    ],
)
@pytest.mark.usefixtures("accepting")
def test_what_cannot_be_used_is_refused_and_nothing_is_added(line, rejected, models, given, said):
    before = len(line.items("ls"))
    result = line("fork", rejected, "--env", "shop", *models, *given)

    assert (result.exit_code, said in " ".join(result.stderr.split())) == (2, True)
    assert len(line.items("ls")) == before


def test_an_event_must_be_named(line, episode, models):
    result = line("fork", episode, "--env", "shop", *models)

    assert (result.exit_code, "as EP:SEQ" in result.stderr) == (2, True)


def test_models_come_from_the_command_line_and_never_from_the_record(line, rejected):
    result = line("fork", rejected, "--env", "shop")

    assert (result.exit_code, "needs a weak model" in " ".join(result.stderr.split())) == (2, True)


def test_the_story_says_where_the_child_left_its_parent(line, rejected, models, accepting):
    edit = ("--answer", accepting, "--by", "Ann Lee")
    (item,) = line.items("fork", rejected, "--env", "shop", *models, *edit)
    told = line("why", item["episode"]).stdout

    assert f"It left the record of {item['parent']}:{item['seq']} after that event." in told


def test_a_verdict_that_a_person_edited_is_told_as_that_persons(line, rejected, models, tmp_path):
    rejecting = tmp_path / "reject.json"
    rejecting.write_text(json.dumps(STRONG_SCRIPT[0]["verdict"]))
    weak, strong = script(tmp_path / "w.json", WEAK_SCRIPT[1:]), script(tmp_path / "s.json", STRONG_SCRIPT[1:])
    edit = ("--answer", rejecting, "--by", "Ann Lee")
    (item,) = line.items("fork", rejected, "--env", "shop", "--weak", weak, "--strong", strong, *edit)
    (why,) = line.items("why", item["episode"])

    assert (why["edited_by"], why["decision"]) == ("Ann Lee", "reject")
    assert "Verdict of Ann Lee, who edited it: step 1 of 1 is wrong" in line("why", item["episode"]).stdout


def test_a_rejection_that_a_fork_took_over_is_counted_with_its_parent_only(line, episode, models, tmp_path):
    seq = max(one["seq"] for one in line.items("show", episode, "--type", "verdict.given"))
    fork = line.items("fork", f"{episode}:{seq}", "--env", "shop", *models)

    assert (fork[0]["rejections"], [one["n"] for one in line.items("rejections")]) == (0, [1])


def test_an_option_that_does_nothing_is_told(line, rejected, models, accepting):
    edit = ("--answer", accepting, "--by", "Ann Lee")
    result = line("fork", rejected, "--env", "shop", *models, *edit, "-o", "threshold=0.6")

    assert "-o threshold=0.6 has no effect on specagent without" in result.stderr


def test_an_event_before_which_other_options_leave_the_record_cannot_be_forked(line, rejected, models):
    result = line("fork", rejected, "--env", "shop", *models, "-o", "acceptance=exact")

    assert (result.exit_code, "leaves the record at event" in " ".join(result.stderr.split())) == (125, True)
