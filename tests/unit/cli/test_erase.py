"""`spectrace erase` and what every command says of a log of which something was erased."""

import json
from base64 import b64encode
from dataclasses import replace

import pytest

from spectrace.store.erasing import Order, erase
from spectrace.store.erasing_plan import Named
from spectrace.store.sql import open_store
from tests.command_line import in_a_directory
from tests.erasures import ADDRESS, child_of, planted
from tests.shop_log import recorded


@pytest.fixture
def spectrace(monkeypatch, tmp_path):
    return in_a_directory(monkeypatch, tmp_path)


@pytest.fixture
def episodes(spectrace, tmp_path):
    """Two episodes that say the address."""
    store = open_store(str(tmp_path / "spectrace.db"))
    found = planted(store, episodes=2)
    store.close()
    return found


def by_result(items):
    found = {}
    for item in items:
        found.setdefault(item["result"], []).append(item)
    return found


def test_a_dry_run_says_what_would_be_erased_and_changes_nothing(spectrace, episodes, tmp_path):
    before = (tmp_path / "spectrace.db").read_bytes()
    found = by_result(spectrace.items("erase", "--matching", ADDRESS, "--dry-run"))

    assert {item["episode"] for item in found["planned"]} == set(episodes)
    assert all(item["why"] == "matches" and item["records"] == [] for item in found["planned"])
    assert found["texts"][0]["events"] > 0
    assert [item for item in found["not_reached"] if "made earlier" in item["detail"]]
    assert (tmp_path / "spectrace.db").read_bytes() == before


def test_what_was_erased_and_its_record_are_said(spectrace, episodes):
    found = by_result(spectrace.items("erase", episodes[0], "--by", "Ann", "--reason", "asked in a letter"))
    (item,) = found["erased"]
    said = spectrace("show", item["records"][0])

    assert (item["episode"], item["why"]) == (episodes[0], "named")
    assert item["ranges"] == [[0, item["events"] - 1]]
    assert "ordered by Ann" not in said.stdout
    assert '"person": "Ann"' in said.stdout
    assert "asked in a letter" in said.stdout


def test_children_are_listed(spectrace, episodes, tmp_path):
    store = open_store(str(tmp_path / "spectrace.db"))
    child = child_of(store, episodes[0])
    store.close()
    said = spectrace("erase", episodes[0], "--dry-run")

    assert said.exit_code == 0
    assert f"child of {episodes[0]}" in said.stdout
    assert child in said.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "say what to erase"),
        (("--matching", "a", "--retention"), "one of them"),
        (("--regex", "--retention"), "--regex and --ignore-case go with --matching"),
        (("--matching", ""), "matches everything"),
        (("--matching", "x", "--every", "1d"), "--every goes with --retention"),
        (("--retention", "--every", "1d", "--dry-run"), "--every goes with --retention"),
        (("--retention", "--every", "soon"), "a duration is 90s"),
        (("--retention",), "nothing says how long episodes are kept"),
        (("--before", "soon"), "a time is 2026-11-30"),
        (("--before", "2999-01-01"), "--before 2999-01-01 is in the future"),
        (("nobody",), "nobody"),
    ],
)
def test_what_cannot_be_meant_is_refused(spectrace, episodes, arguments, words):
    said = spectrace("erase", *arguments)

    assert said.exit_code == 2
    assert words in " ".join(said.stderr.split())


def test_without_a_database_none_is_made(spectrace, tmp_path):
    assert spectrace("erase", "--matching", "x").exit_code == 2
    assert not (tmp_path / "spectrace.db").exists()


def test_retention_erases_what_spectrace_toml_says(spectrace, episodes, tmp_path):
    (tmp_path / "spectrace.toml").write_text("[retention]\ndays = 30\n")
    store = open_store(str(tmp_path / "spectrace.db"))
    with store.database.writing(durable=True) as connection:
        connection.exec_driver_sql("UPDATE episodes SET started_at = 1, ended_at = 2 WHERE episode = ?", (episodes[1],))
    store.close()
    found = by_result(spectrace.items("erase", "--retention"))
    log, _, seq = found["erased"][0]["records"][0].partition(":")

    assert [item["episode"] for item in found["erased"]] == [episodes[1]]
    assert spectrace.items("show", f"{log}:{seq}")[0]["body"]["how"] == "retention"


