"""The scripted table of the paper's kind: five protocols, four shop tasks, run and compared by the command line."""

import csv
import io
import json

import pytest
from click.testing import CliRunner

from spectrace.cli import main
from tests.protocol_table import OPTIONS, PROTOCOLS, TASKS, script_files

PRICES = "".join(
    f'[prices."scripted:{who}"]\ninput = {read}\ncached = {cached}\noutput = {written}\nsince = "2026-01-01"\n'
    for who, read, cached, written in (("weak", "0.1", "0.01", "0.4"), ("strong", "2", "0.2", "8"))
)

TABLE = {
    "tasks": ["4", "4", "4", "4", "4"],
    "episodes": ["4", "4", "4", "4", "4"],
    "excluded": ["0", "0", "0", "0", "0"],
    "Pass@1 %": ["25.0", "100.0", "100.0", "100.0", "50.0"],
    "less strong-only, points": ["-75.0", "-", "0.0", "0.0", "-50.0"],
    "p of no difference": ["0.250", "-", "1.000", "1.000", "0.500"],
    "strong calls / episode": ["0.0", "3.8", "2.2", "3.8", "1.5"],
    "weak calls / episode": ["4.0", "0.0", "4.2", "4.5", "4.2"],
}
"""Rows that depend on what the protocols do, and not on the length of a prompt."""


def command(*arguments):
    result = CliRunner().invoke(main, [*arguments, "--db", "log.db"], prog_name="spectrace")
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Every protocol recorded by `run`, one run each; the working directory stays there."""
    directory = tmp_path_factory.mktemp("table")
    (directory / "spectrace.toml").write_text(PRICES)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        patch.setenv("COLUMNS", "160")
        for name in ("SPECTRACE_DB", "SPECTRACE_CONFIG"):
            patch.delenv(name, raising=False)
        for protocol in PROTOCOLS:
            weak, strong = script_files(directory, protocol)
            options = [part for option in OPTIONS.get(protocol, ()) for part in ("-o", option)]
            asked = ("--env", "shop", "--task", ",".join(TASKS), "--protocol", protocol, "--name", protocol)
            command("run", *asked, *options, "--weak", weak, "--strong", strong)
        yield directory


@pytest.fixture(scope="module")
def items(log):
    found = json.loads(command("compare", *PROTOCOLS, "--json"))["items"]
    return {(item["column"], item["metric"]): item for item in found}


def rows(text, separator):
    """The table's rows by their titles."""
    split = [[cell.strip() for cell in line.strip("|").split(separator)] for line in text.splitlines()]
    return {row[0].replace("\\", ""): [cell for cell in row[1:] if cell] for row in split if len(row) > 1}


def test_the_table_for_people_has_the_values(log):
    found = rows(command("compare", *PROTOCOLS), "  ")

    assert {title: found[title] for title in TABLE} == TABLE


def test_the_markdown_table_has_the_same_values(log):
    found = rows(command("compare", *PROTOCOLS, "--format", "md"), "|")

    assert {title: found[title] for title in TABLE} == TABLE


def test_the_latex_table_has_the_same_values(log):
    text = command("compare", *PROTOCOLS, "--format", "latex").replace(r" \\", "")
    found = rows(text, "&")

    assert {title: found[title] for title in TABLE} == TABLE


def test_the_csv_holds_what_json_holds(log, items):
    found = csv.DictReader(io.StringIO(command("compare", *PROTOCOLS, "--format", "csv")))
    values = {(row["column"], row["metric"]): row for row in found}

    assert values.keys() == items.keys()
    for key, item in items.items():
        assert values[key]["value"] == ("" if item["value"] is None else str(item["value"]))
        assert values[key]["method"] == item["method"]


def test_tokens_are_those_that_the_models_counted(items, log):
    recorded = {
        protocol: json.loads((log / f"{protocol}-strong.json").read_text())["by_task"] for protocol in PROTOCOLS
    }
    for protocol, by_task in recorded.items():
        usages = [reply["usage"] for replies in by_task.values() for reply in replies]
        written = sum(usage["output"] for usage in usages) / 4
        read = sum(usage["input"] - usage["cached"] for usage in usages) / 4

        assert items[protocol, "strong_output"]["value"] == written
        assert items[protocol, "strong_uncached"]["value"] == read


def test_the_radix_model_finds_no_more_than_what_was_not_read_before(items):
    for protocol in PROTOCOLS:
        modelled = items[protocol, "strong_uncached_modelled"]["value"]

        assert 0 <= modelled <= items[protocol, "strong_uncached"]["value"]


def test_money_is_tokens_times_prices(items, log):
    def dollars(protocol):
        total = 0.0
        for who, (new, cached, written) in {"weak": (0.1, 0.01, 0.4), "strong": (2, 0.2, 8)}.items():
            by_task = json.loads((log / f"{protocol}-{who}.json").read_text())["by_task"]
            for usage in (reply["usage"] for replies in by_task.values() for reply in replies):
                fresh = usage["input"] - usage["cached"]
                total += round(fresh * new + usage["cached"] * cached + usage["output"] * written)
        return total / 4 / 1e6

    assert {one: items[one, "cost_usd"]["value"] for one in PROTOCOLS} == pytest.approx(
        {one: dollars(one) for one in PROTOCOLS}
    )


def test_r_in_money_is_accounted_against_strong_only(items):
    found = {one: items[one, "r_accounted_usd"]["value"] for one in PROTOCOLS}

    assert (found["weak-only"], found["strong-only"]) == (0, pytest.approx(1, rel=1e-9))
    assert found["specagent"] == pytest.approx(items["specagent", "r_proposition_usd"]["value"], rel=1e-9)


def test_four_tasks_have_no_interval_and_no_gap(items):
    spans = [key for key, item in items.items() if item["low"] is not None and key[1] != "pass1_bounds"]

    assert spans == []
    assert items["specagent", "gap_recovered"]["method"] == "none: fewer than 10 tasks"


def test_the_methods_line_says_how_the_table_was_made(log):
    said = " ".join(command("compare", *PROTOCOLS).split())

    assert "20 episodes, 4 tasks x 1 trial, 1 at once; Pass@1 (reward >= 1;" in said
    assert "models weak scripted:weak, strong scripted:strong;" in said
