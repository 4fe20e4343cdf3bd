import orjson
import pytest

from spectrace.core.digest import digest
from spectrace.errors import NewerSchema
from spectrace.interchange.jsonl_records import FORMAT, First, Section, Text, read_record
from spectrace.store.lines import line_of
from spectrace.store.memory import MemoryEventStore
from spectrace.store.rows import Damage
from tests.transfers import lines_of, write_episode


@pytest.mark.parametrize(
    "record",
    [
        First("1.2", ("ep1", "ep2")),
        First("1.2", ()),
        Section("ep1", 7, b"h" * 32, "running"),
        Text(digest(b"a\0b"), b"a\0b"),
        Text(digest("é🙂".encode()), "é🙂".encode()),
        Text(digest(b"\xff\0"), b"\xff\0"),
        Text(digest("\ud800".encode("utf-8", "surrogatepass")), "\ud800".encode("utf-8", "surrogatepass")),
    ],
)
def test_a_record_reads_back_equal(record):
    assert read_record(orjson.loads(record.line())) == record


def test_an_event_is_read_as_its_line():
    store = MemoryEventStore()
    write_episode(store, "ep1")
    line = lines_of(store, "ep1")[3]

    assert read_record(orjson.loads(line_of(line.row.stored("ep1")))) == line


def test_a_newer_format_is_refused_by_name():
    with pytest.raises(NewerSchema, match=r"spectrace\.jsonl\.v3.*reads version 3"):
        read_record({"format": "spectrace.jsonl.v3", "spectrace": "9", "episodes": []})


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({}, "it has nothing"),
        ({"x": 1}, "it has 'x'"),
        ({"format": "another"}, "a first line of another kind"),
        ({"format": FORMAT, "spectrace": "1", "episodes": "ep1"}, "a first line of another kind"),
        ({"episode": "ep1", "events": -1, "head": "0" * 64, "state": "ended"}, "an episode's line needs"),
        ({"episode": "ep1", "events": 1, "head": "0", "state": "ended"}, "an episode's line needs"),
        ({"episode": "ep1", "events": 1, "head": "0" * 64, "state": "well"}, "an episode's line needs"),
        ({"blob": digest(b"a"), "text": "b"}, "holds other bytes than its name says"),
        ({"blob": digest(b"a"), "base64": "!"}, "is not base64"),
        ({"blob": digest(b"a")}, "a blob's line needs"),
        ({"header": "[]"}, "`body` is missing"),
    ],
)
def test_what_is_no_record_is_refused(value, said):
    with pytest.raises(Damage, match=said):
        read_record(value)
