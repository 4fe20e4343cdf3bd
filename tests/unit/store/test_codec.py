from dataclasses import replace

import orjson
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from spectrace.core.events import (
    ActionChecked,
    ActRequested,
    ResetRequested,
    VerdictGiven,
)
from spectrace.core.types import Call, Effect, Finish, Reply
from spectrace.errors import StoreError
from spectrace.store.blobs import TextReferences
from spectrace.store.codec import BodyEncoder, Lifted
from spectrace.store.decoding import decode, parse
from spectrace.store.messages import MessageWriter
from spectrace.store.samples import sample_episode
from tests.stored_episodes import resolved

TEXT = st.text(st.characters(), max_size=300) | st.text(st.sampled_from("a\0\ud800é🙂"), max_size=300)
ACTIONS = st.one_of(st.builds(Call, TEXT, TEXT), st.builds(Reply, TEXT), st.builds(Finish, TEXT))
VERDICTS = st.builds(
    VerdictGiven,
    outcome=st.sampled_from(["accept", "reject", "unusable"]),
    segment=st.integers(0, 2**53 - 1),
    drafted=st.integers(0, 9),
    accepted=st.integers(0, 9),
    category=st.none() | TEXT,
    reason=st.none() | TEXT,
    replacement=st.none() | ACTIONS,
    status=TEXT,
    cause=st.none() | TEXT,
    raw=TEXT,
    review=st.none() | st.integers(-(2**53) + 1, 2**53 - 1),
)
ACT = ActRequested(
    effect="write",
    authority="verdict:3",
    tool="cancel",
    position="s1.1",
    action=Call("cancel", "{}"),
    requestor="agent",
    idempotency_key="k",
)


TEXTS = TextReferences()
ENCODER = BodyEncoder(TEXTS)


def encoded(body):
    TEXTS.take()
    lifted, data = ENCODER.encode(body, MessageWriter())
    return lifted, data, {f"sha256:{digest.hex()}": blob for digest, blob in TEXTS.take().blobs.items()}


def round_trip(body):
    lifted, data, blobs = encoded(body)
    return decode(type(body), body.VERSION, lifted, resolved(parse(data), blobs))


@given(VERDICTS)
def test_any_verdict_comes_back_equal(body):
    assert round_trip(body) == body


@given(TEXT, TEXT, ACTIONS)
def test_any_tool_and_authority_come_back_equal(tool, authority, action):
    body = replace(ACT, tool=tool, authority=authority, action=action)

    assert round_trip(body) == body


@pytest.mark.parametrize("seed", range(3))
def test_bodies_are_rfc_8785(seed):
    for body in sample_episode(seed):
        data = encoded(body)[1]

        assert rfc8785.dumps(orjson.loads(data)) == data


def test_header_fields_are_in_the_header_only():
    lifted, data, _ = encoded(ACT)

    assert lifted == Lifted("write", "verdict:3", None, "cancel")
    assert set(orjson.loads(data)) == {"position", "action", "requestor", "idempotency_key"}


@pytest.mark.parametrize("tool", ["x" * 256, "a\0b", "\ud800", "é" * 128])
def test_a_header_has_no_free_text(tool):
    lifted, data, blobs = encoded(replace(ACT, tool=tool))

    assert lifted.tool is not None
    assert lifted.tool.startswith("sha256:")
    assert resolved(parse(data), blobs)["tool"] == tool


def test_an_enum_given_for_text_is_its_value():
    assert round_trip(replace(ACT, effect=Effect.READ)) == replace(ACT, effect="read")


def test_an_action_carries_its_kind():
    data = encoded(ActionChecked(tool=None, action=Finish("done"), objection=None))[1]

    assert orjson.loads(data)["action"] == {"kind": "finish", "text": "done"}


@pytest.mark.parametrize("number", [2**53, -(2**53), 2**70])
def test_an_integer_beyond_2_53_is_refused_by_name(number):
    with pytest.raises(StoreError, match=rf"reset\.requested: field seed is {number}, beyond 2\^53.*keep it as text"):
        encoded(ResetRequested(seed=number))


@pytest.mark.parametrize("number", [1.0, 0.1, float("nan"), float("inf")])
def test_a_float_is_refused_by_name(number):
    with pytest.raises(StoreError, match=r"field seed is the float .*decimal string"):
        encoded(ResetRequested(seed=number))
