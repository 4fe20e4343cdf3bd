import csv
import io
import re
import shutil

import pytest

from spectrace.store.sql import open_store
from tests.rejudged import judge_again, record_alone, record_reviews
from tests.shop_log import script

CONTRACT = "run protocol column against metric value low high n clusters method"
HOSTILE = "=1+1|$x$ [b](http://x)\x1b[31m"


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """Twelve tasks recorded under review and judged again by two runs; and by one model, judged by a third."""
    path = tmp_path_factory.mktemp("judged") / "spectrace.db"
    store = open_store(str(path))
    episodes = record_reviews(store, 12)
    judge_again(store, episodes, "night", 0.5, 2, unusable={0}, repeats=2)
    judge_again(store, episodes, "day", 0.9, 3, name="third", repeats=2)
    judge_again(store, episodes[:2], HOSTILE, 0.5, 4)
    judge_again(store, record_alone(store, 12), "derived", 0.5, 5)
    store.close()
    return path


@pytest.fixture
def log(line, judged, tmp_path):
    shutil.copy(judged, tmp_path / "spectrace.db")


def test_an_item_is_a_figure_with_its_clusters_and_method(line, log):
    found = line.items("compare", "night")
    by_metric = {item["metric"]: item for item in found}

    assert all(set(item) == set(CONTRACT.split()) for item in found)
    assert {(item["run"], item["against"], item["column"]) for item in found} == {
        ("night", "recorded", "night against the record")
    }
    assert (by_metric["reviews"]["value"], by_metric["verdicts"]["value"]) == (36, 72)
    assert by_metric["agreement"]["clusters"] == 12
    assert by_metric["agreement_bounds"]["low"] < by_metric["agreement_bounds"]["high"]


def test_the_report_is_the_one_that_reverify_prints(line, log, tmp_path):
    verifier = script(tmp_path / "lenient.json", [{"verdict": "accept"}] * 36)
    printed = line("reverify", "--run", "first", "--verifier", verifier, "--name", "again")
    told = line("compare", "again")

    assert (printed.exit_code, told.exit_code) == (0, 0)
    assert printed.stdout.split("\n", 1)[1] == told.stdout
    assert told.stdout.startswith("again against the record\nrecorded \\ new ")


def test_two_runs_are_held_against_each_other_with_the_floor_and_a_paired_test(line, log):
    found = line.items("compare", "night", "day")
    beside = {item["metric"]: item["value"] for item in found if item["against"] == "night"}

    assert {item["column"] for item in found} == {
        "night against the record",
        "day against the record",
        "day against night",
    }
    assert beside["accepts_p"] < 0.05
    assert None not in (beside["excess"], beside["agrees_p"])


@pytest.mark.parametrize("form", ["table", "csv", "md", "latex"])
def test_the_same_log_gives_the_same_digits(line, log, form):
    first, second = (line("compare", "night", "day", "--format", form) for _ in range(2))

    assert (first.exit_code, first.output) == (0, second.output)


@pytest.mark.slow
def test_a_bundle_and_a_log_of_another_order_give_the_same_digits(line, log, tmp_path):
    verifier = script(tmp_path / "lenient.json", [{"verdict": "accept"}] * 36)
    line("reverify", "--run", "first", "--verifier", verifier, "--name", "again")
    ids = [item["episode"] for item in line.items("ls", "--limit", "500")]
    for number, order in enumerate((ids, ids[::-1])):
        assert line("pack", *order, "-o", f"{number}.zip").exit_code == 0
    assert line("unpack", "1.zip", "--db", "other.db").exit_code == 0
    for runs in (("night", "day"), ("again",)):
        documents, told = [], []
        for name in ("spectrace.db", "0.zip", "other.db"):
            documents.append(line.items("compare", *runs, "--db", name))
            told.append(line("compare", *runs, "--db", name).stdout)

        assert documents[1:] == [documents[0]] * 2
        assert told[1:] == [told[0]] * 2


def test_another_seed_draws_otherwise_and_says_so(line, log):
    first, other = (line("compare", "night", "--seed", seed, "--draws", "200").stdout for seed in (1, 2))

    assert first != other
    assert "is drawn 200 times with the seed 2" in re.sub(r"\s+", " ", other)


def test_derived_segments_have_a_table_and_items(line, log):
    told = line("compare", "derived").stdout
    found = {item["metric"]: item for item in line.items("compare", "derived")}

    assert re.search(r"\nwrite +passed +12 ", told)
    assert (found["derived_unknown_passed"]["n"], found["derived_all_all_n"]["value"]) == (12, 36)
    assert found["derived_all_all"]["clusters"] == 12


def test_the_reward_from_which_on_an_episode_passes_is_chosen(line, log):
    found = {item["metric"] for item in line.items("compare", "derived", "--passing", "0")}

    assert {"derived_finish_passed", "derived_finish_failed"} & found == {"derived_finish_passed"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["night", "first"], "night is a re-verification; first has episodes"),
        (["night", "day", "derived"], "3 were named"),
        (["night", "--baseline", "weak-only"], "--baseline is for runs of episodes"),
        (["night", "--profile", "paper", "--checkpoint-every", "0"], "--profile, --checkpoint-every is for"),
    ],
)
def test_bad_input_is_refused(line, log, arguments, words):
    result = line("compare", *arguments)

    assert (result.exit_code, result.stdout, words in result.stderr) == (2, "", True)


def test_csv_has_every_figure_and_a_hostile_name_is_no_formula(line, log):
    rows = list(csv.reader(io.StringIO(line("compare", HOSTILE, "--format", "csv").stdout)))

    assert rows[0] == CONTRACT.split()
    assert {row[0] for row in rows[1:]} == {"'=1+1|$x$ [b](http://x)\\x1b[31m"}


def test_a_hostile_name_stays_text_in_every_format(line, log):
    shown = {form: line("compare", HOSTILE, "day", "--format", form).output for form in ("table", "csv", "md", "latex")}

    assert [form for form, one in shown.items() if "\x1b" in one] == []
    assert r"\[b\](http\://x)" in shown["md"]
    assert r"\$x\$" in shown["latex"]


def test_markdown_and_latex_hold_the_tables_the_notes_and_the_methods(line, log):
    md, latex = (line("compare", "night", "--format", form).stdout for form in ("md", "latex"))

    assert "\n| agree on accepting all | " in md
    assert "\nRun night put 36 reviews" in md
    assert latex.count(r"\begin{tabular}") == 2
    assert "\n% Methods: Run night put 36 reviews" in latex
