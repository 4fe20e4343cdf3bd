import csv
import io
import json
import shutil

import pytest

from spectrace.core.baselines import StrongOnly, WeakOnly
from spectrace.core.specagent import SpecAgent
from spectrace.runs.live import Labels
from spectrace.store.sql import open_store
from tests.compared_runs import record_run
from tests.damage import damage
from tests.shop_log import recorded

HOSTILE = "=1+1|$x$ [b](http://x)\x1b[31m"
CONTRACT = "metric value low high n clusters method run protocol column"


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """Weak-only passes 2 of 12 tasks, strong-only all, SpecAgent 8; one trial each."""
    path = tmp_path_factory.mktemp("compared") / "spectrace.db"
    store = open_store(str(path))
    record_run(store, WeakOnly(), {0, 1})
    record_run(store, StrongOnly(), set(range(12)))
    record_run(store, SpecAgent(), set(range(8)))
    store.close()
    return path


@pytest.fixture
def log(line, compared, tmp_path):
    shutil.copy(compared, tmp_path / "spectrace.db")


@pytest.fixture
def hostile(line, tmp_path):
    store = open_store(str(tmp_path / "spectrace.db"))
    for run in (HOSTILE, "other"):
        recorded(store, labels=Labels(run=run))
    store.close()


def cells(text, title):
    """The cells of a table's row."""
    (row,) = (one for one in text.splitlines() if one.startswith(title))
    return [cell.strip() for cell in row.removeprefix(title).split("  ") if cell]


def test_an_item_is_a_metric_of_a_column_with_its_clusters_and_method(line, log):
    found = line.items("compare", "n", "--draws", "200")
    (gap,) = (item for item in found if (item["column"], item["metric"]) == ("specagent", "gap_recovered"))

    assert all(set(item) == set(CONTRACT.split()) for item in found)
    assert (gap["run"], gap["n"], gap["clusters"]) == ("n", 36, 12)
    assert gap["value"] == pytest.approx(0.6)
    assert gap["low"] < 0.6 < gap["high"]
    assert gap["method"] == "task bootstrap, expanded percentile 95 % (B=200, seed 2026)"


def test_people_get_a_column_for_each_protocol_and_a_methods_line(line, log):
    result = line("compare", "n", "--draws", "200")

    assert result.exit_code == 0
    assert result.stdout.split("\n")[0].split() == ["weak-only", "strong-only", "specagent"]
    assert [cell.split()[0] for cell in cells(result.stdout, "Pass@1 %")] == ["16.7", "100.0", "66.7"]
    assert cells(result.stdout, "R accounted (money)") == ["0.000", "1.000", "1.000"]
    assert "36 episodes, 12 tasks x 1 trial, 1 at once" in result.stdout
    assert "No gap recovered % (weak-only, strong-only): it is an end of the gap." in result.stdout


def test_a_row_without_a_value_is_left_out_with_its_reason(line, hostile):
    result = line("compare", "other")

    assert "\nR accounted" not in result.stdout
    assert "\ncost USD / episode" in result.stdout
    assert "\nNo R (FLOPs), R (HBM-read), R (time), R (money): no strong-only column beside it.\n" in result.stdout


def test_the_baseline_is_strong_only_unless_another_is_named(line, log):
    differences = {
        baseline: [
            item["column"] for item in line.items("compare", "n", *named) if item["metric"] == "pass1_difference"
        ]
        for baseline, named in {"": (), "weak-only": ("--baseline", "weak-only")}.items()
    }

    assert differences == {"": ["weak-only", "specagent"], "weak-only": ["strong-only", "specagent"]}


def test_the_same_seed_gives_the_same_table_and_another_says_so(line, log):
    first, again, other = (line("compare", "n", "--draws", "200", "--seed", seed).stdout for seed in (1, 1, 2))

    assert first == again != other
    assert "(B=200, seed 2)" in other


def test_passing_is_from_the_reward_that_is_named(line, log):
    (one, *_) = (item for item in line.items("compare", "n", "--passing", "0") if item["metric"] == "pass1")

    assert one["value"] == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["m"], "no run is named 'm'"),
        (["n", "--baseline", "agentcollab"], "no column is named 'agentcollab'; there are weak-only"),
        (["n", "--profile", "nowhere"], "nowhere"),
        ([], "RUN..."),
    ],
)
def test_bad_input_is_refused(line, log, arguments, words):
    result = line("compare", *arguments)

    assert (result.exit_code, result.stdout, words in result.stderr) == (2, "", True)


def test_the_table_shows_a_hostile_name_with_nothing_hidden_in_it(line, hostile):
    result = line("compare", HOSTILE, "other")

    assert result.stdout.splitlines()[0].split("  ")[-2].strip() == "=1+1|$x$ [b](http://x)\\x1b[31m/specagent"
    assert "\x1b" not in result.output


def test_csv_has_every_metric_and_a_hostile_name_is_no_formula(line, hostile):
    rows = list(csv.reader(io.StringIO(line("compare", HOSTILE, "other", "--format", "csv").stdout)))

    assert rows[0] == ["run", "protocol", "column", "metric", "value", "low", "high", "n", "clusters", "method"]
    assert {row[0] for row in rows[1:]} == {"'=1+1|$x$ [b](http://x)\\x1b[31m", "other"}
    assert [row[4] for row in rows if row[3] == "pass1"] == ["1.0", "1.0"]


