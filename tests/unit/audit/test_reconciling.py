"""Which record is of which write: counted where they are alike, told apart by time, and never guessed."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectrace.audit.reconciling import RESULTS, Write, reconcile
from spectrace.audit.record_file import Record, RecordFile
from spectrace.audit.repeats import key_of
from spectrace.core.deeds import changes_state, deeds
from tests.forks import desk_events

SECOND = 1_000_000
(BASE,) = [deed for deed in deeds(desk_events()) if deed.tool and changes_state(deed)]


def write(outcome: str, at: int = 0, arguments: str = '{"cents": 150}', seq: int = 1, key: str | None = None) -> Write:
    asked = None if outcome == "never" else at * SECOND
    deed = replace(
        BASE, seq=seq, tool="charge", arguments=arguments, outcome=outcome, drafted_at=at * SECOND, requested_at=asked
    )
    return Write(replace(deed, completed_at=None if outcome in {"never", "indeterminate"} else asked), key)


def record(line: int = 2, at: int | None = None, arguments: str = '{"cents": 150.0}', **more) -> Record:
    values = {"given": (), "key": None, "done": True, "id": None, **more}
    when = None if at is None else at * SECOND
    return Record(line=line, tool="charge", arguments=key_of(arguments) if arguments else None, at=when, **values)


def results(records, writes, window: int = 60) -> list[str]:
    file = RecordFile("till.csv", "sha256:00", tuple(records), ("charge",))
    return [one.result for one in reconcile(file, writes, window * SECOND)]


@pytest.mark.parametrize(
    ("outcomes", "records", "expected"),
    [
        (["ok"], 1, ["matched"]),
        (["ok"], 0, ["log_only"]),
        ([], 1, ["system_only"]),
        (["indeterminate"], 1, ["found"]),
        (["indeterminate"], 0, ["not_found"]),
        (["error"], 1, ["contradicted"]),
        (["never"], 1, ["contradicted"]),
        (["error"], 0, []),
        (["never", "ok"], 1, ["matched"]),
        (["error", "ok"], 1, ["matched"]),
        (["never", "ok"], 2, ["matched", "contradicted"]),
        (["indeterminate", "ok"], 2, ["matched", "found"]),
        (["indeterminate", "ok"], 1, ["ambiguous", "ambiguous"]),
        (["indeterminate", "ok"], 0, ["log_only", "not_found"]),
        (["ok", "ok"], 1, ["ambiguous", "ambiguous"]),
        (["ok"], 2, ["ambiguous"]),
        (["ok", "ok"], 2, ["matched", "matched"]),
    ],
)
def test_alike_ones_are_counted_and_where_the_number_does_not_tell_nothing_is_guessed(outcomes, records, expected):
    writes = [write(outcome, seq=seq) for seq, outcome in enumerate(outcomes)]
    found = results([record(line) for line in range(records)], writes)

    assert sorted(found) == sorted(expected)


def test_time_tells_apart_what_is_alike():
    writes = [write("indeterminate", 0, seq=1), write("ok", 1000, seq=2)]

    assert results([record(at=1001)], writes) == ["not_found", "matched"]
    assert results([record(at=1)], writes) == ["found", "log_only"]
    assert results([record(at=1001)], writes, window=2000) == ["ambiguous", "ambiguous"]


def test_a_record_outside_the_window_is_of_no_write():
    assert sorted(results([record(at=61)], [write("ok")])) == ["log_only", "system_only"]
    assert results([record(at=60)], [write("ok")]) == ["matched"]


def test_arguments_are_compared_by_value_and_single_ones_as_text_or_json():
    assert results([record(arguments='{ "cents":150.0 }')], [write("ok")]) == ["matched"]
    for text in ("150", "150.0", '"150"'):
        said = record(arguments="", given=(("cents", text),))
        assert results([said], [write("ok", arguments='{"cents": 150, "to": "x"}')]) == (
            ["matched"] if text != '"150"' else ["log_only", "system_only"]
        )
    said = record(arguments="", given=(("to", "Ann"),))
    assert results([said], [write("ok", arguments='{"to": "Ann"}')]) == ["matched"]


def test_an_idempotency_key_is_enough():
    said = [record(arguments="", key="b"), record(3, arguments="", key="c")]

    assert results(said, [write("ok", key="a"), write("indeterminate", key="b")]) == [
        "log_only",
        "found",
        "system_only",
    ]


def test_a_row_that_says_that_it_was_not_done_is_no_record():
    assert results([record(done=False)], [write("ok")]) == ["log_only"]


@given(
    outcomes=st.lists(st.sampled_from(["ok", "error", "indeterminate", "never"]), max_size=6),
    times=st.lists(st.one_of(st.none(), st.integers(0, 300)), max_size=6),
)
def test_every_record_is_told_of_and_no_write_or_record_is_matched_twice(outcomes, times):
    writes = [write(outcome, at=40 * seq, seq=seq) for seq, outcome in enumerate(outcomes)]
    file = RecordFile("till.csv", "", tuple(record(line, at) for line, at in enumerate(times, 2)), ("charge",))
    found = list(reconcile(file, writes, 60 * SECOND))
    told = [one.record.line for one in found if one.record is not None]
    seqs = [one.deed.seq for one in found if one.deed is not None]

    assert len(told) == len(set(told))
    assert len(seqs) == len(set(seqs))
    assert {one.result for one in found} <= set(RESULTS)
    for line in {one.line for one in file.records} - set(told):
        assert any(f"line {line}" in one.detail for one in found if one.result == "ambiguous")
    for one in found:
        if one.result == "log_only":
            assert one.deed.outcome == "ok"
