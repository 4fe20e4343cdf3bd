import json
from concurrent.futures import ThreadPoolExecutor

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referencing.exceptions import Unresolvable

from spectrace.core.events import TYPE_NUMBERS
from spectrace.errors import SchemaViolation
from spectrace.store import validation
from spectrace.store.blobs import TextReferences
from spectrace.store.codec import BodyEncoder
from spectrace.store.messages import MessageWriter
from spectrace.store.samples import sample_episode
from spectrace.store.schemas import closed, schema_of
from spectrace.store.validation import check, check_foreign, fast, is_known, oracle, unknown_fields
from tests.event_values import broken, fields_of

SCHEMAS = {cls.TYPE: schema_of(cls) for cls in TYPE_NUMBERS}
ANY = st.sampled_from(list(SCHEMAS.values()))
CLASSES = pytest.mark.parametrize("cls", list(TYPE_NUMBERS), ids=lambda cls: cls.TYPE)
HEADER = ["ep", 3, "", "act.completed", 1, 1_700_000_000_000_000, "read", "read", "ok", "get_order"]
BODY = {
    "request": 2,
    "position": "s1.1",
    "observation": {"content": "{}", "error": False, "done": False},
    "fingerprint_before": None,
    "fingerprint_after": None,
    "latency_us": 12,
    "source": "live",
}


@settings(max_examples=40, deadline=None)
@given(ANY.flatmap(fields_of))
def test_both_validators_say_yes_to_what_fits(event):
    both_fit(event)


@settings(max_examples=60, deadline=None)
@given(ANY.flatmap(lambda schema: st.tuples(st.just(schema), broken(fields_of(schema)))))
def test_both_validators_say_the_same_of_what_was_changed(changed):
    both_agree(*changed)


@pytest.mark.slow
@CLASSES
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_both_validators_agree_on_every_type(cls, data):
    both_fit(data.draw(fields_of(schema_of(cls))))
    both_agree(schema_of(cls), data.draw(broken(fields_of(schema_of(cls)))))


def both_fit(event):
    _, _, _, type_, version, *_ = event["header"]

    check(type_, version, event["header"], event["body"])
    assert oracle(closed(SCHEMAS[type_])).is_valid(event)


def both_agree(schema, event):
    for one in (schema, closed(schema)):
        assert fast(one)(event) == oracle(one).is_valid(event)


def test_an_ordinary_episode_fits():
    encoder, messages = BodyEncoder(TextReferences()), MessageWriter()

    for seq, body in enumerate(sample_episode(1)):
        lifted, data = encoder.encode(body, messages)[:2]
        header = ["ep", seq, "", body.TYPE, body.VERSION, 1, *lifted]
        check(body.TYPE, body.VERSION, header, json.loads(data))


def without(value, name):
    return {key: item for key, item in value.items() if key != name}


@pytest.mark.parametrize(
    ("header", "body", "said"),
    [
        (HEADER, {**BODY, "source": "nowhere"}, r"body\.source: expected one of 'live', 'record', .*, found 'nowhere'"),
        (HEADER, {**BODY, "later": 1}, r"body: expected only authority, tool, .*source, found also 'later'"),
        (HEADER, without(BODY, "observation"), r"body: expected a field 'observation', found only fingerprint_after, "),
        (HEADER, {**BODY, "latency_us": 1.5}, r"body\.latency_us: expected integer or null, found 1\.5"),
        (HEADER, {**BODY, "request": -1}, r"body\.request: expected minimum 0, found -1"),
        (HEADER, None, r"body: expected object, found None"),
        (HEADER, {**BODY, "observation": {**BODY["observation"], "content": {"$blob": "x"}}}, r"content\.\$blob: exp"),
        ([*HEADER[:7], "me", *HEADER[8:]], BODY, r"header\.authority: expected actor, .* or \^person:.*, found 'me'"),
        ([*HEADER[:8], "fine", "t"], BODY, r"header\.outcome: expected one of 'ok', 'error', found 'fine'"),
        ([*HEADER[:4], 2, *HEADER[5:]], BODY, r"header\.version: expected 1, found 2"),
        (HEADER[:9], BODY, r"header: expected 10 values, found 9"),
        ([*HEADER, None], BODY, r"header: expected 10 values, found 11"),
    ],
)  # fmt: skip
def test_the_error_says_what_was_expected_found_and_where(header, body, said):
    with pytest.raises(SchemaViolation, match=r"^event 3 of ep \(act\.completed version .\) does not fit.*" + said):
        check("act.completed", 1, header, body)


def test_the_error_says_what_to_do():
    with pytest.raises(SchemaViolation, match=r"`spectrace schema act\.completed` prints what is expected"):
        check("act.completed", 1, HEADER, {})


def test_a_tuple_is_an_array():
    body = {"tools": ({"name": "t"},), "tools_digest": "sha256:" + "0" * 64}

    with pytest.raises(SchemaViolation, match=r"body\.tools\[0\]: expected a field 'description' and a field"):
        check("tools.changed", 1, ["ep", 3, "", "tools.changed", 1, 1, None, None, None, None], body)


def test_a_long_value_is_shown_cut():
    with pytest.raises(SchemaViolation) as said:
        check("act.completed", 1, HEADER, {**BODY, "source": "secret " * 10_000})

    assert len(str(said.value)) < 600


def test_somebody_elses_event_may_have_fields_that_are_not_known():
    assert check_foreign("act.completed", 1, HEADER, {**BODY, "later": {"deep": [1.5]}})


def test_somebody_elses_event_of_the_wrong_shape_is_refused():
    with pytest.raises(SchemaViolation, match=r"body\.source"):
        check_foreign("act.completed", 1, HEADER, {**BODY, "source": "nowhere", "later": 1})


@pytest.mark.parametrize(("type_", "version"), [("no.such", 1), ("act.completed", 2), ("act.completed", 0)])
def test_what_is_not_known_cannot_be_checked(type_, version):
    assert not is_known(type_, version)
    assert not check_foreign(type_, version, HEADER, {"anything": 1})


def test_threads_that_compile_at_once_agree(monkeypatch):
    monkeypatch.setattr(validation, "_WRITE", {})
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda _: check("act.completed", 1, HEADER, BODY), range(64)))

    assert (done, list(validation._WRITE)) == ([None] * 64, [("act.completed", 1)])


def test_neither_validator_ever_fetches_a_schema():
    schema = {"$ref": "http://example.com/schema"}

    with pytest.raises(jsonschema_rs.ValidationError, match="Retrieval is disabled"):
        fast(schema)
    with pytest.raises(Unresolvable):
        oracle(schema).is_valid({})


def test_unknown_fields_are_found_at_any_depth_and_inside_one_of_several_shapes():
    action = {"kind": "call", "tool": "get_order", "arguments": "{}", "later": 1}
    header = ["ep", 3, "", "verdict.given", 1, 1, None, None, "reject", None]
    body = {
        **dict.fromkeys(["category", "reason", "cause", "probabilities"]),
        "segment": 1,
        "drafted": 1,
        "accepted": 0,
        "status": "ok",
        "raw": "",
        "review": 2,
        "replacement": action,
        "more": {"deep": [1]},
    }

    assert unknown_fields("verdict.given", 1, header, body) == {
        "body.more": {"deep": [1]},
        "body.replacement.later": 1,
    }


def test_an_event_that_is_not_known_has_no_unknown_fields():
    assert unknown_fields("no.such", 1, HEADER, {"anything": 1}) == {}


def test_an_event_without_unknown_fields_has_none():
    assert unknown_fields("act.completed", 1, HEADER, BODY) == {}
