import io
from pathlib import Path

import pytest

from spectrace.errors import NewerSchema, UsageError
from spectrace.interchange.jsonl_export import export_jsonl
from spectrace.interchange.jsonl_scan import missing, scan
from spectrace.store.memory import MemoryEventStore
from tests.shop_log import recorded
from tests.transfers import lines_of


@pytest.fixture(scope="module")
def log():
    store = MemoryEventStore()
    episodes = sorted(recorded(store) for _ in range(2))
    return store, episodes


@pytest.fixture(scope="module")
def lines(log, tmp_path_factory) -> list[bytes]:
    store, episodes = log
    path = tmp_path_factory.mktemp("jsonl") / "a.jsonl"
    export_jsonl(store, episodes, path)
    return path.read_bytes().splitlines(keepends=True)


def scanned(*parts: bytes):
    return scan(Path("a.jsonl"), io.BytesIO(b"".join(parts)))


def at(lines, episode, seq) -> int:
    """Return the index of an event's line."""
    return next(
        n for n, line in enumerate(lines) if line.startswith(b'{"header":"[\\"%s\\",%d,' % (episode.encode(), seq))
    )


def test_a_whole_file_has_every_event_in_its_place_and_no_fault(log, lines):
    store, episodes = log
    found = scanned(*lines)
    data = b"".join(lines)

    assert (found.faults, found.cut, list(found.episodes)) == ([], None, episodes)
    for episode in episodes:
        one = found.episodes[episode]
        assert (one.first_bad, one.short, one.head, one.ended) == (None, False, store.row(episode).head, True)
        assert sorted(one.places) == list(range(46))
        place = one.places[7]
        assert data[place.offset : place.offset + place.length] == lines[at(lines, episode, 7)].rstrip(b"\n")
        assert len(lines_of(store, episode)) == len(one.places)


def test_a_removed_line_is_a_gap_that_is_named(log, lines):
    (episode, _) = log[1]
    gone = {at(lines, episode, 20), at(lines, episode, 21)}
    found = scanned(*(line for n, line in enumerate(lines) if n not in gone))

    assert [fault.why for fault in found.faults] == [f"event 20 of {episode} was expected, event 22 was found"]
    assert (found.episodes[episode].first_bad, missing(found.episodes[episode])) == (20, "events 20..21 are missing")
    assert found.faults[0].place.line == at(lines, episode, 22) - 2 + 1


def test_swapped_doubled_and_altered_events_are_faults(log, lines):
    (episode, _) = log[1]
    n, m = at(lines, episode, 20), at(lines, episode, 21)
    swapped = scanned(*lines[:n], lines[m], *lines[n + 1 : m], lines[n], *lines[m + 1 :])
    doubled = scanned(*lines[: n + 1], *lines[n:])
    altered = scanned(*lines[:n], lines[n].replace(b'"salt":"', b'"salt":"0', 1)[:-2] + b"}\n", *lines[n + 1 :])

    assert swapped.episodes[episode].first_bad == 20
    assert "there a second time" in doubled.faults[0].why
    assert altered.faults


def test_a_missing_end_of_an_episode_in_the_middle_is_a_fault_and_at_the_end_a_cut(log, lines):
    first, second = log[1]
    n = at(lines, first, 40)
    middle = scanned(*lines[:n], *lines[at(lines, first, 45) + 1 :])
    end = scanned(*lines[: at(lines, second, 40)])

    assert [fault.why for fault in middle.faults] == [f"of {first}, events 40..45 are missing"]
    assert (middle.episodes[first].first_bad, middle.episodes[first].short) == (None, True)
    assert (end.faults, end.episodes[second].first_bad, end.episodes[second].short) == ([], None, True)
    assert end.cut.detail == f"the file ends too soon: of {second}, events 40..45 are missing."


def test_an_episode_that_is_not_there_at_all_is_missed(log, lines):
    first, second = log[1]
    start = next(n for n, line in enumerate(lines) if line.startswith(b'{"episode":"%s"' % second.encode()))
    end = scanned(*lines[:start])
    middle = scanned(lines[0], *lines[start:])

    assert end.cut.why == f"the file ends too soon: the episode {second} is missing"
    assert [fault.why for fault in middle.faults][-1] == f"the episode {first} is missing"


def test_a_missing_text_is_a_fault_of_the_event_that_needs_it(log, lines):
    n = next(n for n, line in enumerate(lines) if line.startswith(b'{"blob"'))
    found = scanned(*lines[:n], *lines[n + 1 :])

    assert "refers to the blob" in found.faults[0].why
    assert found.episodes[log[1][0]].first_bad == 0


def test_an_event_of_another_episode_is_a_fault(log, lines):
    first, second = log[1]
    n = at(lines, first, 7)
    found = scanned(*lines[:n], lines[at(lines, second, 7)], *lines[n:])

    assert f"event 7 of {second} comes without the line that begins its episode" in found.faults[0].why
    other = lines[n].replace(first.encode(), b"0" * 16)
    assert "which the first line does not name" in scanned(*lines[:n], other, *lines[n:]).faults[0].why


def test_records_on_one_line_are_a_fault_and_no_record_is_lost(log, lines):
    n = at(lines, log[1][0], 7)
    found = scanned(*lines[:n], lines[n].rstrip(b"\n"), *lines[n + 1 :])
    (fault,) = found.faults

    assert (fault.place.line, fault.place.offset) == (n + 1, len(b"".join(lines[: n + 1])) - 1)
    assert fault.why == "2 records on one line: line breaks between them are lost"
    assert {len(one.places) for one in found.episodes.values()} == {46}


def test_a_whole_file_on_one_line_is_a_fault(lines):
    (fault,) = scanned(b"".join(line.rstrip(b"\n") for line in lines)).faults

    assert fault.detail.endswith(f": {len(lines)} records on one line: line breaks between them are lost.")


def test_an_id_that_no_episode_has_is_a_fault_of_its_own_lines_alone(log, lines):
    first, second = log[1]
    found = scanned(*(line.replace(first.encode(), b"../up") for line in lines))

    assert {fault.episode for fault in found.faults} == {"../up"}
    assert (list(found.episodes), found.cut) == ([second], None)
    assert found.faults[0].why == "the first line names '../up', which no episode can be called"


def test_two_files_in_one_are_refused(lines):
    assert any("a second file begins here" in fault.why for fault in scanned(*lines, *lines).faults)


def test_a_missing_first_line_and_a_missing_line_of_an_episode_are_faults(lines):
    assert "the first line" in scanned(*lines[1:]).faults[0].why
    assert "comes without the line that begins its episode" in scanned(lines[0], *lines[2:]).faults[-1].why


@pytest.mark.parametrize("data", [b"", b"\n\n \n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_never_an_empty_log(data):
    with pytest.raises(UsageError, match=r"a\.jsonl is empty: expected .*not taken for an empty log"):
        scanned(data)


@pytest.mark.parametrize(
    "data",
    [b"[1]\n", b"{}\n", b'{"episode": "ep-1", "seq": 1, "type": "step"}\n', b"a,b\n", b"\x89PNG\r\n", b"\0" * 400],
)
def test_another_file_is_refused_with_what_was_expected(data):
    with pytest.raises(UsageError, match=r"a\.jsonl: expected a file of JSON lines whose first is"):
        scanned(data, b"more\n")


def test_a_newer_file_is_refused_by_name(lines):
    with pytest.raises(NewerSchema, match=r"spectrace\.jsonl\.v2"):
        scanned(lines[0].replace(b"jsonl.v1", b"jsonl.v2"), *lines[1:])
