"""Calls streamed under labels of every style: what is decided is what was sent, and in doubt the reply is refused.

The one merge that is allowed: pieces whose index, id and name are all equal are one call by the dialect, so a server
that gives these to two calls loses the one without arguments.
"""

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from spectrace.models.calls import InvalidReply
from spectrace.models.stream_calls import CallPieces

ARGUMENTS = st.sampled_from(["{}", '{"id":"A"}', '{"id": "B", "n": 1}', "", '{"id":"A"}'])
CALLS = st.lists(st.tuples(st.sampled_from(["look", "change"]), ARGUMENTS), min_size=1, max_size=3)
STYLES = st.fixed_dictionaries(
    {
        "index": st.sampled_from(["right", "zero", "none", "offset", "onlyhead"]),
        "id": st.sampled_from(["right", "none", "every", "same", "empty"]),
        "name": st.sampled_from(["head", "every"]),
        "in_head": st.booleans(),
    }
)


def labelled(number, style, *, head):
    index = {"right": number, "zero": 0, "offset": number + 1, "onlyhead": number if head else None}
    id_ = {"right": f"c{number}" if head else None, "every": f"c{number}", "same": "x" if head else None, "empty": ""}
    labels = {"index": index.get(style["index"]), "id": id_.get(style["id"])}
    return {label: value for label, value in labels.items() if value is not None}


def pieces_of(number, call, style, cuts):
    name, arguments = call
    ends = sorted(cut for cut in cuts if cut <= len(arguments))
    parts = [arguments[a:b] for a, b in zip([0, *ends], [*ends, len(arguments)], strict=True) if b > a]
    parts = parts if style["in_head"] and parts else [None, *parts]
    pieces = []
    for at, part in enumerate(parts):
        named = {"name": name} if at == 0 or style["name"] == "every" else {}
        function = named if part is None else {**named, "arguments": part}
        pieces.append({**labelled(number, style, head=at == 0), "function": function})
    return pieces


def decided(pieces):
    calls = CallPieces()
    for piece in pieces:
        calls.take(piece)
    return [(call["function"]["name"], call["function"]["arguments"]) for call in calls.whole()]


def check(sent, style, data, *, interleaved):
    cuts = st.lists(st.integers(1, 12), max_size=3, unique=True)
    queues = [pieces_of(number, call, style, data.draw(cuts)) for number, call in enumerate(sent)]
    order = [number for number, queue in enumerate(queues) for _ in queue]
    order = data.draw(st.permutations(order)) if interleaved else order
    pieces = [queues[number].pop(0) for number in order]
    try:
        found = [(name, arguments or "") for name, arguments in decided(pieces)]
    except InvalidReply:
        event("refused")
        return
    event("decided")
    labels = {(piece.get("index"), piece.get("id"), piece["function"].get("name")) for piece in pieces}
    if style["index"] == "zero" and style["id"] == "same" and len(labels) == 1 and len(found) == 1:
        assert found[0] in sent
    else:
        assert sorted(found) == sorted(sent)
        assert interleaved or found == sent


@given(CALLS, STYLES, st.data())
def test_calls_streamed_one_after_the_other_are_the_calls_that_were_sent_or_refused(sent, style, data):
    check(sent, style, data, interleaved=False)


@given(CALLS, STYLES, st.data())
def test_interleaved_calls_are_the_calls_that_were_sent_or_refused(sent, style, data):
    check(sent, style, data, interleaved=True)


@pytest.mark.slow
@settings(max_examples=3_000)
@given(CALLS, STYLES, st.data(), st.booleans())
def test_thousands_of_streams_are_what_was_sent_or_refused(sent, style, data, interleaved):
    check(sent, style, data, interleaved=interleaved)


@pytest.mark.parametrize("id_", ["right", "every", "same"])
@pytest.mark.parametrize("name", ["head", "every"])
@pytest.mark.parametrize("in_head", [True, False])
def test_good_indexes_and_ids_are_never_refused_whatever_is_repeated(id_, name, in_head):
    style = {"index": "right", "id": id_, "name": name, "in_head": in_head}
    sent = [("look", '{"id":"A"}'), ("change", "{}"), ("look", "")]
    pieces = [piece for number, call in enumerate(sent) for piece in pieces_of(number, call, style, [1])]

    assert [(call, arguments or "") for call, arguments in decided(pieces)] == sent
