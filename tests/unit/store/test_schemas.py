from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from spectrace.core.events import TYPE_NUMBERS, Body, GenerateRequested
from spectrace.core.types import Message
from spectrace.store.blobs import TextReferences
from spectrace.store.codec import BodyEncoder
from spectrace.store.messages import MessageWriter
from spectrace.store.schemas import file_name, schema_of, text_of, write

SHIPPED = Path(__file__).resolve().parents[3] / "schemas" / "events"
TEXTS = st.one_of(st.text(max_size=8), st.just("long " * 100), st.just("\ud800"), st.just("nul \0"))
INTEGERS = st.integers(-(2**53) + 1, 2**53 - 1)
CLASSES = pytest.mark.parametrize("cls", list(TYPE_NUMBERS), ids=lambda cls: cls.TYPE)


def stored(body: Body) -> object:
    encoder = BodyEncoder(TextReferences())
    return orjson.loads(encoder.encode(body, MessageWriter())[1])


@pytest.fixture(autouse=True, scope="module")
def _bodies_of_hostile_text():
    st.register_type_strategy(str, TEXTS)
    st.register_type_strategy(int, INTEGERS)
    yield
    st.register_type_strategy(str, st.text())
    st.register_type_strategy(int, st.integers())


@CLASSES
def test_each_event_type_has_its_schema_in_the_tree(cls):
    shipped = (SHIPPED / file_name(cls)).read_bytes()

    assert shipped == text_of(cls), "stale: a new field needs a new VERSION; then `make schemas`"


def test_the_tree_holds_no_schema_of_an_unknown_type_or_of_a_version_to_come():
    known = {f"{cls.TYPE}.v{version}.json" for cls in TYPE_NUMBERS for version in range(1, cls.VERSION + 1)}

    assert {path.name for path in SHIPPED.iterdir()} == known


@CLASSES
def test_each_schema_is_itself_valid(cls):
    Draft202012Validator.check_schema(schema_of(cls))


@CLASSES
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_what_the_encoder_writes_fits_the_schema(cls, data):
    body = data.draw(st.from_type(cls))

    Draft202012Validator(schema_of(cls)).validate(stored(body))


@CLASSES
def test_a_field_of_another_type_does_not_fit(cls):
    broken = dict.fromkeys(schema_of(cls)["properties"], 1.5)

    assert broken == {} or not Draft202012Validator(schema_of(cls)).is_valid(broken)


def test_a_missing_field_does_not_fit():
    body = stored(
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
    del body["messages"]

    assert [error.message for error in Draft202012Validator(schema_of(GenerateRequested)).iter_errors(body)] == [
        "'messages' is a required property"
    ]


def test_writing_again_changes_nothing_and_keeps_older_versions(tmp_path):
    older = tmp_path / "verdict.given.v0.json"
    older.write_text("{}")
    first = write(tmp_path)

    assert (len(first), write(tmp_path), older.read_text()) == (len(TYPE_NUMBERS), [], "{}")