def test_what_stays_is_said_and_the_exit_code_is_1(spectrace, episodes, tmp_path):
    store = open_store(str(tmp_path / "spectrace.db"))
    first = next(iter(store.read(episodes[0], 0, 1))).body
    store.create("filed", replace(first, project=ADDRESS), 1).close()
    store.close()
    said = spectrace("erase", "--matching", ADDRESS)

    assert said.exit_code == 1
    assert "Stays: the projects that episodes are filed under" in said.stderr


def test_spellings_that_are_not_looked_for_are_said(spectrace, episodes):
    said = " ".join(spectrace("erase", "--matching", ADDRESS, "--dry-run").stderr.split())

    assert "Not reached: other spellings of the text are not looked for: in hex" in said
    assert "--ignore-case" in said


def test_base64_is_found(spectrace, episodes, tmp_path):
    store = open_store(str(tmp_path / "spectrace.db"))
    first = next(iter(store.read(episodes[0], 0, 1))).body
    store.create("coded", replace(first, project=b64encode(f"to {ADDRESS}".encode()).decode()), 1).close()
    store.close()
    found = by_result(spectrace.items("erase", "--matching", ADDRESS, "--dry-run", code=1))

    assert "coded" in {item["episode"] for item in found["planned"]}
    assert [item["detail"] for item in found["stays"] if item["detail"].startswith("the projects")]


def test_now_is_not_in_the_future(spectrace, episodes):
    assert by_result(spectrace.items("erase", "--before", "0s", "--dry-run"))["planned"]


def test_hostile_text_is_shown_as_it_is(spectrace, episodes):
    said = spectrace("erase", "--matching", "[/bold]\x1b]8;;x", "--dry-run")

    assert said.exit_code == 0
    assert "\x1b" not in said.output


