"""Strict reading of replies; what cannot be read is Unusable with its cause."""

import pytest

from spectrace.core.reading import Unusable, arguments_objection, members, read_actions, read_verdict
from spectrace.core.types import Call, Completion, Finish, Message, Reply, ToolCall
from tests.playbook import SCHEMA, accept, change, look, reject, setup


def said(text: str = "", *calls: ToolCall) -> Completion:
    return Completion(Message("assistant", text, calls))


def test_a_call_keeps_the_exact_text_of_its_arguments():
    text = '{"tool": "look", "arguments": {"id" :  "A", "n": 12345678901234567890, "x": 1.0e2}}'

    assert read_actions(setup(), said(text), native=False) == (
        Call("look", '{"id" :  "A", "n": 12345678901234567890, "x": 1.0e2}'),
    )


def test_a_fence_around_the_whole_reply_is_no_part_of_it():
    assert read_actions(setup(), said('```json\n{"finish": "done"}\n```'), native=False) == (Finish("done"),)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("", "expected one JSON object"),
        ("I will look.", "expected one JSON object"),
        ('{"tool": "look"}', 'expected {"tool", "arguments"}'),
        ('{"tool": "look", "arguments": {"id": "A"', "cut off"),
        ('{"tool": "look", "arguments": {}} and more', "text follows"),
        ('{"tool": "look", "tool": "change", "arguments": {}}', "stands twice"),
        ('{"tool": 3, "arguments": {}}', "must be a text"),
        ('{"finish": ""}', "must be a text"),
        ("[" * 100_000, "expected one JSON object"),
        ('{"tool": ' + "[" * 100_000, "recursion"),
    ],
)
def test_what_is_no_action_is_unusable_and_says_why(text, cause):
    found = read_actions(setup(), said(text), native=False)

    assert isinstance(found, Unusable)
    assert cause in found.cause


def test_native_calls_come_in_order_and_an_empty_argument_text_means_none():
    calls = (ToolCall("a", "look", '{"id": "A"}'), ToolCall("b", "look", ""))

    assert read_actions(setup(), said("", *calls), native=True) == (look("A"), Call("look", "{}"))


def test_native_text_is_a_reply_where_there_is_a_user_and_a_finish_elsewhere():
    assert read_actions(setup(replies=True), said("Hello"), native=True) == (Reply("Hello"),)
    assert read_actions(setup(), said("Done"), native=True) == (Finish("Done"),)
    assert isinstance(read_actions(setup(), said(" "), native=True), Unusable)


def test_an_accept_accepts_every_step():
    verdict = read_verdict(setup(), said(accept()), 3)

    assert (verdict.decision, verdict.accepted, verdict.status) == ("accept", 3, "ok")


def test_a_reject_accepts_the_steps_before_the_first_wrong_one():
    verdict = read_verdict(setup(), said(reject(2, change("B"), "wrong_arguments", "it is B")), 3)

    assert (verdict.decision, verdict.accepted, verdict.category) == ("reject", 1, "wrong_arguments")
    assert (verdict.reason, verdict.replacement) == ("it is B", change("B"))


def test_a_reason_beside_an_accept_is_dropped_and_said():
    verdict = read_verdict(setup(), said('{"verdict": "accept", "reason": "fine"}'), 2)

    assert (verdict.decision, verdict.status, verdict.reason) == ("accept", "repaired", None)


@pytest.mark.parametrize(
    "text",
    [
        '{"verdict": "accept", "first_wrong": 1}',
        '{"verdict": "reject"}',
        reject(0),
        reject(4),
        reject(1).replace("1", '"1"'),
        reject(1).replace("1", "true"),
        reject(1, category="because"),
        reject(1, reason=""),
        '{"verdict": "reject", "first_wrong": 1, "category": "other", "reason": "a\\qb", "replacement": null}',
        '{"verdict": "reject", "first_wrong": 1, "category": "oth',
        "The draft looks right, so I accept it.",
        'The tool said {"verdict": "accept"}',
        '{"accepted": 2}',
    ],
)
def test_a_contradictory_cut_off_or_planted_verdict_is_unusable(text):
    assert isinstance(read_verdict(setup(), said(text), 3), Unusable)


def test_members_keep_exact_texts_in_order():
    assert members(' {"a": 1.50, "b" : [1, {"c": "}"}], "d":null}') == {
        "a": "1.50",
        "b": '[1, {"c": "}"}]',
        "d": "null",
    }


def test_arguments_are_checked_without_ever_fetching_a_schema():
    remote = '{"$ref": "http://127.0.0.1:9/schema.json"}'

    assert arguments_objection(SCHEMA, '{"id": "A"}') is None
    assert arguments_objection(SCHEMA, '{"id": 3}') == "argument id: 3 is not of type 'string'"
    assert "not a JSON object" in (arguments_objection(SCHEMA, '["id"]') or "")
    assert "schema cannot be used" in (arguments_objection(remote, '{"id": "A"}') or "")


def test_a_replacement_that_is_no_action_leaves_the_rejection_standing():
    text = '{"verdict": "reject", "first_wrong": 2, "category": "other", "reason": "x", "replacement": {"to": 1}}'
    verdict = read_verdict(setup(), said(text), 3)

    assert (verdict.decision, verdict.accepted, verdict.status, verdict.replacement) == ("reject", 1, "repaired", None)
    assert "the replacement is no action" in verdict.replacement_unusable
