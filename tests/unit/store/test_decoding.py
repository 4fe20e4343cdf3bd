import pytest

from spectrace.core.events import Event, ResetRequested, ToolsChanged, Unknown
from spectrace.core.types import Effect
from spectrace.errors import NewerSchema, StoreError
from spectrace.store.blobs import TextReferences, resolved
from spectrace.store.codec import BodyEncoder, Lifted
from spectrace.store.decoding import decode, known, parse, typed
from spectrace.store.messages import MessageWriter
from spectrace.store.samples import sample_episode

RESET = ResetRequested(seed=1)


def test_an_enum_comes_back_as_one():
    changed = next(body for body in sample_episode(1) if isinstance(body, ToolsChanged))
    texts = TextReferences()
    lifted, data = BodyEncoder(texts).encode(changed, MessageWriter())
    blobs = {f"sha256:{digest.hex()}": blob for digest, blob in texts.take().blobs.items()}
    decoded = decode(ToolsChanged, 1, lifted, resolved(parse(data), blobs))

    assert isinstance(decoded, ToolsChanged)
    assert type(decoded.tools[0].effect) is Effect


def test_a_field_that_is_not_known_does_not_matter():
    assert decode(ResetRequested, 1, Lifted(), {"seed": 1, "later": {"deep": [1]}}) == ResetRequested(seed=1)


@pytest.mark.parametrize("value", [{}, {"seed": "1"}, {"seed": True}, [], None, {"seed": 1.5}])
def test_a_damaged_body_is_named_and_never_converted(value):
    with pytest.raises(StoreError, match=r"reset\.requested version 1 cannot be read"):
        decode(ResetRequested, 1, Lifted(), value)


def test_damaged_json_is_named():
    with pytest.raises(StoreError, match="not JSON"):
        parse(b'{"seed":')


@pytest.mark.parametrize(("type_", "version"), [("no.such", 1), ("reset.requested", 2), ("reset.requested", 0)])
def test_other_types_and_versions_are_not_known(type_, version):
    assert known(type_, version) is None


def test_insisting_on_a_type_names_the_version_that_would_be_needed():
    event = Event("ep", 4, "", 1, Unknown("verdict.given", 7, "{}"))

    with pytest.raises(NewerSchema, match=r"event 4 of ep is verdict\.given version 7; this spectrace knows version 1"):
        typed(event)


def test_insisting_on_an_erased_event_says_so():
    with pytest.raises(StoreError, match="was erased"):
        typed(Event("ep", 4, "", 1, Unknown("verdict.given", 1, "null")))


def test_a_typed_event_gives_its_body():
    assert typed(Event("ep", 4, "", 1, RESET)) == RESET
