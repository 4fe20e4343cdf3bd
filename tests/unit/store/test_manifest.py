from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from jsonschema import Draft202012Validator

from spectrace.core.digest import canonical
from spectrace.errors import NewerSchema
from spectrace.store.manifest import Entry, Manifest, Member, Period, parse_manifest
from spectrace.store.rows import Damage

SCHEMA = Path(__file__).resolve().parents[3] / "schemas" / "bundle.v1.json"
MANIFEST = Manifest(
    spectrace="1.2",
    episodes=(Entry("ep1", 3, b"h" * 32, "ended", 5, 7), Entry("ep2", 1, b"i" * 32, "running", 6, None)),
    members={"FORMAT.md": Member("0" * 64, 9), "episodes/ep1.jsonl": Member("1" * 64, 8)},
    blobs=2,
    blob_bytes=600,
)


def test_a_manifest_is_read_as_it_was_written():
    assert parse_manifest(MANIFEST.text()) == MANIFEST


def test_it_is_canonical_and_fits_its_schema():
    value = orjson.loads(MANIFEST.text())
    Draft202012Validator.check_schema(orjson.loads(SCHEMA.read_bytes()))
    Draft202012Validator(orjson.loads(SCHEMA.read_bytes())).validate(value)

    assert canonical(value) == MANIFEST.text()


def test_what_a_later_minor_version_adds_is_passed_over():
    value = orjson.loads(MANIFEST.text())

    assert parse_manifest(orjson.dumps({**value, "later": [1]})) == MANIFEST


@pytest.mark.parametrize("found", ["spectrace.bundle.v2", "spectrace.bundle.v17"])
def test_a_newer_format_is_refused_by_name(found):
    value = {**orjson.loads(MANIFEST.text()), "format": found}

    with pytest.raises(NewerSchema, match=rf"{found}.*reads version {found.rpartition('v')[2]}"):
        parse_manifest(orjson.dumps(value))


@pytest.mark.parametrize(
    "change",
    [
        {"format": "another"},
        {"format": None},
        {"spectrace": 5},
        {"episodes": {}},
        {"episodes": [5]},
        {"members": []},
        {"members": {"x": {"sha256": "zz", "bytes": 1}}},
        {"members": {"x": {"sha256": "0" * 64, "bytes": -1}}},
        {"members": {"x": {"sha256": "0" * 64, "bytes": True}}},
        {"blobs": None},
        {"blobs": {"count": 1}},
    ],
)
def test_what_is_no_manifest_is_refused(change):
    with pytest.raises(Damage, match=r"manifest\.json"):
        parse_manifest(orjson.dumps({**orjson.loads(MANIFEST.text()), **change}))


@pytest.mark.parametrize(
    "change",
    [{"episode": "../up"}, {"episode": ""}, {"events": 2**21}, {"head": "00"}, {"state": "well"}, {"ended_at": "now"}],
)
def test_what_is_no_episode_is_refused(change):
    value = orjson.loads(MANIFEST.text())
    value["episodes"][0] |= change

    with pytest.raises(Damage, match=r"manifest\.json: `"):
        parse_manifest(orjson.dumps(value))


def test_what_was_expected_is_said_in_words():
    value = orjson.loads(MANIFEST.text())

    with pytest.raises(Damage, match="`count` is '5'; an integer was expected"):
        parse_manifest(orjson.dumps({**value, "blobs": {"count": "5"}}))
    with pytest.raises(Damage, match=r"manifest\.json is a list; an object was expected"):
        parse_manifest(b"[]")


def test_each_thing_that_its_events_tell_otherwise_is_named():
    ended, running = MANIFEST.episodes

    assert ended.differences(3, b"h" * 32, 5, 7) is None
    assert running.differences(1, b"i" * 32, 6, None) is None
    assert replace(running, state="interrupted").differences(1, b"i" * 32, 6, None) is None
    assert ended.differences(3, b"h" * 32, 5, None) == (
        "ep1 is not what the manifest says: `state` is ended there, not ended by its events; "
        "`ended_at` is 7 there, None by its events"
    )
    assert "`events` is 3 there, 2 by its events; `head` is 6868" in ended.differences(2, b"x" * 32, 5, 7)
    assert "`started_at` is 5 there, 4 by its events" in ended.differences(3, b"h" * 32, 4, 7)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"5", b"\xff"])
def test_other_text_is_refused(data):
    with pytest.raises(Damage, match=r"manifest\.json"):
        parse_manifest(data)


@pytest.mark.parametrize("period", [Period(1, 2), Period(None, 2), Period(1, None), Period(None, None)])
def test_the_period_that_it_claims_to_hold_is_read_as_it_was_written(period):
    claiming = replace(MANIFEST, period=period)
    Draft202012Validator(orjson.loads(SCHEMA.read_bytes())).validate(orjson.loads(claiming.text()))

    assert parse_manifest(claiming.text()) == claiming


@pytest.mark.parametrize("period", [[], "all", {"since": "1"}, {"since": -1}])
def test_what_is_no_period_is_refused(period):
    with pytest.raises(Damage, match=r"`(period|since)`"):
        parse_manifest(orjson.dumps({**orjson.loads(MANIFEST.text()), "period": period}))


def test_a_period_begins_with_its_first_microsecond_and_ends_before_its_last():
    held = [Period(5, 7).holds(at) for at in (4, 5, 6, 7)]

    assert held == [False, True, True, False]
    assert [Period(None, None).holds(at) for at in (0, 2**53)] == [True, True]
