from collections import Counter

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from spectrace.models.calls import InvalidReply, json_object
from spectrace.models.stream_calls import CallPieces

A, B = '{"loan_id":5001}', '{"member_id":88}'


def piece(index=None, id_=None, name=None, arguments=None):
    function = {"name": name, "arguments": arguments}
    named = {key: value for key, value in function.items() if value is not None}
    labels = {key: value for key, value in {"index": index, "id": id_}.items() if value is not None}
    return {**labels, "function": named}


def read(*pieces):
    calls = CallPieces()
    for one in pieces:
        calls.take(one)
    found = [(call["id"], call["function"]["name"], call["function"]["arguments"]) for call in calls.whole()]
    return found, calls.anomalies


def refused(*pieces):
    with pytest.raises(InvalidReply) as raised:
        read(*pieces)
    return str(raised.value)


def test_calls_with_good_labels_are_put_together():
    assert read(
        piece(0, "a", "renew", ""), piece(0, arguments=A[:5]), piece(1, "b", "pay", B[:5]), piece(0, arguments=A[5:]),
        piece(1, arguments=B[5:]),
    ) == ([("a", "renew", A), ("b", "pay", B)], ())  # fmt: skip


def test_calls_are_in_the_order_of_their_indexes():
    assert read(piece(1, "b", "pay", B), piece(0, "a", "renew", A))[0] == [("a", "renew", A), ("b", "pay", B)]


def test_labels_may_be_repeated_with_every_piece():
    assert read(piece(0, "a", "renew", A[:5]), piece(0, "a", "renew", A[5:])) == ([("a", "renew", A)], ())


@pytest.mark.parametrize("begun", ["", A[:5]])
@pytest.mark.parametrize("id_", ["a", None])
def test_a_name_may_be_repeated_with_every_piece_of_a_call_that_has_an_id(begun, id_):
    rest = [piece(0, id_, "renew", part) for part in (A[len(begun) : 9], A[9:])]

    assert read(piece(0, "a", "renew", begun), *rest) == ([("a", "renew", A)], ())


def test_an_id_may_come_before_the_name():
    assert read(piece(0, "a"), piece(0, name="renew", arguments=A)) == ([("a", "renew", A)], ())


def test_an_index_used_twice_is_two_calls_and_the_tail_is_the_open_ones():
    assert read(piece(0, "a", "renew", A), piece(0, "b", "pay", ""), piece(0, arguments=B)) == (
        [("a", "renew", A), ("b", "pay", B)],
        ("two tool calls carry the index 0",),
    )


def test_a_tail_may_carry_the_index_that_its_head_should_have_had():
    assert read(piece(0, "a", "renew", A), piece(0, "b", "pay", ""), piece(1, arguments=B))[0] == [
        ("a", "renew", A),
        ("b", "pay", B),
    ]


def test_without_an_index_the_order_decides():
    assert read(piece(None, "a", "renew", A[:5]), piece(arguments=A[5:]), piece(None, "b", "hours", "{}")) == (
        [("a", "renew", A), ("b", "hours", "{}")],
        ("a piece of a tool call has no index",),
    )


def test_one_id_for_two_whole_calls_is_two_calls():
    assert read(piece(0, "a", "renew", A), piece(1, "a", "renew", B))[0] == [("a", "renew", A), ("a", "renew", B)]


def test_one_id_and_no_index_for_two_whole_calls_is_two_calls():
    assert read(piece(None, "a", "renew", A), piece(None, "a", "renew", B))[0] == [
        ("a", "renew", A),
        ("a", "renew", B),
    ]


def test_broken_arguments_of_a_single_call_are_the_models_and_kept():
    assert read(piece(None, "a", "renew", '{"loan'))[0] == [("a", "renew", '{"loan')]


def test_broken_arguments_under_good_labels_are_the_models_and_kept():
    assert read(piece(0, "a", "renew", '{"loan'), piece(1, "b", "pay", B))[0] == [
        ("a", "renew", '{"loan'),
        ("b", "pay", B),
    ]


def test_an_object_in_one_piece_stays_an_object():
    assert read({"index": 0, "id": "a", "function": {"name": "renew", "arguments": {"n": 1}}})[0] == [
        ("a", "renew", {"n": 1})
    ]


def again(index, *parts):
    return [piece(index, None, "renew", part) for part in parts]


@pytest.mark.parametrize("head", [(), ("",)])
def test_under_indexes_that_go_up_a_name_may_come_again_without_an_id(head):
    sent = [*again(0, *head, A[:5], A[5:9], A[9:]), *again(1, *head, B[:5], B[5:]), piece(2, None, "hours", "")]

    assert read(*sent) == ([(None, "renew", A), (None, "renew", B), (None, "hours", "")], ())


def test_under_a_single_index_arguments_that_do_not_begin_anew_are_the_same_calls():
    assert read(*again(0, A[:5], A[5:9], A[9:])) == ([(None, "renew", A)], ())


