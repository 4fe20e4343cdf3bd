import pytest


@pytest.fixture
def exported(line, episode, tmp_path):
    line("export", "jsonl", episode, "-o", "a.jsonl")
    return tmp_path / "a.jsonl"


def test_an_item_has_the_fields_that_others_rely_on(line, episode, exported):
    assert line.items("import", "jsonl", "a.jsonl", "--db", "b.db") == [
        {
            "episode": episode,
            "losses": [],
            "file": "a.jsonl",
            "result": "stored",
            "events": 46,
            "first_bad_seq": None,
            "reason": None,
            "damage": [],
        }
    ]
    assert line.items("import", "jsonl", "a.jsonl", "--db", "b.db")[0]["result"] == "present"


def test_a_cut_end_is_done_with_a_warning_and_a_loss(line, exported):
    exported.write_bytes(exported.read_bytes()[:-100])
    result = line("import", "jsonl", "a.jsonl", "--db", "b.db")
    (item,) = line.items("import", "jsonl", "a.jsonl", "--db", "c.db")

    assert (result.exit_code, "event 45 is missing: the end of the episode is not in the file." in result.stderr) == (
        0,
        True,
    )
    assert item["losses"][0] == "event 45 is missing: the end of the episode is not in the file."
    assert [(one["line"] > 1, one["bytes"] > 1) for one in item["damage"]] == [(True, True)]


def test_damage_elsewhere_is_refused_unless_it_is_to_be_salvaged(line, episode, exported):
    lines = exported.read_bytes().splitlines(keepends=True)
    exported.write_bytes(b"".join([*lines[:20], lines[20][:100], *lines[21:]]))
    refused = line("import", "jsonl", "a.jsonl", "--db", "b.db")
    salvaged = line("import", "jsonl", "a.jsonl", "--db", "b.db", "--salvage")

    assert (refused.exit_code, "line 21, byte" in refused.stderr, "--salvage" in refused.stderr) == (2, True, True)
    assert salvaged.exit_code == 0
    assert "its chain is broken at event" in salvaged.stderr
    assert line("verify", episode, "--db", "b.db").exit_code == 1
    assert [one["status"] for one in line.items("ls", "--db", "b.db")] == ["interrupted"]


def test_a_refused_file_does_not_hold_up_the_others(line, exported, tmp_path):
    (tmp_path / "zero.jsonl").write_bytes(b"")
    result = line("import", "jsonl", "zero.jsonl", "missing.jsonl", "a.jsonl", "--db", "b.db")

    assert (result.exit_code, result.stderr.count("Error: "), "stored" in result.stdout) == (2, 2, True)


def test_a_file_that_is_refused_leaves_no_empty_log(line, tmp_path):
    (tmp_path / "bad.jsonl").write_text("{}")
    code = line("import", "jsonl", "bad.jsonl").exit_code

    assert (code, [path.name for path in tmp_path.iterdir()]) == (2, ["bad.jsonl"])
