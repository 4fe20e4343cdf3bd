"""One character of a prompt, of a tool's schema, of K or of the parser: found at its event, named, exit code 1."""

from dataclasses import replace

import pytest

from spectrace.core import reading
from spectrace.core.prompts import Prompts
from spectrace.store.sql import open_store
from tests.stored_episodes import blobs_of, chained, put, resolved, told_lines


def diverged(line, *arguments):
    """Replay; return where it diverged, having seen that people are told the same."""
    (item,) = line.items("replay", "--all", *arguments, code=1)
    shown = line("replay", "--all", *arguments)
    first = item["first_difference"]

    assert (item["result"], shown.exit_code) == ("diverged", 1)
    assert f"same up to {item['compared']} of {item['total']} events" in shown.stdout
    assert first["cause"] in " ".join(shown.stdout.split())
    return first


def first_asked(line, episode, role):
    found = line.items("show", episode, "--type", "generate.requested")
    return next(one["seq"] for one in found if one["body"]["role"] == role)


def test_of_a_prompt_at_the_first_question_that_holds_it(line, logged, tmp_path):
    changed = replace(Prompts(), review=Prompts().review.replace("REVIEW", "REVIEV"))
    (tmp_path / "prompts.json").write_text(changed.to_json())
    first = diverged(line, "--prompts", "prompts.json")

    assert (first["seq"], "/prompts/review" in first["cause"]) == (first_asked(line, logged, "reviewer"), True)


ENVIRONMENT = """
from dataclasses import replace
from spectrace.environments.shop import open_shop

def env():
    desk = open_shop()
    tools = tuple(replace(one, parameters=one.parameters.replace("order_id", "order_ie")) for one in desk.tools())
    desk.tools = lambda: tools
    return desk
"""


@pytest.mark.parametrize("manner", ["--check", "--tools=live"])
def test_of_a_tools_schema_here_by_the_tools_name_before_anything_runs(line, logged, tmp_path, monkeypatch, manner):
    (tmp_path / "misspelt_desk.py").write_text(ENVIRONMENT)
    monkeypatch.syspath_prepend(tmp_path)
    (item,) = line.items("replay", logged, manner, "--env", "misspelt_desk:env", code=125)
    told = [one["field"] for one in item.get("findings", [])] or [item["detail"]]

    assert any("/tools/get_order/parameters/properties/order_i" in one for one in told)


def test_of_a_tools_schema_in_the_record_at_the_first_question_by_the_tools_name(line, logged):
    store = open_store("spectrace.db")
    lines = told_lines(store, logged)
    blobs = blobs_of(store, chained(logged, lines))
    store.close()
    started = resolved(lines[0][1], blobs)
    (tool,) = (one for one in started["tools"] if one["name"] == "get_order")
    tool["parameters"] = tool["parameters"].replace("order_id", "order_ie")
    other = open_store("other.db")
    put(other, chained("other", [(lines[0][0], started), *lines[1:]]), blobs)
    other.close()
    first = diverged(line, "--db", "other.db")

    assert first["seq"] == first_asked(line, logged, "drafter")
    assert first["cause"] == "Tool get_order changed: its name, description or schema."


def test_of_k_where_the_segment_closes_by_the_options_name(line, logged):
    first = diverged(line, "-o", "k=1")

    assert "/options/k (recorded 6, now 1)" in first["cause"]
    assert "segment.closed" in first["found"]


def test_of_the_parser_behind_the_reply_that_is_read_otherwise(line, logged, monkeypatch):
    original = reading.members

    def misread(text, *, strict=False):
        return original(text.replace("get_order", "get_orden"), strict=strict)

    monkeypatch.setattr(reading, "members", misread)
    first = diverged(line)
    replies = [one["seq"] for one in line.items("show", logged, "--type", "generate.completed")]

    assert first["seq"] - 1 in replies
    assert f"The reply of event {first['seq'] - 1} is read otherwise: the parser changed" in first["cause"]
