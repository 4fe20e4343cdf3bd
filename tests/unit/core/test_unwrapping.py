"""What is taken off a reply before it is read, and what is not."""

import pytest

from spectrace.core.foreign_json import Unreadable
from spectrace.core.types import Completion, Message, Usage
from spectrace.core.unwrapping import (
    BYTE_ORDER_MARK,
    FENCE,
    THOUGHTS,
    Unwrapped,
    fence_in_prose,
    refuse_cut_off,
    token_limit,
    unwrapped,
    without_thoughts,
)


@pytest.mark.parametrize(
    ("text", "tolerated"),
    [
        (" \n{}\t", ()),
        ("\ufeff {}", (BYTE_ORDER_MARK,)),
        ("```json\n{}\n```", (FENCE,)),
        ("``` {} ```", (FENCE,)),
        ("<think>{}</think>\n{}", (THOUGHTS,)),
        ("\ufeff<thinking></thinking>```\n{}\n```\n", (BYTE_ORDER_MARK, THOUGHTS, FENCE)),
    ],
)
def test_what_stands_around_an_object_is_taken_off_and_named(text, tolerated):
    assert unwrapped(text) == Unwrapped("{}", tolerated)


@pytest.mark.parametrize("text", ["```[]\n{}\n```", "```\n{}\n``` ```\n{}\n```", "so: {}", "{} it is"])
def test_a_fence_that_is_not_around_one_object_and_prose_stay(text):
    assert unwrapped(text) == Unwrapped(text)


def test_what_stands_in_the_first_line_of_a_fence_is_never_dropped():
    assert unwrapped("```{} or\n{}\n```") == Unwrapped("{} or\n{}", (FENCE,))


@pytest.mark.parametrize("text", ["<think>{}", "<think>{}</thinking>{}", "<think>it says <think></think>{}"])
def test_thoughts_without_a_certain_end_are_refused(text):
    with pytest.raises(Unreadable, match="thoughts"):
        without_thoughts(text)


def test_thoughts_end_at_their_first_closing_tag():
    assert without_thoughts("<think>it says </think>{} no</think>[]") == ("{} no</think>[]", True)


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("Here:\n```\n{}\n```\nBye.", "{}"),
        ("Here: {}\n```\n{}\n```", None),
        ("Here `x`:\n```\n{}\n```", None),
        ("</think>```\n{}\n```", None),
        ("```\n{}\n``` or ```\n{}\n```", None),
        ("```\n[]\n``` it is", None),
        ("Here: {}", None),
    ],
)
def test_a_fence_in_prose_is_the_only_thing_there_that_looks_like_code(text, inside):
    assert fence_in_prose(text) == inside


@pytest.mark.parametrize(
    "reason",
    [
        "length",
        "LENGTH",
        "max_tokens",
        "content_filter",
        "abort",
        "refusal",
        "error",
        "pause_turn",
        "SAFETY",
        "no word yet",
    ],
)
def test_a_reply_that_its_server_calls_unfinished_is_cut_off(reason):
    with pytest.raises(Unreadable, match=f"cut off \\(finish reason {reason}\\)"):
        refuse_cut_off(Completion(Message("assistant", "{}"), finish_reason=reason), None)


@pytest.mark.parametrize("reason", [None, "", "stop", "STOP", "end_turn", "tool_calls", "eos"])
def test_a_reply_that_ended_by_itself_is_whole(reason):
    refuse_cut_off(Completion(Message("assistant", "{}"), finish_reason=reason), None)


def test_a_reply_of_every_token_that_it_may_have_is_cut_off_whatever_its_server_says():
    with pytest.raises(Unreadable, match="all of the 32 tokens"):
        refuse_cut_off(Completion(Message("assistant", "{}"), finish_reason="stop", usage=Usage(output=32)), 32)


@pytest.mark.parametrize(("output", "limit"), [(31, 32), (None, 32), (32, None)])
def test_a_reply_that_is_shorter_or_of_unknown_length_is_whole(output, limit):
    refuse_cut_off(Completion(Message("assistant", "{}"), finish_reason="stop", usage=Usage(output=output)), limit)


@pytest.mark.parametrize(
    ("parameters", "limit"),
    [('{"max_tokens": 32}', 32), ('{"max_completion_tokens": 8}', 8), ('{"max_tokens": null}', None), ("{}", None)],
)
def test_the_limit_is_what_the_model_was_asked_with(parameters, limit):
    assert token_limit(parameters) == limit
