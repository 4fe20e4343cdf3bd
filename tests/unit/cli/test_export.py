import json

from spectrace.store.sql import open_store
from tests.shop_log import recorded


def test_an_item_has_the_fields_that_others_rely_on(line, episode):
    assert line.items("export", "jsonl", episode, "-o", "a.jsonl") == [
        {"episode": episode, "losses": [], "events": 46, "file": "a.jsonl"}
    ]


def test_what_was_exported_is_one_record_a_line(line, episode, tmp_path):
    assert "Exported 1 episode" in line("export", "jsonl", "--all", "-o", "a.jsonl").stdout
    records = [json.loads(record) for record in (tmp_path / "a.jsonl").read_text().splitlines()]

    assert sum("header" in record for record in records) == 46


def test_another_format_is_refused_with_those_that_there_are(line, episode):
    result = line("export", "csv", episode, "-o", "a.csv")

    assert (result.exit_code, "jsonl" in result.stderr) == (2, True)


def test_a_file_is_replaced_only_by_force(line, episode):
    line("export", "jsonl", episode, "-o", "a.jsonl")

    assert line("export", "jsonl", episode, "-o", "a.jsonl").exit_code == 2
    assert line("export", "jsonl", episode, "-o", "a.jsonl", "--force").exit_code == 0


def test_an_episode_is_told_as_chat_messages_and_what_they_do_not_say_is_said(line, episode, tmp_path):
    result = line("export", "openai", episode, "-o", "a.json")
    said = json.loads((tmp_path / "a.json").read_text())["messages"]

    assert (result.exit_code, [one["role"] for one in said][:3]) == (0, ["system", "user", "assistant"])
    assert "Verdicts" in result.stderr


def test_what_several_episodes_lose_is_said_once(line, episode):
    store = open_store("spectrace.db")
    recorded(store)
    store.close()
    said = line("export", "openai", "--all", "-o", "a.json").stderr

    assert said.count("Verdicts") == 1
    assert "2 episodes: " in said