def test_broken_arguments_of_the_last_call_whose_name_comes_again_are_the_models_and_kept():
    assert read(*again(0, A[:5], A[5:]), *again(1, B[:5], B[5:9]))[0][1] == (None, "renew", B[:9])


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ([piece(0, arguments=A)], "arguments come before any call"),
        ([piece(0, "a", "renew", ""), piece(0, "b", "pay", ""), piece(0, arguments=A)], "more than one call"),
        ([piece(0, "a", "renew", A[:5]), piece(0, "b", "pay", A[5:])], "the arguments of call 1 are not whole"),
        ([piece(None, "a", "renew"), piece(None, "b", "pay"), piece(arguments=A)], "could belong to two calls"),
        ([piece(0, "a", "renew", ""), piece(3, arguments=A)], "the index 3, which no call has"),
        ([piece(0, "a", "renew", ""), piece(0, "b", None, A)], "the new id 'b' names no function"),
        ([piece(0, "a", "re"), piece(0, "a", "new")], "the id 'a' names 're', then 'new'"),
        ([piece(0, None, "renew", A[:5]), piece(0, None, "pay", A[5:])], "comes inside the call 'renew'"),
        ([piece(None, None, "renew", A[:5]), piece(None, None, "pay", B)], "comes inside the call 'renew'"),
        ([piece(0, "a")], "tool call 1 names no function"),
        ([piece(0, "a", "renew", {"n": 1}), piece(0, arguments=A)], "pieces that are not all text"),
        (["x"], "is no object"),
        ([piece(0, None, "renew"), piece(0, None, "renew", A)], "may be a call of its own"),
        ([piece(0, None, "renew", A[:5]), piece(0, None, "renew", ""), piece(0, None, "renew", A[5:])], "of its own"),
        ([piece(0, None, "renew", '{"a":"'), piece(0, None, "renew", "{}"), piece(0, None, "renew", '"}')], "brace"),
        ([*again(0, "", A), piece(1, None, "pay", B)], "may be a call of its own"),
        ([*again(0, "", "", A), *again(1, "", B)], "may be a call of its own"),
        ([*again(0, A[:5]), *again(1, B[:5], B[5:])], "goes on while the arguments are unfinished"),
        ([*again(0, A[:5]), *again(1, B[:5]), *again(0, A[5:]), *again(1, B[5:])], "the index goes back"),
        ([*again(1, A[:5], A[5:]), *again(0, B[:5], B[5:])], "the index goes back"),
        ([*again(0, A), *again(0, B[:5], B[5:])], "stands for two calls"),
        ([*again(0, A[:5], A[5:]), piece(1, "b", "pay", B)], "other labels than index and name"),
        ([*again(0, A[:5], A[5:]), piece(1, None, "pay", B[:5]), piece(1, arguments=B[5:])], "other labels"),
        ([*again(None, A[:5], A[5:])], "comes inside the call 'renew'"),
        ([piece(None, "a", "renew", ""), piece(None, None, "renew", A)], "perhaps for a call that waits"),
        ([piece(None, "a", "renew"), piece(None, "b", "pay"), piece(None, None, "renew", A)], "that waits"),
        ([piece(0, "a", "renew"), piece(0, "b", "pay", B), piece(0, None, "renew", A)], "that waits"),
        ([piece(None, "a", "renew"), piece(None, "a", "renew", A)], "stands twice, without an index"),
        ([piece(0, "a", "renew"), piece(0, "a", "renew"), piece(0, arguments=A)], "name it again and some do not"),
        ([piece(0, "a", "renew"), piece(0, "a", "renew", A), piece(0, "a", "renew", B)], "calls share their ids"),
        ([piece(0, None, "renew", A), piece(0, None, "renew")], "may be the call before it, named again"),
    ],
)
def test_what_cannot_be_decided_is_refused_with_the_reason(pieces, words):
    assert words in refused(*pieces)


def test_unfinished_calls_can_be_shown():
    calls = CallPieces()
    calls.take(piece(0, "a", "renew", '{"loan'))

    assert calls.shown() == ['renew {"loan']


ARGUMENTS = st.sampled_from(["", "{}", A, B, '{"a":{"b":"}"}}'])
LABEL = st.sampled_from(["good", "good", "none", "zero"])


@given(st.lists(st.tuples(st.sampled_from(["renew", "pay"]), ARGUMENTS), min_size=1, max_size=4), st.data())
def test_bad_indexes_never_lead_to_merged_or_partial_arguments(sent, data):
    pieces = []
    for number, (name, arguments) in enumerate(sent):
        index = {"good": number, "none": None, "zero": 0}
        cut = data.draw(st.integers(0, len(arguments)))
        pieces.append(piece(index[data.draw(LABEL)], f"c{number}", name, arguments[:cut]))
        pieces += [piece(index[data.draw(LABEL)], arguments=arguments[cut:])] if arguments[cut:] else []

    try:
        found, _ = read(*pieces)
    except InvalidReply:
        event("refused")
    else:
        event("decided")
        runnable = [(name, text) for _, name, text in found if not text or json_object(text) is not None]
        assert Counter(runnable) <= Counter(sent)


@given(
    st.lists(st.tuples(st.sampled_from(["renew", "pay"]), ARGUMENTS), min_size=1, max_size=4),
    st.booleans(),
    st.booleans(),
    st.data(),
)
def test_names_in_every_piece_without_ids_are_the_calls_that_were_sent_or_refused(sent, numbered, headed, data):
    streams = []
    for number, (name, arguments) in enumerate(sent):
        at = sorted(data.draw(st.sets(st.integers(1, max(1, len(arguments) - 1)), max_size=3)))
        parts = [arguments[start:stop] for start, stop in zip([0, *at], [*at, len(arguments)], strict=True)]
        parts = [part for part in parts if part]
        parts = ["", *parts] if headed or not parts else parts
        streams.append([piece(number if numbered else 0, None, name, part) for part in parts])
    order = [number for number, stream in enumerate(streams) for _ in stream]
    if data.draw(st.booleans()):
        order = data.draw(st.permutations(order))
    pieces = [streams[number].pop(0) for number in order]

    try:
        found, _ = read(*pieces)
    except InvalidReply:
        event("refused")
    else:
        event(f"decided, numbered {numbered}")
        assert Counter((name, text) for _, name, text in found) == Counter(sent)