class TestErased:
    """What the other commands say."""

    @pytest.fixture
    def episode(self, spectrace, tmp_path):
        """An episode of which the second verdict, and what repeats it, is erased."""
        store = open_store(str(tmp_path / "spectrace.db"))
        found = recorded(store)
        seq = [event.seq for event in store.read(found) if event.type == "act.completed"][1]
        erase(store, Named(((found, seq),)), Order("Ann", None))
        store.close()
        return found, seq

    @pytest.fixture
    def whole(self, spectrace, tmp_path):
        """An episode of which everything is erased."""
        store = open_store(str(tmp_path / "spectrace.db"))
        found = recorded(store)
        erase(store, Named(((found, None),)), Order("Ann", None))
        store.close()
        return found

    def test_show_names_record_time_and_person(self, spectrace, episode):
        name, seq = episode
        said, timeline = spectrace("show", f"{name}:{seq}"), spectrace("show", name)
        item = spectrace.items("show", f"{name}:{seq}")[0]

        assert "erased: admin-" in said.stdout
        assert "ordered by Ann" in said.stdout
        assert (item["body"], item["erased"]["person"]) == (None, "Ann")
        assert timeline.exit_code == 0
        assert "are erased, as is on record in admin-" in timeline.stderr

    def test_following_shows_it(self, spectrace, episode):
        said = spectrace("show", "--follow", episode[0])

        assert said.exit_code == 0
        assert "erased" in said.stdout

    def test_replay_cannot_test_it_and_names_the_events(self, spectrace, episode, whole):
        said, all_of_it = spectrace("replay", episode[0]), spectrace("replay", whole)

        assert (said.exit_code, all_of_it.exit_code) == (125, 125)
        assert "are erased" in " ".join(said.output.split())
        assert "are erased" in " ".join(all_of_it.output.split())

    def test_ls_lists_it(self, spectrace, episode, whole):
        items = {item["episode"]: item for item in spectrace.items("ls")}

        assert items[episode[0]]["env"] == "shop"
        assert items[whole]["env"] == "(erased)"
        assert items[whole]["status"] == "completed"

    def test_why_tells_what_is_left_and_what_is_not(self, spectrace, episode, whole):
        said, nothing = spectrace("why", episode[0]), spectrace("why", whole)

        assert (said.exit_code, nothing.exit_code) == (3, 3)
        assert "are erased, as is on record" in " ".join(said.stderr.split())
        assert "are erased, as is on record" in " ".join(nothing.stderr.split())

    def test_the_ledger_lists_its_deeds_all_the_same(self, spectrace, episode, whole):
        items = [item for item in spectrace.items("audit", "actions", code=3) if item["episode"] == whole]
        wrote = next(item for item in items if item["outcome"] == "ok" and item["tool"] == "cancel_order")

        assert wrote["erased"] is True
        assert wrote["effect_declared"] == "write"
        assert wrote["authority"] == f"verdict:{wrote['verdict_seq']}"
        assert wrote["requested_at"] < wrote["completed_at"]

    def test_nothing_goes_on_from_it(self, spectrace, episode):
        name, seq = episode
        said = spectrace("fork", f"{name}:{seq + 4}", "--env", "shop", "--weak", "scripted:x", "--strong", "scripted:x")

        assert said.exit_code in {2, 125}
        assert "erased" in " ".join(said.output.split())

    def test_it_can_be_rebuilt_exported_packed_and_verified(self, spectrace, episode, whole, tmp_path):
        rebuilt = spectrace("db", "rebuild")
        exported = spectrace("export", "jsonl", episode[0], whole, "-o", "e.jsonl")
        packed = spectrace("pack", episode[0], whole, "-o", "e.zip")
        results = {item["result"] for item in spectrace.items("verify", "e.zip")}

        assert (rebuilt.exit_code, exported.exit_code, packed.exit_code) == (0, 0, 0), rebuilt.output
        assert results == {"consistent"}

    def test_it_comes_back_out_of_a_file_a_bundle_and_a_copy(self, spectrace, episode, whole, tmp_path):
        spectrace("export", "jsonl", episode[0], whole, "-o", "e.jsonl")
        spectrace("pack", episode[0], whole, "-o", "e.zip")
        for arguments, target in (
            (("import", "jsonl", "e.jsonl", "--db", "a.db"), "a.db"),
            (("unpack", "e.zip", "--db", "b.db"), "b.db"),
            (("db", "copy", "c.db"), "c.db"),
        ):
            done = spectrace(*arguments)
            verified = spectrace.items("verify", "--all", "--db", target)

            assert done.exit_code == 0, done.output
            assert {item["result"] for item in verified} == {"consistent"}
            assert whole in {item["episode"] for item in verified}
            assert spectrace("db", "check", "--db", target).exit_code == 0

    def test_without_the_log_that_says_so_it_does_not_come_in(self, spectrace, whole, tmp_path):
        spectrace("export", "jsonl", whole, "-o", "e.jsonl")
        lines = (tmp_path / "e.jsonl").read_text().splitlines()
        header = json.loads(lines[0])
        header["episodes"] = [whole]
        kept, ours = [json.dumps(header)], False
        for line in lines[1:]:
            record = json.loads(line)
            ours = record["episode"] == whole if "episode" in record else ours
            kept += [line] if ours else []
        (tmp_path / "alone.jsonl").write_text("\n".join(kept) + "\n")
        said = spectrace("import", "jsonl", "alone.jsonl", "--db", "a.db")

        assert said.exit_code != 0
        assert "no record of its erasure is here" in " ".join(said.output.split())

    def test_its_costs_are_told_as_far_as_they_are_left(self, spectrace, episode):
        said = spectrace("cost", episode[0])

        assert said.exit_code == 3
        assert "are erased" in " ".join(said.stderr.split())
