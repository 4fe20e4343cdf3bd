import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectrace.core.types import Message, ToolCall
from spectrace.cost.radix import RadixCache
from spectrace.cost.tokens import approximate, in_tokens_of, message_ids

TEXTS = st.text(st.characters())


def test_four_bytes_are_a_token_and_a_turn_one_more():
    assert len(approximate([Message("user", "12345678"), Message("assistant", "123")])) == (1 + 2) + (1 + 1)


@given(TEXTS, TEXTS)
def test_texts_that_differ_have_other_ids(one, other):
    assert (message_ids(Message("user", one)) == message_ids(Message("user", other))) == (one == other)


@given(st.lists(TEXTS), TEXTS)
def test_a_prompt_that_goes_on_begins_with_the_ids_of_the_shorter_one(texts, last):
    short = [Message("user", text) for text in texts]

    assert approximate([*short, Message("user", last)])[: len(approximate(short))] == approximate(short)


def test_roles_have_ids_of_their_own():
    roles = ("system", "user", "assistant", "tool", "tools")

    assert len({message_ids(Message(role, ""))[0] for role in roles}) == len(roles)


def test_a_call_counts_with_its_name_and_arguments_but_not_its_id():
    one, other = (Message("assistant", "", (ToolCall(name, "get_order", '{"order_id": "W200"}'),)) for name in "ab")

    assert message_ids(one) == message_ids(other)
    assert len(message_ids(one)) == 1 + 3 + 5


def test_a_lone_surrogate_has_ids():
    assert len(message_ids(Message("user", "\ud800"))) == 2


@pytest.mark.parametrize(("server", "cached"), [(1000, 800), (10, 8), (1, 0), (0, 0)])
def test_the_share_that_was_found_is_told_in_the_servers_tokens(server, cached):
    assert in_tokens_of(server, 500, 400) == cached


def test_the_last_token_is_read_even_where_the_share_is_nearly_all():
    assert in_tokens_of(100, 10_000, 9_999) == 99


def test_an_appended_question_is_found_up_to_where_it_begins():
    history = [Message("system", "rules" * 100), Message("user", "hello" * 30)]
    cache = RadixCache()
    cache.prefill(approximate([*history, Message("user", "REVIEW")]))

    assert cache.prefill(approximate([*history, Message("user", "ACT NOW")])) == len(approximate(history)) + 1
