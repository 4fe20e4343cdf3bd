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
    (item,) = line.items("import", "jsonl", "a.jsonl", "--db", "c.db", code=3)

    assert (result.exit_code, "event 45 is missing: the end of the episode is not in the file." in result.stderr) == (
        3,
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
    assert salvaged.exit_code == 3
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


@pytest.mark.parametrize(
    "kept",
    [
        lambda lines: lines[:1],
        lambda lines: lines[:-3],
        lambda lines: [one for one in lines if not one.startswith(b'{"blob"')],
        lambda lines: [*lines[:9], b"\0" * 50 + b"\n", *lines[9:]],
    ],
    ids=["first line alone", "end cut", "texts lost", "bytes between"],
)
def test_an_import_that_lacks_something_does_not_pass_for_a_whole_one(line, exported, kept):
    lines = exported.read_bytes().splitlines(keepends=True)
    exported.write_bytes(b"".join(kept(lines)))
    (item,) = line.items("import", "jsonl", "a.jsonl", "--db", "b.db", "--salvage", code=3)

    assert item["losses"] or item["damage"]


def test_a_file_that_is_refused_gives_no_document(line, exported, tmp_path):
    (tmp_path / "zero.jsonl").write_bytes(b"")
    refused = line("import", "jsonl", "zero.jsonl", "--db", "b.db", "--json")
    both = line.items("import", "jsonl", "zero.jsonl", "a.jsonl", "--db", "b.db", code=2)

    assert (refused.exit_code, refused.stdout) == (2, "")
    assert [one["result"] for one in both] == ["stored"]


def test_a_name_that_is_no_id_is_lost_by_name_and_the_others_are_salvaged(line, episode, exported):
    data = exported.read_bytes()
    first, *rest = data.splitlines(keepends=True)
    both = first.replace(b'["', b'["../../etc/passwd","')
    hostile = b"".join(rest).replace(episode.encode(), b"../../etc/passwd")
    exported.write_bytes(both + hostile + b"".join(rest))
    refused = line("import", "jsonl", "a.jsonl", "--db", "b.db")
    lost, stored = sorted(
        line.items("import", "jsonl", "a.jsonl", "--db", "b.db", "--salvage", code=3), key=lambda one: one["result"]
    )

    assert (refused.exit_code, "line 1, byte 0" in refused.stderr) == (2, True)
    assert "the first line names '../../etc/passwd'" in refused.stderr
    assert [(one["episode"], one["result"], one["events"]) for one in (lost, stored)] == [
        ("../../etc/passwd", "lost", 0),
        (episode, "stored", 46),
    ]
    assert (stored["losses"], stored["first_bad_seq"]) == ([], None)
    assert any(loss.startswith("line 2, byte ") for loss in lost["losses"])
    assert len(lost["losses"]) == 1 + 1 + 1 + 46
    assert [one["status"] for one in line.items("ls", "--db", "b.db")] == ["completed"]


def test_of_many_faults_the_first_is_told_and_how_many_there_are(line, exported):
    data = exported.read_bytes()
    exported.write_bytes(data + data)
    said = line("import", "jsonl", "a.jsonl", "--db", "b.db").stderr

    assert "a second file begins here: split the file there, and import each part. That is the first of" in said
    assert ".. " not in said
