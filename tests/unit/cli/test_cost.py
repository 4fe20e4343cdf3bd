import asyncio
import shutil

import pytest

from spectrace.core.baselines import StrongOnly
from spectrace.runs.live import Labels
from spectrace.store.sql import open_store
from tests.damage import damage
from tests.episodes import record_shop
from tests.spent import ALONE_TOLD, STRONG_TOLD, WEAK_TOLD


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
