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


@pytest.mark.parametrize(
    ("outcomes", "done", "failed", "expected"),
    [
        (["indeterminate"], 0, 1, ["failed"]),
        (["indeterminate"], 0, 2, ["failed", "system_only"]),
        (["indeterminate"], 1, 1, ["ambiguous"]),
        (["ok"], 0, 1, ["contradicted"]),
        (["ok"], 1, 1, ["matched", "system_only"]),
        (["error"], 0, 1, ["matched"]),
        (["error"], 1, 1, ["ambiguous"]),
        (["never"], 0, 1, ["contradicted"]),
        ([], 0, 1, ["system_only"]),
        (["ok", "error"], 1, 1, ["matched", "matched"]),
        (["ok", "indeterminate"], 1, 1, ["matched", "failed"]),
        (["error", "indeterminate"], 1, 1, ["found", "matched"]),
        (["ok", "indeterminate", "indeterminate"], 1, 1, ["ambiguous", "ambiguous", "ambiguous"]),
    ],
)
def test_what_the_system_tried_and_failed_is_a_record_of_what_failed_and_none_that_it_was_done(
    outcomes, done, failed, expected
):
    records = [record(line, done=line < done) for line in range(done + failed)]

    assert sorted(results(records, [write(one, seq=seq) for seq, one in enumerate(outcomes)])) == sorted(expected)


@pytest.mark.parametrize(
    ("outcomes", "records", "differs"),
    [(["ok"], 3, 2), (["ok", "never"], 3, 2), (["ok", "ok"], 1, -1), (["ok", "indeterminate"], 1, 0)],
)
def test_that_there_are_more_or_fewer_than_the_log_can_have_is_certain_whichever_is_whose(outcomes, records, differs):
    file = RecordFile("till.csv", "", tuple(record(line) for line in range(2, 2 + records)), ("charge",))
    found = list(reconcile(file, [write(one, seq=seq) for seq, one in enumerate(outcomes)], 0))

    assert {(one.result, one.differs, one.is_difference) for one in found} == {("ambiguous", differs, differs != 0)}


def test_of_very_many_alike_a_few_are_named_and_the_others_counted_in_no_time():
    file = RecordFile("till.csv", "", tuple(record(line, at=line) for line in range(50_000)), ("charge",))
    found = list(reconcile(file, [write("ok", at, seq=at) for at in range(0, 50_000, 50)], 60 * SECOND))

    (said,) = {one.detail for one in found}
    assert said == (
        "50000 records (line 0, line 1, line 2, line 3, line 4, line 5 and 49,994 more) for 1000 writes alike; "
        "whichever is whose, the system did it 49,000 times more than the log can have"
    )


def test_a_call_that_lasts_long_reaches_records_beyond_those_of_shorter_ones_within_it():
    (asked,) = [write("ok", 0, seq=1)]
    long = Write(replace(asked.deed, completed_at=1000 * SECOND))
    found = results([record(2, at=900)], [long, write("ok", 100, seq=2), write("ok", 900, seq=3)], window=10)

    assert found == ["ambiguous", "ambiguous", "log_only"]


@given(
    outcomes=st.lists(st.sampled_from(["ok", "error", "indeterminate", "never"]), max_size=6),
    times=st.lists(st.tuples(st.one_of(st.none(), st.integers(0, 300)), st.booleans()), max_size=6),
)
def test_every_record_is_told_of_and_no_write_or_record_is_matched_twice(outcomes, times):
    writes = [write(outcome, at=40 * seq, seq=seq) for seq, outcome in enumerate(outcomes)]
    records = tuple(record(line, at, done=done) for line, (at, done) in enumerate(times, 2))
    file = RecordFile("till.csv", "", records, ("charge",))
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
