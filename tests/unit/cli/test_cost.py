import asyncio
import shutil

import pytest

from spectrace.cli.cost import figure
from spectrace.core.baselines import StrongOnly
from spectrace.runs.live import Labels
from spectrace.store.sql import open_store
from tests.damage import damage
from tests.episodes import CANCEL, record_shop
from tests.spent import ALONE_TOLD, STRONG_TOLD, WEAK_TOLD, told


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """A log whose models told their tokens: SpecAgent and strong-only on the same task."""
    path = tmp_path_factory.mktemp("log") / "spectrace.db"
    store = open_store(str(path))
    for run, strong, protocol in (("spec", STRONG_TOLD, None), ("alone", ALONE_TOLD, StrongOnly())):
        labels = Labels(run=run, concurrency=8)
        asyncio.run(record_shop(store, weak=WEAK_TOLD, strong=strong, protocol=protocol, labels=labels))
    store.close()
    return path


@pytest.fixture
def log(counted, line, tmp_path):
    shutil.copy(counted, tmp_path / "spectrace.db")
    return line


def test_phases_have_their_calls_and_tokens(log):
    rows = log.items("cost", "--run", "spec")

    assert [(row["protocol"], row["phase"], row["calls"], row["tokens"]["uncached_measured"]) for row in rows] == [
        ("specagent", "draft", 4, 200),
        ("specagent", "verify", 3, 800),
        ("specagent", "all", 7, 1000),
    ]


def test_r_is_of_the_reference_run(log):
    last = log.items("cost", "--run", "spec", "--reference", "alone", "--profile", "paper")[-1]

    assert last["r_accounting"]["seconds"] == pytest.approx(0.75)
    assert last["r_proposition"]["seconds"] == pytest.approx(0.75)
    assert 0 < last["r_accounting"]["hbm_read_low"] < last["r_accounting"]["flops"] * 2


def test_a_reference_may_be_an_episode(log):
    (alone,) = [row["episode"] for row in log.items("ls", "--run", "alone")]

    last = log.items("cost", "--run", "spec", "--reference", alone[:6])[-1]

    assert last["r_accounting"]["seconds"] == pytest.approx(0.75)


def test_a_reference_that_is_nothing_says_that_it_was_looked_for_among_runs_and_episodes(log):
    said = log("cost", "--all", "--reference", "alon").stderr

    assert "no run has that name (did you mean alone?)" in said
    assert "no episode has the id or prefix 'alon'" in said


def test_without_a_reference_r_is_said_to_be_unknown(log):
    result = log("cost", "--all")

    assert result.exit_code == 0
    assert "R is unknown (specagent, strong-only): no reference was named (--reference).\n" in result.stderr


def test_people_get_a_table_of_phases_and_one_of_r(log):
    result = log("cost", "--run", "spec", "--reference", "alone", "--profile", "paper")
    titles = [row.split() for row in result.stdout.splitlines() if row.startswith("protocol")]

    assert [row[:3] for row in titles] == [["protocol", "run", "phase"], ["protocol", "run", "strong"]]
    assert "R in money is unknown (specagent): a strong step of the reference costs nothing" in result.stderr


def test_a_range_is_shown_where_experts_were_chosen(log):
    (verify,) = [
        row for row in log("cost", "--run", "spec", "--profile", "paper").stdout.splitlines() if "verify" in row
    ]

    assert "-" in verify.split()[-3]


def test_what_is_partly_unknown_is_at_least_so_much(log, tmp_path):
    store = open_store(str(tmp_path / "spectrace.db"))
    strong = [STRONG_TOLD[0], *["?"] * 2, STRONG_TOLD[1], STRONG_TOLD[1]]
    asyncio.run(record_shop(store, weak=WEAK_TOLD, strong=strong, labels=Labels(run="partly")))
    store.close()

    (row,) = [row for row in log("cost", "--run", "partly").stdout.splitlines() if " all " in row]

    assert ">=" in row


def test_what_is_unknown_is_told_with_its_calls_and_a_reason(log):
    said = log("cost", "--run", "spec").stderr

    assert (
        "Unknown TFLOP and GB read of calls (7 of 7 of specagent): no count of tokens, or a model of unknown shape "
        "(--profile).\n" in said
    )
    assert "Unknown tokens" not in said


def test_a_dense_model_has_one_line_of_what_it_reads_and_one_of_experts_two(log, tmp_path):
    (tmp_path / "own.toml").write_text(
        'name = "own"\nsource = "made up"\nweak = {architecture = "SmolLM2-135M"}\n'
        'strong = {architecture = "SmolLM2-135M"}\n'
    )
    dense, experts = (
        log("cost", "--run", "spec", "--reference", "alone", "--profile", profile).stdout
        for profile in ("own.toml", "paper")
    )

    assert (dense.count("HBM-read "), "HBM-read at" in dense) == (1, False)
    assert [experts.count(words) for words in ("HBM-read at least", "HBM-read at most")] == [1, 1]


def test_where_r_is_unknown_what_a_task_costs_is_shown_all_the_same(log, tmp_path):
    store = open_store(str(tmp_path / "spectrace.db"))
    strong = [reply for turn in ALONE_TOLD for reply in (told("?", 600, 0, 9), told("?", 600, 0, 9), turn)]
    asyncio.run(record_shop(store, weak=[CANCEL] * 4, strong=strong, labels=Labels(run="unread")))
    store.close()
    result = log("cost", "--run", "unread", "--reference", "alone")
    (row,) = [row.split() for row in result.stdout.splitlines() if " time " in row]

    assert row[-4:] == ["-", "2.000", "2.000", "2.000"]
    assert "is unknown (specagent): no review could be read" in result.stderr


@pytest.mark.parametrize(
    ("value", "shown"),
    [(3, "3"), (11.03, "11.0"), (0.0456, "0.0456"), (182.4, "182"), (1234.5, "1234"), (2e-6, "2e-06")],
)
def test_a_figure_has_three_digits(value, shown):
    assert figure(value) == shown


def test_tokens_are_estimated_on_request_and_said_to_be(line, episode):
    silent = line.items("cost", "--all")[-1]
    result = line("cost", "--all", "--estimate-tokens")

    assert silent["unknown"]["input"] == 7
    assert "7 calls have no counts of their servers: four bytes are taken for one token." in result.stderr


def test_a_profile_file_is_read(log, tmp_path):
    (tmp_path / "own.toml").write_text(
        'name = "own"\nsource = "made up"\nweak = {architecture = "SmolLM2-135M"}\n'
        'strong = {architecture = "SmolLM2-135M"}\n'
    )

    assert log.items("cost", "--run", "spec", "--profile", "own.toml")[-1]["flops"] > 0


def test_a_price_of_spectrace_toml_does_not_change_what_was_recorded(log, tmp_path):
    (tmp_path / "spectrace.toml").write_text(
        '[prices."scripted:scripted"]\ninput = 5\noutput = 5\nsince = 2020-01-01\n'
    )

    assert log.items("cost", "--run", "spec")[-1]["usd"] == 0


@pytest.mark.parametrize("options", [("--profile", "papper"), ("--run", "spek"), ("--reference", "zzz", "--all"), ()])
def test_what_is_not_there_is_refused(log, options):
    assert log("cost", *options).exit_code == 2


def test_a_call_that_cannot_be_read_is_not_left_out_in_silence(log):
    damage("spectrace.db", "UPDATE events SET payload = NULL, salt = NULL WHERE (key & 1048575) = 5")
    result = log("cost", "--all")

    assert result.exit_code == 3
    assert "Incomplete: event 5" in result.stderr
