import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from spectrace.core.digest import header_bytes
from spectrace.core.events import TYPE_NUMBERS, Body, GenerateRequested, ResetRequested
from spectrace.core.types import Message
from spectrace.errors import UsageError
from spectrace.store.blobs import TextReferences
from spectrace.store.codec import BodyEncoder
from spectrace.store.messages import MessageWriter
from spectrace.store.schemas import _Shapes, closed, file_name, published, schema_of, text_of, versions, write
from tests.event_values import bodies

SHIPPED = Path(__file__).resolve().parents[3] / "schemas" / "events"
CLASSES = pytest.mark.parametrize("cls", list(TYPE_NUMBERS), ids=lambda cls: cls.TYPE)


def stored(body: Body) -> dict:
    lifted, data = BodyEncoder(TextReferences()).encode(body, MessageWriter())[:2]
    return {
        "header": ["ep", 3, "0.1", body.TYPE, body.VERSION, 1_700_000_000_000_000, *lifted],
        "body": json.loads(data),
    }


@CLASSES
def test_each_event_type_has_its_schema_in_the_tree(cls):
    shipped = (SHIPPED / file_name(cls.TYPE, cls.VERSION)).read_bytes()

    assert shipped == text_of(cls), "stale: a new field needs a new VERSION; then `make schemas`"


def test_the_tree_holds_no_schema_of_an_unknown_type_or_of_a_version_to_come():
    assert {path.name for path in SHIPPED.iterdir()} == {file_name(*one) for one in versions()}


@CLASSES
def test_each_schema_is_itself_valid(cls):
    Draft202012Validator.check_schema(schema_of(cls))


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(list(TYPE_NUMBERS)).flatmap(bodies))
def test_what_the_encoder_writes_fits_the_closed_schema(body):
    Draft202012Validator(closed(schema_of(type(body)))).validate(stored(body))


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(list(TYPE_NUMBERS)).flatmap(bodies))
def test_what_the_encoder_writes_is_rfc_8785(body):
    lifted, data = BodyEncoder(TextReferences()).encode(body, MessageWriter())[:2]
    header = header_bytes("ep", 3, "0.1", body.TYPE, body.VERSION, 1_700_000_000_000_000, *lifted)

    assert (rfc8785.dumps(json.loads(data)), rfc8785.dumps(json.loads(header))) == (data, header)


@pytest.mark.slow
@CLASSES
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_what_the_encoder_writes_of_every_type_fits(cls, data):
    Draft202012Validator(closed(schema_of(cls))).validate(stored(data.draw(bodies(cls))))


@CLASSES
def test_a_field_of_another_type_does_not_fit(cls):
    names = schema_of(cls)["properties"]["body"]["properties"]
    event = {
        "header": ["ep", 3, "", cls.TYPE, cls.VERSION, 1, None, None, None, None],
        "body": dict.fromkeys(names, 1.5),
    }

    assert names == {} or not Draft202012Validator(schema_of(cls)).is_valid(event)


def test_a_missing_field_does_not_fit():
    event = stored(
        GenerateRequested(
            role="drafter",
            who="weak",
            position="s1.1",
            messages=(Message("user", "hello"),),
            tools_digest=None,
            response_schema=None,
            parameters="{}",
        )
    )
    del event["body"]["messages"]

    assert [error.message for error in Draft202012Validator(schema_of(GenerateRequested)).iter_errors(event)] == [
        "'messages' is a required property"
    ]


def test_a_reader_lets_unknown_fields_pass_and_a_writer_does_not():
    event = stored(ResetRequested(seed=1))
    event["body"]["later"] = True
    schema = schema_of(ResetRequested)

    assert Draft202012Validator(schema).is_valid(event)
    assert not Draft202012Validator(closed(schema)).is_valid(event)


def test_a_line_of_a_bundle_fits_with_its_salt_and_link():
    line = {**stored(ResetRequested(seed=1)), "salt": "00", "link": "00"}

    assert Draft202012Validator(closed(schema_of(ResetRequested))).is_valid(line)


@CLASSES
def test_what_is_published_is_what_the_tree_holds(cls):
    assert published(cls.TYPE, cls.VERSION) == text_of(cls)


def test_an_unknown_version_names_those_that_there_are():
    with pytest.raises(UsageError, match=r"no schema of 'verdict\.given' version 9: this spectrace has 1\."):
        published("verdict.given", 9)


def test_an_unknown_type_is_named():
    with pytest.raises(UsageError, match=r"no schema of 'no\.such' version 1: this spectrace has no such type"):
        published("no.such", 1)


def test_a_type_that_no_body_may_hold_is_a_mistake():
    with pytest.raises(TypeError, match="no JSON Schema for <class 'float'>"):
        _Shapes().of(float)


def test_a_header_field_without_a_closed_set_is_a_mistake():
    @dataclass(frozen=True, slots=True)
    class Odd:
        TYPE: ClassVar[str] = "odd.one"
        VERSION: ClassVar[int] = 1
        outcome: str

    with pytest.raises(TypeError, match=r"odd\.one: the header field outcome has no closed set"):
        schema_of(Odd)


def test_writing_again_changes_nothing_and_keeps_older_versions(tmp_path):
    older = tmp_path / "verdict.given.v0.json"
    older.write_text("{}")
    first = write(tmp_path)

    assert (len(first), write(tmp_path), older.read_text()) == (len(TYPE_NUMBERS), [], "{}")
