"""Records of somebody else's system: what is read, and what is refused with its line."""

from hashlib import sha256

import pytest

from spectrace.audit.record_file import read_records
from spectrace.errors import UsageError


def records(tmp_path, data, mapped=(), tool=None):
    path = tmp_path / "till.csv"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_records(path, dict(mapped), tool)


def test_a_row_says_which_call_it_was_and_when(tmp_path):
    text = 'id,tool,arguments,at\n7,charge,"{""cents"": 150}",2026-01-01T01:00:00+01:00\n'
    found = records(tmp_path, text)
    (one,) = found.records

    assert (one.line, one.tool, one.id, one.at, one.done) == (2, "charge", "7", 1767225600000000, True)
    assert (found.tools, found.digest) == (("charge",), f"sha256:{sha256(text.encode()).hexdigest()}")


def test_columns_are_mapped_and_a_file_may_be_of_one_tool(tmp_path):
    found = records(
        tmp_path, "charge_id,cents,note\n1,150,x\n", {"charge_id": "id", "cents": "arg.cents"}, "charge_fee"
    )

    assert [(one.tool, one.id, one.given) for one in found.records] == [("charge_fee", "1", (("cents", "150"),))]


def test_a_byte_order_mark_crlf_blank_lines_and_breaks_in_cells_are_fine(tmp_path):
    found = records(tmp_path, b'\xef\xbb\xbftool,arg.note\r\n\r\ncharge,"two\r\nlines"\r\ncharge,x\r\n,\r\n')

    assert [(one.line, one.given[0][1]) for one in found.records] == [(3, "two\r\nlines"), (5, "x")]


def test_a_formula_that_was_neutralised_is_read_as_it_was(tmp_path):
    (one,) = records(tmp_path, "tool,arg.note\ncharge,'=1+1\n").records

    assert one.given == (("note", "=1+1"),)


def test_what_was_tried_and_not_done_is_no_record_that_it_was(tmp_path):
    found = records(tmp_path, "tool,key,outcome\ncharge,a,OK\ncharge,b,error\n")

    assert [one.done for one in found.records] == [True, False]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("tool,key\ncharge,a\x00b\n", "line 2: it holds a NUL"),
        ("tool,key\na,b\n".encode("utf-16"), "it is not UTF-8"),
        (b"tool,key\ncharge,\xe9\n", "line 2: it is not UTF-8 (byte 16)"),
        ("tool,key,tool\n", "line 1: the header names 'tool' twice"),
        ("tool,key\ncharge\n", "line 2: it has 1 cells, the header has 2"),
        ('tool,key\n"charge,a\n', "line 2: it is not well-formed CSV"),
        ('tool,key\n"char"ge,a\n', "line 2: it is not well-formed CSV"),
        ("tool,key\ncharge,a\n,b\n", "line 3: it names no tool"),
        ("tool,key,at\ncharge,a,yesterday\n", "line 2: a time is ISO 8601"),
        ("tool,key,outcome\ncharge,a,maybe\n", "line 2: an outcome is ok or error, found 'maybe'"),
        ("name,key\ncharge,a\n", "line 1: no column is the tool; there are 'name', 'key'"),
        ("tool,at\ncharge,2026-01-01\n", "no column says which call it was"),
        ("tool,arg.a,arg.b\ncharge,1,2\ncharge,1,\n", "line 3: it tells arg.a of charge, line 2 arg.a, arg.b"),
        ("tool,key\ncharge," + "x" * 200_000 + "\n", "line 2: it is not well-formed CSV: field larger"),
        ("", "no column is the tool"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(tmp_path, data, said):
    with pytest.raises(UsageError) as refused:
        records(tmp_path, data)

    assert said in str(refused.value)
    assert "till.csv" in str(refused.value)


@pytest.mark.parametrize(
    ("mapped", "said"),
    [
        ({"nowhere": "tool"}, "--map names the column 'nowhere'"),
        ({"a": "colour"}, "the fields are tool, arguments"),
        ({"a": "tool"}, "two columns are the field 'tool'"),
    ],
)
def test_a_mapping_that_cannot_be_is_refused(tmp_path, mapped, said):
    with pytest.raises(UsageError, match=said):
        records(tmp_path, "a,tool,key\n1,2,3\n", mapped)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_records(tmp_path / "nowhere.csv", {})
