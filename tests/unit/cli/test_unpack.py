import shutil
import sqlite3
import zipfile

import pytest


@pytest.fixture
def bundle(line, episode):
    line("pack", episode, "-o", "a.zip")
    return "a.zip"


def test_an_item_says_what_came_of_each_episode(line, episode, bundle):
    first, second = line.items("unpack", bundle, "--db", "b.db"), line.items("unpack", bundle, "--db", "b.db")

    assert [(one["episode"], one["result"], one["events"], one["reason"]) for one in (*first, *second)] == [
        (episode, "stored", 46, None),
        (episode, "present", 46, None),
    ]


def test_what_was_unpacked_is_a_log_like_any_other(line, episode, bundle):
    line("unpack", bundle, "--db", "b.db")

    assert line.items("show", episode, "--db", "b.db") == line.items("show", episode)
    assert line.items("why", episode, "--db", "b.db") == line.items("why", episode)
    assert [one["result"] for one in line.items("verify", episode, "--db", "b.db")] == ["consistent"]
    assert line.items("replay", episode, "--db", "b.db")[0]["result"] == "same"
    assert [one for one in line.items("db", "check", "--db", "b.db") if not one["ok"]] == []


def test_commands_that_read_take_the_bundle_itself_and_leave_it_as_it_is(line, episode, bundle, tmp_path):
    before = (tmp_path / bundle).read_bytes()
    files = sorted(path.name for path in tmp_path.iterdir())
    result = line("ls", "--db", bundle)

    assert episode in result.stdout
    assert "is a bundle" in result.stderr
    assert "SHA-256" in result.stderr
    assert line.items("why", episode, "--db", bundle) == line.items("why", episode)
    assert line.items("verify", bundle) == line.items("verify", episode)
    assert (tmp_path / bundle).read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == files


def test_a_bundle_is_not_written_into(line, episode, bundle, tmp_path):
    before = (tmp_path / bundle).read_bytes()

    assert line("db", "upgrade", "--db", bundle).exit_code == 2
    assert line("import", "jsonl", "x", "--db", bundle).exit_code == 2
    assert (tmp_path / bundle).read_bytes() == before


def damaged(path):
    data = bytearray(path.read_bytes())
    data[500] ^= 4
    path.write_bytes(data)


def test_a_damaged_bundle_is_invalid_to_verify_and_refused_by_the_others(line, episode, bundle, tmp_path):
    damaged(tmp_path / bundle)

    assert {one["result"] for one in line.items("verify", bundle, code=1)} == {"invalid"}
    assert "Consistent means" not in line("verify", bundle).stdout
    assert line("ls", "--db", bundle).exit_code == 2
    assert line("unpack", bundle, "--db", "b.db").exit_code == 2


@pytest.mark.parametrize("damage", [lambda data: data[:-40], lambda data: b"MZ" + data, lambda data: b"XX" + data[2:]])
def test_what_is_left_of_a_bundle_is_invalid_to_verify_and_read_by_nobody(line, episode, bundle, tmp_path, damage):
    (tmp_path / bundle).write_bytes(damage((tmp_path / bundle).read_bytes()))
    (item,) = line.items("verify", bundle, code=1)

    assert (item["episode"], item["result"]) == ("a.zip", "invalid")
    assert [line(*command).exit_code for command in (("unpack", bundle, "--db", "b.db"), ("ls", "--db", bundle))] == [
        2,
        2,
    ]


def test_a_zip_that_is_no_bundle_is_refused_by_all(line, episode, tmp_path):
    with zipfile.ZipFile(tmp_path / "photos.zip", "w") as made:
        made.writestr("photo.jpg", b"x")

    for command in (("verify", "photos.zip"), ("unpack", "photos.zip", "--db", "b.db"), ("ls", "--db", "photos.zip")):
        assert line(*command).exit_code == 2


def test_another_episode_of_the_same_id_is_refused_and_the_answer_is_no(line, episode, bundle, tmp_path):
    shutil.copy(tmp_path / "spectrace.db", tmp_path / "b.db")
    connection = sqlite3.connect(tmp_path / "b.db")
    connection.execute("UPDATE episodes SET head = zeroblob(32) WHERE number > 0")
    connection.commit()
    connection.close()
    result = line("unpack", bundle, "--db", "b.db")
    (item,) = line.items("unpack", bundle, "--db", "b.db", code=1)

    assert (result.exit_code, "Refused: " in result.stderr) == (1, True)
    assert (item["result"], episode in item["reason"]) == ("refused", True)


def test_what_is_no_bundle_is_refused_and_makes_no_database(line, episode, tmp_path):
    result = line("unpack", "spectrace.db", "--db", "b.db")

    assert (result.exit_code, "is no bundle" in result.stderr) == (2, True)
    assert line("unpack", "missing.zip", "--db", "b.db").exit_code == 2
    assert not (tmp_path / "b.db").exists()


def test_a_bundle_above_the_limit_is_refused(line, bundle):
    assert line("unpack", bundle, "--db", "b.db", "--max-gib", "0").exit_code == 2


def test_a_bundle_that_is_refused_leaves_no_empty_log(line, episode, bundle, tmp_path):
    with zipfile.ZipFile(bundle) as whole, zipfile.ZipFile("altered.zip", "w") as altered:
        for name in whole.namelist():
            data = whole.read(name)
            altered.writestr(name, data.replace(b"shop", b"stop") if name.startswith("episodes/") else data)
    result = line("unpack", "altered.zip", "--db", "b.db")

    assert (result.exit_code, "Nothing of it was stored" in result.stderr.replace("\n", " ")) == (2, True)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("b.db")] == []
