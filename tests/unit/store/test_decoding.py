from dataclasses import dataclass
from typing import ClassVar

import pytest

from spectrace.core.events import ResetRequested, ToolsChanged
from spectrace.core.types import Effect
from spectrace.errors import StoreError
from spectrace.store import decoding
from spectrace.store.blobs import TextReferences
from spectrace.store.codec import BodyEncoder, Lifted
from spectrace.store.decoding import decode, known, parse
from spectrace.store.messages import MessageWriter
from spectrace.store.samples import sample_episode
from spectrace.store.upcasts import Step, upcast
from tests.stored_episodes import resolved


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


@dataclass(frozen=True, slots=True, kw_only=True)
class StateReset:
    """`reset.requested`, version 1, after two versions more: renamed, its seed a list, the header's tool in use."""

    TYPE: ClassVar[str] = "state.reset"
    VERSION: ClassVar[int] = 3
    seeds: tuple[int, ...]
    tool: str | None


STEPS = {
    ("reset.requested", 1): Step("reset.requested", 2, lambda old: {**old, "seeds": [old["seed"]]}),
    ("reset.requested", 2): Step("state.reset", 3, lambda old: {"seeds": old["seeds"] * 2, "tool": old["tool"]}),
}


def test_an_old_version_is_decoded_as_the_newest_over_a_rename(monkeypatch):
    monkeypatch.setattr(decoding, "upcast", lambda *one: upcast(*one, STEPS))
    monkeypatch.setitem(decoding._LIFTED, StateReset, ("tool",))

    assert decode(StateReset, 1, Lifted(tool="t"), {"seed": 4}, "reset.requested") == StateReset(seeds=(4, 4), tool="t")
    assert decode(StateReset, 3, Lifted(tool="t"), {"seeds": [4]}) == StateReset(seeds=(4,), tool="t")


def test_an_old_version_that_is_damaged_is_named_as_it_was_recorded(monkeypatch):
    monkeypatch.setattr(decoding, "upcast", lambda *one: upcast(*one, STEPS))

    with pytest.raises(StoreError, match=r"reset\.requested version 1 cannot be read: KeyError\('seed'\)"):
        decode(StateReset, 1, Lifted(), {}, "reset.requested")
