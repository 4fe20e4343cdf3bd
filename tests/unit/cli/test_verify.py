import sqlite3

import pytest

from spectrace.audit.integrity import NOT_PROVED


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


def test_naming_nothing_is_a_usage_error(line, episode):
    assert line("verify").exit_code == 2
