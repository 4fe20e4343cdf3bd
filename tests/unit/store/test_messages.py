import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectrace.core.types import Message
from spectrace.store.messages import MessageReader, MessageWriter

LISTS = st.lists(st.lists(st.sampled_from("abcdefgh").map(lambda text: Message("user", text)), max_size=12), max_size=8)


def encode(message):
    return message.content


@given(LISTS)
def test_any_lists_in_any_order_come_back_equal(lists):
    writer, reader = MessageWriter(), MessageReader()

    found = [reader.resolve(writer.refer(messages, encode)) for messages in lists]

    assert found == [[message.content for message in messages] for messages in lists]


@given(LISTS)
def test_each_distinct_message_is_written_once(lists):
    writer = MessageWriter()

    written = [new for messages in lists for new in writer.refer(messages, encode)["new"]]

    assert sorted(written) == sorted({message.content for messages in lists for message in messages})


def test_ranges_spell_the_whole_list_and_new_messages_follow_the_base():
    a, b, c, d = (Message("user", text) for text in "abcd")
    writer = MessageWriter()
    writer.refer([a, b, c], encode)

    assert writer.refer([a, c, d, a], encode) == {"ranges": [[0, 1], [2, 2], [0, 1]], "base": 3, "new": ["d"]}


def test_equal_messages_are_one_whichever_object_says_them():
    writer = MessageWriter()
    writer.refer([Message("user", "a")], encode)

    assert writer.refer([Message("user", "a")], encode)["new"] == []


def test_a_rewound_message_is_new_again():
    a, b = Message("user", "a"), Message("user", "b")
    writer = MessageWriter()
    writer.refer([a], encode)
    mark = writer.mark()
    writer.refer([a, b], encode)
    writer.rewind(mark)

    assert writer.refer([a, b], encode) == {"ranges": [[0, 2]], "base": 1, "new": ["b"]}


def test_a_message_that_is_gone_is_a_lookup_error():
    with pytest.raises(LookupError):
        MessageReader().resolve({"ranges": [[0, 2]], "base": 1, "new": ["b"]})


@pytest.mark.parametrize(
    "reference", [None, [], {}, {"base": 0, "new": 1}, {"ranges": [[0, 1]], "base": "0", "new": []}]
)
def test_what_is_no_reference_is_refused(reference):
    with pytest.raises(ValueError, match="by reference"):
        MessageReader().resolve(reference)
