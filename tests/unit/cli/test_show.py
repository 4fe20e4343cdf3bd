import json

import pytest

from spectrace.cli import show
from spectrace.core.digest import body_proof, first_link, link_over, text_digest
from spectrace.core.types import Finish
from spectrace.store.event_store import Pending
from spectrace.store.sql import open_store
from tests.damage import damage
from tests.episodes import recorded_events
from tests.playbook import accept
from tests.shop_log import REQUEST, recorded


def test_a_timeline_has_a_line_for_each_event(line, episode):
    rows = line("show", episode).stdout.splitlines()
    numbers = [row.split()[0] for row in rows[2:] if row.split() and row.split()[0].isdigit()]

    assert numbers == [str(seq) for seq in range(46)]


@pytest.mark.parametrize("width", [80, 120, 200])
def test_a_timeline_fits_the_terminal(line, episode, width):
    result = line("show", episode, env={"COLUMNS": str(width)})

    assert max(len(row) for row in result.stdout.splitlines()) <= width


def test_items_have_the_fields_that_others_rely_on(line, episode):
    items = line.items("show", episode)

    assert len(items) == 46
    assert {"seq", "type", "version", "at", "header", "body", "link"} <= set(items[0])
    assert items[10]["header"]["outcome"] == "reject"
    assert items[0]["body"]["task"]["request"] == REQUEST


def test_a_type_chooses_events(line, episode):
    assert [item["seq"] for item in line.items("show", episode, "--type", "verdict.given")] == [10, 28, 39]


def test_one_event_is_shown_in_full(line, episode):
    shown = line("show", f"{episode}:10").stdout

    assert f"── {episode}:10 verdict.given v1" in shown
    assert '"reason": "find the customer first"' in shown


def test_a_prompt_is_what_the_model_got(line, episode):
    shown = line("show", f"{episode}:3", "--as", "prompt").stdout

    assert shown.startswith("── 1 system")
    assert shown.rstrip().endswith(REQUEST)


def test_a_prompt_as_json_has_the_messages(line, episode):
    items = line.items("show", f"{episode}:3", "--as", "prompt")

    assert (items[0]["role"], items[-1]) == (
        "system",
        {"role": "user", "content": REQUEST, "calls": [], "call_id": None},
    )


@pytest.mark.parametrize("event", ["{}", "{}:1"])
def test_what_has_no_prompt_says_so(line, episode, event):
    assert line("show", event.format(episode), "--as", "prompt").exit_code == 2


def test_stored_bytes_are_enough_to_compute_the_chain(line, episode):
    link = first_link(episode)
    for item in line.items("show", episode, "--stored"):
        stored = item["stored"]
        proof = body_proof(bytes.fromhex(stored["salt"]), stored["body"].encode())
        link = link_over(link, stored["header"].encode(), proof)

        assert link.hex() == item["link"]


def test_stored_bytes_are_shown_to_people(line, episode):
    shown = line("show", f"{episode}:10", "--stored").stdout

    assert json.loads(shown.splitlines()[0].removeprefix("header "))[3] == "verdict.given"


def test_following_an_ended_episode_shows_it_and_ends(line, episode):
    result = line("show", episode, "--follow")

    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "Its state is ended.")
    assert "verdict.given" in result.stdout


@pytest.mark.parametrize("options", [["--json"], []])
def test_following_one_event_is_refused(line, episode, options):
    event = episode if options else f"{episode}:3"

    assert line("show", event, "--follow", *options).exit_code == 2


def test_a_misspelt_type_is_refused_and_the_known_ones_are_named(line, episode):
    result = line("show", episode, "--type", "verdict.givn")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "did you mean verdict.given?" in result.stderr
    assert "episode.started, " in result.stderr


@pytest.mark.parametrize("name", ["", ":5"])
def test_an_episode_must_be_named(line, episode, name):
    result = line("show", name)

    assert (result.exit_code, "its id or a unique prefix" in result.stderr) == (2, True)


@pytest.mark.parametrize("options", [[], ["--stored"], ["--json"], ["--type", "episode.ended"]])
def test_a_body_that_is_gone_and_an_event_that_is_missing_are_said(line, episode, options):
    damage("spectrace.db", "UPDATE events SET payload = NULL, salt = NULL WHERE (key & 1048575) = 10")
    damage("spectrace.db", "DELETE FROM events WHERE (key & 1048575) = 12")
    result = line("show", episode, *options)

    assert result.exit_code == 3
    assert f"event 12 of {episode} is missing" in result.stderr
    assert f"event 10 (verdict.given) of {episode} cannot be read: its body is missing" in result.stderr


@pytest.mark.parametrize(
    ("options", "shown"), [([], "generate.completed"), (["--stored"], "step.drafted"), (["--json"], "")]
)
def test_what_stands_before_an_event_that_cannot_be_read_is_shown(line, episode, options, shown):
    damage("spectrace.db", "UPDATE events SET at = 9223372036854775807 WHERE (key & 1048575) = 6")
    result = line("show", episode, *options)

    assert (result.exit_code, shown in result.stdout) == (3, True)
    assert result.stderr.startswith(f"Incomplete: event 6 of {episode} cannot be read: ")
    assert result.stderr.count("cannot be read") == 1


def test_an_episode_without_events_is_no_bug(line, episode):
    damage("spectrace.db", "DELETE FROM events")
    for command in ("show", "replay"):
        result = line(command, episode)

        assert result.exit_code in ({3} if command == "show" else {2, 125})
        assert "no event is there" in result.output
        assert "bug" not in result.output


def test_a_clock_that_went_back_is_told_below_the_timeline(line, episode):
    events = recorded_events()
    store = open_store("spectrace.db")
    writer = store.create("back", events[0].body, events[0].at)
    writer.append([Pending(1, "", events[0].at - 7_500_000, events[1].body)], durable=True)
    writer.close()
    store.close()

    result = line("show", "back")

    assert "The wall clock went back 7.5 s at event 1" in result.stderr
    assert "went back" not in line("show", episode).stderr


def test_a_very_long_text_is_cut_with_its_digest_and_json_has_it_whole(line, monkeypatch):
    monkeypatch.setattr(show, "_LONG", 40)
    store = open_store("spectrace.db")
    said = "a long answer " * 10
    episode = recorded(store, weak=[Finish(said)], strong=[accept()])
    store.close()
    last = line.items("show", episode)[-1]

    assert last["body"]["answer"] == said
    shown = " ".join(line("show", f"{episode}:{last['seq']}").stdout.split())
    assert f"{said[:40].strip()}… (+{len(said) - 40} characters; {text_digest(said)}; --json has it whole)" in shown


def test_a_prompt_of_very_many_messages_is_named_not_shown(line, episode, monkeypatch):
    monkeypatch.setattr(show, "_MESSAGES", 1)

    assert f'"messages": "2 messages: spectrace show {episode}:3 --as prompt"' in line("show", f"{episode}:3").stdout
    assert len(line.items("show", f"{episode}:3")[0]["body"]["messages"]) == 2