def test_markdown_keeps_a_hostile_name_in_its_cell(line, hostile):
    table = line("compare", HOSTILE, "other", "--format", "md").stdout

    assert table.splitlines()[0] == r"|  | =1+1\|\$x\$ \[b\](http\://x)\\x1b\[31m/specagent | other/specagent |"


def test_latex_sets_a_hostile_name_as_it_stands(line, hostile):
    table = line("compare", HOSTILE, "other", "--format", "latex").stdout

    assert (
        table.splitlines()[2]
        == r" & =1+1\textbar{}\$x\$ [b](http://x)\textbackslash{}x1b[31m/specagent & other/specagent \\"
    )


def test_what_cannot_be_read_is_told_and_the_answer_is_incomplete(line, log, tmp_path):
    damage(tmp_path / "spectrace.db", "UPDATE events SET payload = x'00' WHERE key = (1 << 20) + 3")
    result = line("compare", "n", "--draws", "200")

    assert (result.exit_code, "Incomplete:" in result.stderr) == (3, True)
    assert cells(result.stdout, "episodes")[0] == "11"


def test_without_a_known_profile_the_reason_names_the_option(line, log):
    said = line("compare", "n", "--draws", "200").stdout

    assert (
        "No R (FLOPs), R (HBM-read): reference: 12 of 12 strong calls have no count of tokens, or a model whose "
        "architecture is unknown (--profile)." in said
    )


def test_r_is_shown_in_every_measure_in_which_it_is_known(line, log):
    shown = line("compare", "n", "--draws", "200", "--profile", "paper").stdout
    titles = [row.partition(")")[0] for row in shown.splitlines() if row.startswith("R accounted (")]

    assert titles == [
        f"R accounted ({measure}" for measure in ("FLOPs", "HBM-read at least", "HBM-read at most", "time", "money")
    ]


def test_a_dense_model_has_one_row_of_what_it_reads(line, log):
    shown = line("compare", "n", "--draws", "200", "--profile", "local").stdout

    assert ("R accounted (HBM-read)" in shown, "at least" in shown) == (True, False)


@pytest.mark.parametrize(("every", "marked"), [([], True), (["--checkpoint-every", "0"], False)])
def test_rows_that_are_the_best_case_are_marked_and_explained_below_and_in_csv(line, log, every, marked):
    given = ["compare", "n", "--draws", "200", "--profile", "paper", *every]
    shown = line(*given).stdout
    rows = list(csv.DictReader(io.StringIO(line(*given, "--format", "csv").stdout)))
    best = {row["metric"] for row in rows if row["method"].endswith("best case: any prefix is taken to be found")}

    assert ("R accounted (FLOPs) *" in shown, "R accounted (money) *" in shown) == (marked, False)
    assert any(row.startswith("* Qwen3.5") for row in shown.splitlines()) == marked
    assert ({"r_accounted_flops", "strong_uncached_modelled"} <= best, "r_accounted_usd" in best) == (marked, False)


@pytest.mark.parametrize("reward", ["nan", "inf", "-inf", "much"])
def test_a_reward_with_which_nothing_can_be_compared_is_refused(line, log, reward):
    result = line("compare", "n", "--passing", reward)

    assert (result.exit_code, result.stdout, "--passing" in result.stderr) == (2, "", True)


def test_a_run_of_which_nothing_is_graded_says_so_without_a_hole(line, tmp_path):
    messages = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good day"}]
    (tmp_path / "talk.json").write_text(json.dumps(messages), encoding="utf-8")
    line("import", "openai", "talk.json", "--name", "filed")
    said = line("compare", "filed").stdout

    assert "\n0 episodes, 1 task x 1 trial, unknown at once, 1 more excluded (1 without a grade); Pass@1" in said
    assert "models none" not in said


def test_columns_that_do_not_fit_stand_below_under_the_same_rows(line, log, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = line("compare", "n", "--draws", "200").stdout.splitlines()

    assert max(map(len, shown)) <= 80
    assert [row.split() for row in shown if row.startswith(" ")] == [["weak-only", "strong-only"], ["specagent"]]
    assert sum(row.startswith("Pass@1 %") for row in shown) == 2


@pytest.mark.parametrize(("form", "begins"), [("md", "No gap recovered %"), ("latex", r"% No gap recovered \%")])
def test_a_table_to_paste_says_below_it_what_is_missing(line, log, form, begins):
    shown = line("compare", "n", "--draws", "200", "--format", form).stdout.splitlines()

    assert [row for row in shown if row.startswith(begins)]


def test_a_small_p_is_told_as_less_than_what_is_shown(line, tmp_path):
    store = open_store(str(tmp_path / "spectrace.db"))
    record_run(store, WeakOnly(), set())
    record_run(store, StrongOnly(), set(range(12)))
    store.close()

    assert cells(line("compare", "n", "--draws", "200").stdout, "p of no difference") == ["<0.001", "-"]
