from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectrace.core.digest import header_bytes
from spectrace.core.events import ActRequested, ResetRequested
from spectrace.core.types import Call
from spectrace.errors import SchemaViolation
from spectrace.store import headers
from spectrace.store.blobs import TextReferences
from spectrace.store.codec import BodyEncoder, Lifted
from spectrace.store.headers import Headers
from spectrace.store.messages import MessageWriter
from spectrace.store.samples import pending, sample_episode

ENCODER = BodyEncoder(TextReferences())
ACT = ActRequested(
    effect="write",
    authority="verdict:3",
    tool="cancel",
    position="s1.1",
    action=Call("cancel", "{}"),
    requestor="agent",
    idempotency_key="k",
)


def checked(made, body, seq=5, lane="", at=7):
    lifted, value = ENCODER.value(body, MessageWriter())
    return made.checked(seq, lane, type(body), at, lifted, value)


def test_every_kind_of_event_has_the_canonical_header_the_first_time_and_every_other():
    made = Headers("ep1")
    for _ in range(2):
        for event in pending(sample_episode(1)):
            lifted, _ = ENCODER.encode(event.body, MessageWriter())
            cls = type(event.body)
            told = header_bytes("ep1", event.seq, event.lane, cls.TYPE, cls.VERSION, event.at, *lifted)
            assert checked(made, event.body, event.seq, event.lane, event.at) == told


@given(st.text(), st.sampled_from(["", "0", "0.1"]), st.integers(0, 2**20 - 1), st.integers(-(2**52), 2**52))
def test_any_tool_lane_number_and_time_come_out_canonical(tool, lane, seq, at):
    made, body = Headers('"odd"'), replace(ACT, tool=tool)
    lifted, _ = ENCODER.encode(body, MessageWriter())
    told = header_bytes('"odd"', seq, lane, ACT.TYPE, ACT.VERSION, at, *lifted)

    assert [checked(made, body, seq, lane, at) for _ in range(2)] == [told, told]


@pytest.mark.parametrize(
    ("body", "at", "where"),
    [
        (replace(ACT, effect="maybe"), 7, "header.effect"),
        (replace(ACT, authority="me"), 7, "header.authority"),
        (replace(ACT, requestor="nobody"), 7, "body.requestor"),
        (ACT, 2**53, "header.at"),
        (ACT, 1.5, "header.at"),
    ],
)
def test_what_does_not_fit_is_refused_whether_its_like_was_met_or_not(body, at, where):
    fresh, met = Headers("ep1"), Headers("ep1")
    checked(met, ACT)

    for made in (fresh, met):
        with pytest.raises(SchemaViolation, match=where):
            checked(made, body, at=at)


def test_a_lane_that_is_none_is_refused():
    with pytest.raises(SchemaViolation, match=r"header\.lane"):
        checked(Headers("ep1"), ACT, lane="left")


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(headers, "REMEMBERED", 3)
    made = Headers("ep1")
    for seq in range(20):
        checked(made, replace(ACT, authority=f"verdict:{seq}"))

    assert len(made._met) <= 3
    assert checked(made, ResetRequested(seed=None)) == header_bytes("ep1", 5, "", "reset.requested", 1, 7, *Lifted())
