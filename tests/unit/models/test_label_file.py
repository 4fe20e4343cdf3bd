"""Files of labels: what they may look like, and which line is wrong."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectrace.errors import UsageError
from spectrace.models.label_file import Label, read_labels

HEADER = "episode,verdict_seq,segment,decision,accepted,category,reason,by\n"


def one(text, name="gold.csv"):
    (label,) = read_labels(text, name)
    return label


def test_csv_and_json_lines_say_the_same():
    by_cells = one(HEADER + "abc,7,2,reject,1,unsafe,not asked,ann\n")
    by_members = one(
        '{"episode": "abc", "verdict_seq": 7, "segment": "2", "decision": "reject", "accepted": 1, '
        '"category": "unsafe", "reason": "not asked", "by": "ann"}',
        "gold.jsonl",
    )

    assert by_cells == Label(2, "abc", 7, 2, "reject", 1, "unsafe", "not asked", "ann")
    assert by_members == Label(1, "abc", 7, 2, "reject", 1, "unsafe", "not asked", "ann")


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + HEADER + "abc,,2,accept,,,,\n",
        HEADER.replace("\n", "\r\n\r\n") + ",\r\n,,,\r\nabc,,2,accept,,,,\r\n\r\n",
    ],
)
def test_a_byte_order_mark_crlf_and_blank_lines_are_fine(text):
    label = one(text)

    assert (label.episode, label.segment, label.decision) == ("abc", 2, "accept")


def test_lines_are_counted_as_an_editor_counts_them():
    text = HEADER + '\nabc,,1,reject,0,,"two\nlines",ann\nabc,,2,accept,,,,ann\n'

    assert [label.line for label in read_labels(text, "gold.csv")] == [3, 5]
    assert [
        label.line for label in read_labels('\ufeff\r\n{"episode":"a","segment":1,"accepted":0}\r\n', "x.ndjson")
    ] == [2]


def test_what_is_not_labelled_yet_and_what_people_read_is_passed_over():
    text = "episode,segment,steps,context,task,note,decision,accepted\nabc,1,=1+1,x,t,hm,,\nabc,2,x,x,t,,accept,\n"

    assert [label.segment for label in read_labels(text, "gold.csv")] == [2]
    assert (
        one(
            '{"episode": "a", "segment": 1, "decision": "accept", "note": {"any": ["thing"]}, "by": null}', "a.jsonl"
        ).by
        is None
    )


@pytest.mark.parametrize("cell", ["2", " 2 ", "2.0", "02"])
def test_a_number_may_be_written_as_spreadsheets_and_pandas_write_it(cell):
    assert one(f"episode,segment,accepted\nabc,{cell},{cell}\n").accepted == 2


def test_the_apostrophe_before_a_formula_is_taken_off_again():
    label = one(HEADER + "'-abc,,1,reject,0,,'=sum,'@ann\n")

    assert (label.episode, label.reason, label.by) == ("-abc", "=sum", "@ann")


@pytest.mark.parametrize(
    ("label", "stands"),
    [
        (("accept", None), 3),
        (("accept", 3), 3),
        (("accept", 2), None),
        (("reject", 0), 0),
        (("reject", 3), None),
        (("reject", 4), None),
        (("reject", None), None),
        ((None, 3), 3),
        ((None, 0), 0),
        ((None, 4), None),
    ],
)
def test_a_label_lets_so_many_of_three_steps_stand(label, stands):
    assert Label(1, "abc", None, 1, *label).stands(3) == stands


def test_a_reject_of_a_single_step_needs_no_number():
    assert Label(1, "abc", None, 1, "reject", None).stands(1) == 0


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("abc,,1,maybe,,,,", r"gold\.csv, line 2: decision is accept or reject, found 'maybe'"),
        ("abc,,1,reject,-1,,,", "line 2: accepted is a whole number, 0 or more, found '-1'"),
        ("abc,,1,reject,1.5,,,", "line 2: accepted is a whole number"),
        ("abc,,1,reject,99999999,,,", "line 2: accepted is a whole number"),
        ("abc,,x,accept,,,,", "line 2: segment is a whole number, 0 or more, found 'x'"),
        ("abc,,1,reject,0,evil,,", "line 2: category is one of wrong_tool, .*, found 'evil'"),
        ("abc,,1,accept,,unsafe,,", "line 2: an accept has no category"),
        (",,1,accept,,,,", "line 2: a label names its episode"),
        ("abc,,,accept,,,,", "line 2: a label names its review by verdict_seq or segment"),
        ("abc,,1,accept,,,,,,more", "line 2: 10 cells under a header of 8"),
        ('abc,,1,accept,,,"x"y,', "line 2: this is no CSV"),
        ("abc,,1,accept,,,,\n\nabc,,2,wrong,,,,", "line 4: decision is accept or reject"),
    ],
)
def test_a_wrong_row_is_refused_with_its_line(rows, words):
    with pytest.raises(UsageError, match=words):
        read_labels(HEADER + rows, "gold.csv")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", r"gold\.csv is empty"),
        ("episode;segment;decision\n", "separated by commas; found 'episode;segment;decision'"),
        ("episode,segment,segment\n", "line 1: two columns are called 'segment'"),
        ("episode,segment,decison\nabc,1,accept\n", "line 2: 'decison' is not known. Columns are episode, verdict_seq"),
    ],
)
def test_a_wrong_header_is_refused(text, words):
    with pytest.raises(UsageError, match=words):
        read_labels(text, "gold.csv")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("[]", "line 2: expected one JSON object"),
        ('{"episode": "a", "episode": "b"}', "line 2: member 'episode' is not a name, or stands twice"),
        ('{"episode": "a", "segment": 1, "decision": true}', "line 2: decision is a text or a number, found true"),
        ('{"episode": ["a"], "segment": 1, "accepted": 0}', "line 2: episode is a text or a number"),
        ('{"episode": "a", "segment": 1, "acepted": 0, "decision": "accept"}', "line 2: 'acepted' is not known"),
        ('{"episode": "a"', "line 2: the JSON object is cut off"),
    ],
)
def test_a_wrong_line_of_json_is_refused(line, words):
    with pytest.raises(UsageError, match=words):
        read_labels(f"\n{line}\n", "gold.jsonl")


CELLS = st.sampled_from(
    ["episode", "segment", "decision", "accepted", "reject", "accept", "1", "", "ab", '"', "'", "\0", "é"]
)
TEXTS = st.one_of(
    st.text(max_size=80),
    st.lists(st.lists(CELLS, max_size=5).map(",".join), max_size=5).map("\n".join).map(HEADER.__add__),
    st.lists(
        st.dictionaries(CELLS, st.one_of(CELLS, st.integers(), st.none()), max_size=4).map(json.dumps), max_size=3
    ).map("\r\n".join),
)


@given(TEXTS, st.sampled_from(["gold.csv", "gold.jsonl"]))
def test_whatever_a_file_holds_is_labels_or_an_error_with_its_place(text, name):
    try:
        labels, said = read_labels(text, name), name
    except UsageError as error:
        labels, said = [], str(error)

    assert said.startswith(name)
    assert all(label.stands(3) in {None, 0, 1, 2, 3} for label in labels)
