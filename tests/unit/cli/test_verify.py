import json
import sqlite3

import pytest

from spectrace.audit.integrity import NOT_PROVED
from spectrace.store.sql import open_store
from tests.damage import past_the_triggers
from tests.shop_log import recorded
from tests.tampering.forgery import remove


def test_an_item_has_the_fields_that_others_rely_on(line, episode):
    assert line.items("verify", episode) == [
        {
            "episode": episode,
            "result": "consistent",
            "events": 46,
            "first_bad_seq": None,
            "covered_to": 45,
            "detail": "whole, from its start to its end",
        }
    ]


def test_people_are_told_what_it_does_not_prove(line, episode):
    result = line("verify", episode)

    assert result.exit_code == 0
    assert NOT_PROVED in " ".join(result.stdout.split())


@pytest.fixture
def altered(episode):
    connection = sqlite3.connect("spectrace.db")
    connection.execute("DROP TRIGGER events_no_update")
    connection.execute("UPDATE events SET outcome = 'accept' WHERE (key & 1048575) = 10")
    connection.commit()
    connection.close()
    return episode


def test_an_altered_event_is_named_and_the_answer_is_no(line, altered):
    (item, _) = line.items("verify", "--all", code=1)

    assert (item["result"], item["first_bad_seq"], item["covered_to"]) == ("invalid", 10, 9)


def test_all_is_the_administrative_log_too(line, episode):
    _, log = line.items("verify", "--all")

    assert (log["episode"][:6], log["result"], log["detail"]) == (
        "admin-",
        "consistent",
        "whole, up to its last record",
    )


def test_what_is_invalid_is_not_followed_by_what_consistent_means(line, altered):
    result = line("verify", altered)

    assert (result.exit_code, "Consistent means" in result.stdout) == (1, False)


def test_a_file_that_is_called_a_zip_and_is_none_is_said_to_be_no_bundle(line, episode, tmp_path):
    (tmp_path / "a.zip").write_bytes(b"hello")
    result = line("verify", "a.zip")

    assert (result.exit_code, "a.zip is no bundle: it is no zip" in result.stderr) == (2, True)


def test_a_key_alone_proves_nothing_of_a_log_and_is_no_comfort(line, episode):
    line("checkpoint", "key", "log", "-o", "k")

    assert line("verify", "--all", "--key", "k.pub").exit_code == 2


def test_naming_nothing_is_a_usage_error(line, episode):
    assert line("verify").exit_code == 2


@pytest.fixture
def signed(line, episode):
    """The options that prove; a second episode, which an old and a later filter tell from the first, is recorded."""
    store = open_store("spectrace.db")
    second = recorded(store)
    store.close()
    line("checkpoint", "key", "log", "-o", "k")
    assert line("checkpoint", "create", "-o", "cp", "--key", "k").exit_code == 0
    with past_the_triggers("sqlite:///spectrace.db") as connection:
        remove(connection, episode)
        connection.commit()
    return episode, second, ("--checkpoint", "cp", "--key", "k.pub")


@pytest.mark.parametrize("filters", ["--since 2020-01-01", "--env shop", "--status completed", "--all --run first"])
def test_a_removed_episode_is_reported_whatever_it_is_chosen_by(line, signed, filters):
    removed, second, proof = signed
    items = line.items("verify", *filters.split(), *proof, code=1)

    assert {one["episode"]: one["result"] for one in items if one["episode"] != second} == {removed: "invalid"}


def test_a_removed_episode_that_passes_no_filter_is_not_reported(line, signed):
    result = line("verify", "--until", "2020-01-01", *signed[2])

    assert (result.exit_code, "no episode passes" in result.stderr) == (2, True)


def test_a_filter_that_only_the_removed_one_passed_is_answered(line, signed):
    removed, second, proof = signed
    with past_the_triggers("sqlite:///spectrace.db") as connection:
        remove(connection, second)
        connection.commit()

    assert {one["episode"] for one in line.items("verify", "--since", "1h", *proof, code=1)} == {removed, second}


@pytest.mark.parametrize("name", [slice(0, 5), slice(None)])
def test_a_removed_episode_is_named_by_a_prefix_and_on_stdin(line, signed, name):
    removed, second, proof = signed
    (item,) = line.items("verify", removed[name], *proof, code=1)
    result = line("verify", "-", *proof, "--json", input=f"{removed[name]}\n{second}\n")

    assert (item["episode"], item["detail"].startswith("removed")) == (removed, True)
    assert result.exit_code == 1
    assert {one["episode"]: one["result"] for one in json.loads(result.stdout)["items"]} == {
        removed: "invalid",
        second: "valid",
    }


def test_an_episode_that_is_in_neither_is_a_usage_error(line, signed):
    assert line("verify", "zzzz", *signed[2]).exit_code == 2


@pytest.fixture
def bundled(line, signed):
    """A bundle of one of two signed episodes, and what is given with it."""
    assert line("pack", signed[1], "-o", "a.zip").exit_code == 0
    return ("a.zip", *signed[2])


def test_a_bundle_is_asked_whether_it_holds_all_of_a_period(line, bundled, signed):
    of_today = {one["episode"]: one["result"] for one in line.items("verify", *bundled, "--since", "1h", code=1)}
    of_once = {one["episode"]: one["result"] for one in line.items("verify", *bundled, "--until", "2020-01-01")}

    assert (of_today[signed[0]], of_today[signed[1]]) == ("invalid", "valid")
    assert (signed[0] in of_once, of_once[signed[1]]) == (False, "valid")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--env", "shop"], "--env shop chooses nothing of it"),
        (["--env", "shop", "--since", "1h"], "--env shop chooses nothing of it"),
        (["--since", "1h", "--all"], "ask for one, then for the other"),
    ],
)
def test_a_filter_that_says_nothing_of_a_bundle_is_refused(line, bundled, more, words):
    result = line("verify", *bundled, *more)

    assert (result.exit_code, words in " ".join(result.stderr.split())) == (2, True)


def test_a_period_asks_for_a_key(line, bundled):
    result = line("verify", "a.zip", "--since", "1h")

    assert (result.exit_code, "add --key PUB" in " ".join(result.stderr.split())) == (2, True)
