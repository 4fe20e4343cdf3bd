import json

import pytest

from tests.tau2_files import AIRLINE


@pytest.fixture
def imported(line):
    return line.items("import", "tau2", AIRLINE, "--name", "filed", "--project", "p")


def test_an_item_has_the_fields_that_others_rely_on(imported):
    assert {"episode", "losses"} <= set(imported[0])
    assert imported[0]["losses"] == sorted(imported[0]["losses"])


def test_what_was_imported_is_a_log_like_any_other(line, imported):
    ids = {item["episode"] for item in imported}

    assert {item["episode"] for item in line.items("ls", "--run", "filed", "--project", "p")} == ids
    assert {item["result"] for item in line.items("verify", "--all")} == {"consistent"}
    assert {item["kind"] for item in line.items("runs")} == {"import"}


def test_what_a_file_says_of_its_cost_is_told_apart_from_a_cost(line, imported):
    (run,) = line.items("runs")
    episodes = line.items("ls")

    assert ({one["cost_usd"] for one in [run, *episodes]}, {one["cost_usd_at_least"] for one in episodes}) == (
        {None},
        {None},
    )
    assert float(run["stated_usd"]) == pytest.approx(sum(float(one["stated_usd"]) for one in episodes))
    assert "stated USD" in line("ls", env={"COLUMNS": "300"}).stdout.splitlines()[0]


def test_importing_again_records_nothing_twice(line, imported):
    again = line.items("import", "tau2", AIRLINE)

    assert [bool(item["skipped"]) for item in again] == [True] * len(imported)
    assert len(line.items("ls")) == len(imported)


def test_people_are_told_how_many(line):
    assert "imported, 0 were here already" in line("import", "tau2", AIRLINE).stdout


def test_a_file_that_is_no_result_file_is_refused_and_the_others_are_not_held_up(line, tmp_path):
    (tmp_path / "other.json").write_text("{}")
    (tmp_path / "text.json").write_text("not JSON")
    result = line("import", "tau2", "other.json", "text.json", "missing.json", AIRLINE)

    assert (result.exit_code, result.stderr.count("Error: ")) == (2, 3)
    assert "imported, 0 were here already" in result.stdout


def test_a_file_that_is_refused_gives_no_document(line, tmp_path):
    (tmp_path / "other.json").write_text("{}")
    refused = line("import", "tau2", "other.json", "--json")

    assert (refused.exit_code, refused.stdout) == (2, "")
    assert line.items("import", "tau2", "other.json", AIRLINE, code=2)


def test_files_are_asked_for(line):
    assert line("import", "tau2").exit_code == 2


def test_a_file_that_is_refused_leaves_no_empty_log(line, tmp_path):
    (tmp_path / "bad.json").write_text("{")
    code = line("import", "tau2", "bad.json").exit_code

    assert (code, [path.name for path in tmp_path.iterdir()]) == (2, ["bad.json"])


def test_chat_messages_are_imported_and_exported_as_they_were(line, tmp_path):
    said = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello.", "reasoning": ""}]
    (tmp_path / "talk.json").write_text(json.dumps(said))
    (item,) = line.items("import", "openai", "talk.json", "--name", "talks")
    line("export", "openai", "--run", "talks", "-o", "again.json")

    assert (item["task"], json.loads((tmp_path / "again.json").read_text())) == ("talk", said)
    assert {one["result"] for one in line.items("verify", "--all")} == {"consistent"}


def test_a_file_that_holds_no_messages_is_refused(line, tmp_path):
    (tmp_path / "talk.json").write_text("{}")
    refused = line("import", "openai", "talk.json")

    assert (refused.exit_code, "expected chat messages in OpenAI's format" in " ".join(refused.stderr.split())) == (
        2,
        True,
    )


def test_a_project_that_holds_a_secret_is_refused(line):
    result = line("import", "tau2", AIRLINE, "--project", "ghp_" + "a1B2" * 9)

    assert (result.exit_code, result.stdout, "ghp_" in result.stderr) == (2, "", False)
