import json
from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectrace.core.digest import body_proof, canonical, first_link, header_bytes, next_link
from spectrace.errors import StoreError
from spectrace.store import lines as lines_module
from spectrace.store.event_store import StoredEvent
from spectrace.store.lines import Chain, line_from, line_of, parse_line
from spectrace.store.memory import MemoryEventStore
from spectrace.store.rows import Damage
from tests.transfers import lines_of, write_episode

WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
BODIES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


def event(body=None, lane="", tool=None):
    header = header_bytes("ep1", 0, lane, "episode.started", 1, 5, None, None, None, tool)
    data, salt = canonical(body or {}), b"s" * 16
    return StoredEvent(0, header, data, salt, next_link(first_link("ep1"), header, salt, data))


@pytest.fixture(scope="module")
def lines():
    store = MemoryEventStore()
    write_episode(store, "ep1")
    return lines_of(store, "ep1")


@given(st.dictionaries(WORDS, BODIES, max_size=3), WORDS, st.none() | WORDS)
def test_a_line_gives_back_the_exact_bytes(body, lane, tool):
    stored = event(body, lane, tool)

    assert parse_line(line_of(stored)).row.stored("ep1") == stored


@given(st.dictionaries(WORDS, BODIES, max_size=3))
def test_the_standard_library_gets_the_same_bytes_from_a_line(body):
    stored = event(body)
    found = json.loads(line_of(stored))

    assert (found["header"].encode(), found["body"].encode()) == (stored.header, stored.body)
    assert bytes.fromhex(found["salt"]) == stored.salt


def test_the_header_comes_first_so_that_half_a_line_says_what_it_was():
    assert line_of(event()).startswith(b'{"header":"[\\"ep1\\",0,\\"\\",\\"episode.started\\"')


def test_an_erased_body_leaves_its_proof_and_the_chain_holds():
    whole = event({"a": "secret"})
    erased = StoredEvent(0, whole.header, None, None, whole.link)
    line = parse_line(line_of(erased, body_proof(whole.salt, whole.body)))
    chain = Chain("ep1")
    chain.follow(line)

    assert (line.row.body, line.row.salt, chain.link) == (None, None, whole.link)


def test_a_missing_body_without_a_proof_is_damage():
    with pytest.raises(Damage, match="no erasure of it is on record"):
        line_of(StoredEvent(0, event().header, None, None, event().link))


def test_members_that_are_not_known_are_passed_over():
    record = orjson.loads(line_of(event()))

    assert parse_line(orjson.dumps({**record, "later": 1})) == parse_line(line_of(event()))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"salt": "00"}, "32 lower-case hex digits"),
        ({"salt": "AB" * 16}, "32 lower-case hex digits"),
        ({"link": None}, "64 lower-case hex digits"),
        ({"body": 5}, "`body` is a JSON int"),
        ({"header": "[1,2]"}, "an array of 10 values"),
        ({"header": "nonsense"}, "the header is not JSON"),
        ({"header": '["ep1",true,"","t",1,5,null,null,null,null]'}, "holds as seq"),
        ({"header": '["ep1",1048576,"","t",1,5,null,null,null,null]'}, "holds as seq"),
        ({"header": '["ep1",0,"","t",40000,5,null,null,null,null]'}, "holds as version"),
        ({"header": '["ep1",0,"a\\u0000","t",1,5,null,null,null,null]'}, "holds as lane"),
        ({"header": '["ep1",0,"","t",1,5,null,null,null,7]'}, "holds as field 9"),
        ({"header": '["ep1", 0,"","t",1,5,null,null,null,null]'}, "not canonical JSON"),
    ],
)
def test_what_is_no_event_is_refused_with_what_is_wrong(change, said):
    record = orjson.loads(line_of(event()))

    with pytest.raises(Damage, match=said):
        parse_line(orjson.dumps({**record, **change}))


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"5", b'{"a":1}', b"\xff", b'{"header":"\\ud800"}'])
def test_other_text_is_refused(data):
    with pytest.raises(Damage):
        parse_line(data)


def followed(lines):
    chain = Chain("ep1")
    for line in lines:
        chain.follow(line)
    return chain


def test_a_chain_ends_at_its_head(lines):
    assert (followed(lines).seq, followed(lines).link) == (len(lines), lines[-1].row.link)


@pytest.mark.parametrize("field", ["body", "salt", "at", "lane", "link"])
def test_one_changed_value_breaks_the_chain_where_it_is(lines, field):
    row = lines[7].row
    values = {"body": b"{}", "salt": b"x" * 16, "at": row.at + 1, "lane": "0", "link": b"l" * 32}
    changed = type(row)(**{name: getattr(row, name) for name in row._fields} | {field: values[field]})

    with pytest.raises(Damage, match=r"event 7 \(.*\) of ep1 is not the one that was recorded"):
        followed([*lines[:7], replace(lines[7], row=changed), *lines[8:]])


def test_a_removed_or_swapped_event_breaks_the_chain(lines):
    with pytest.raises(Damage, match="event 7 of ep1 was expected, event 8 was found"):
        followed([*lines[:7], *lines[8:]])
    with pytest.raises(Damage, match="event 7 of ep1 was expected, event 8 was found"):
        followed([*lines[:7], lines[8], lines[7], *lines[9:]])


def test_another_episode_s_event_does_not_fit(lines):
    with pytest.raises(Damage, match="belongs to episode ep1, not to ep2"):
        Chain("ep2").follow(lines[0])


def test_a_stored_event_and_its_line_are_told_alike(lines):
    assert line_from(lines[3].row.stored("ep1")) == lines[3]


def test_a_line_that_no_reader_takes_is_not_written(monkeypatch):
    monkeypatch.setattr(lines_module, "MAX_LINE_BYTES", 100)

    with pytest.raises(StoreError, match=r"event 0 takes \d+ bytes as a line.*db copy"):
        line_of(event())
