"""Damage as disks and processes do it, on both databases where it matters; the cases are H13, H21 and 080."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from spectrace.audit.integrity import CONSISTENT, INVALID, verify_episode
from spectrace.errors import NewerSchema, StoreError, UsageError
from spectrace.interchange.json_lines import Torn, Whole, read_lines
from spectrace.interchange.jsonl_export import export_jsonl
from spectrace.interchange.jsonl_import import import_jsonl
from spectrace.store import admin
from spectrace.store.begun import unfinished
from spectrace.store.listing import listed
from spectrace.store.memory import MemoryEventStore
from spectrace.store.sql import open_store
from spectrace.store.transfer import insert_stored
from tests.shop_log import recorded
from tests.transfers import NOTHING, Told, chained, lines_of, with_field, write_episode

CASE = Path(__file__).resolve().parents[2] / "cases" / "080-torn-line-then-append"


@dataclass(frozen=True)
class File:
    path: Path
    episode: str
    lines: list[bytes]

    def at(self, seq: int) -> int:
        """Return the index of an event's line."""
        start = b'{"header":"[\\"%s\\",%d,' % (self.episode.encode(), seq)
        return next(n for n, line in enumerate(self.lines) if line.startswith(start))

    def first(self, type_: str) -> int:
        """Return the number of the first event of a type."""
        return next(
            json.loads(json.loads(line)["header"])[1]
            for line in self.lines
            if line.startswith(b'{"header"') and json.loads(json.loads(line)["header"])[3] == type_
        )


@pytest.fixture(scope="module")
def source():
    store = MemoryEventStore()
    return store, recorded(store)


@pytest.fixture
def file(source, tmp_path):
    store, episode = source
    path = tmp_path / "a.jsonl"
    export_jsonl(store, [episode], path)
    return File(path, episode, path.read_bytes().splitlines(keepends=True))


@pytest.fixture
def log(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    yield store
    store.close()


def held(log) -> list[str]:
    """Return the recorded episodes that the log holds."""
    return [one.row.episode for one in listed(log) if not one.row.episode.startswith("admin-")]


def written(file, *parts: bytes) -> Path:
    file.path.write_bytes(b"".join(parts))
    return file.path


def test_what_was_exported_comes_back_and_exports_to_the_same_bytes(database_url, tmp_path, source):
    store = MemoryEventStore()
    for name in ("ep1", "ep2"):
        write_episode(store, name)
    export_jsonl(store, ["ep1", "ep2"], tmp_path / "a.jsonl")
    log = open_store(database_url)
    found = import_jsonl(tmp_path / "a.jsonl", log)
    export_jsonl(log, ["ep1", "ep2"], tmp_path / "b.jsonl")

    assert [(one.result, one.losses) for one in found.episodes] == [("stored", ()), ("stored", ())]
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    assert [one.result for one in import_jsonl(tmp_path / "a.jsonl", log).episodes] == ["present", "present"]
    log.close()


def test_types_versions_and_fields_that_nobody_knows_export_to_the_same_bytes(log, tmp_path):
    store = MemoryEventStore()
    write_episode(store, "ep1")
    first = lines_of(store, "ep1")
    later = [with_field(first[1], later=[1]), Told("later.type", b'{"x":1}'), Told("verdict.given", b"{}", 7, NOTHING)]
    theirs = chained("ep1", [first[0], *later])
    insert_stored(log, "ep1", theirs[-1].row.link, theirs, store.blobs)
    export_jsonl(log, ["ep1"], tmp_path / "a.jsonl")
    other = open_store(str(tmp_path / "other.db"))
    import_jsonl(tmp_path / "a.jsonl", other)
    export_jsonl(other, ["ep1"], tmp_path / "b.jsonl")
    other.close()

    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


@pytest.mark.parametrize("tail", [b"", b"\n", b"\n\n  \n", b"\0" * 400])
def test_a_cut_last_line_is_dropped_with_a_warning(log, file, source, tail):
    n = file.at(40)
    path = written(file, *file.lines[:n], file.lines[n][:90], tail)
    before = path.read_bytes()
    found = import_jsonl(path, log)
    (one,) = found.episodes

    assert (one.result, one.events, one.first_bad_seq) == ("stored", 40, None)
    assert one.losses[0] == "events 40..45 are missing: the end of the episode is not in the file."
    assert [(fault.place.line, fault.place.offset) for fault in found.damage] == [
        (n + 1, len(b"".join(file.lines[:n])))
    ]
    assert (log.row(one.episode).state, verify_episode(log, one.episode).result) == ("interrupted", CONSISTENT)
    assert path.read_bytes() == before
    assert lines_of(log, one.episode) == lines_of(source[0], one.episode)[:40]


def test_the_rest_of_a_cut_episode_is_gone_on_with_when_the_whole_file_comes(log, file, source):
    cut = import_jsonl(written(file, *file.lines[: file.at(40)]), log).episodes[0]
    whole = import_jsonl(written(file, *file.lines), log).episodes[0]

    assert (cut.result, whole.result) == ("stored", "grew")
    assert lines_of(log, file.episode) == lines_of(source[0], file.episode)


def test_a_write_in_the_part_that_was_cut_off_is_said_to_be_open(log, file):
    seq = next(
        json.loads(json.loads(line)["header"])[1]
        for line in file.lines
        if b'act.requested\\",1' in line[:90] and b'\\"write\\"' in line[:120]
    )
    losses = import_jsonl(written(file, *file.lines[: file.at(seq) + 1]), log).episodes[0].losses

    assert f"event {seq} (act.requested, cancel_order) has no outcome in what is left: outcome unknown." in losses


def fused(file, seq):
    """The line of that event torn in the middle of its type, the next one glued to it."""
    n, m = file.at(seq), file.at(seq + 1)
    kept = file.lines[n].index(b'\\"action.held') + len(b'\\"action.h')
    return written(file, *file.lines[:n], file.lines[n][:kept], *file.lines[n + 1 : m], *file.lines[m:]), n, kept


def test_a_line_torn_and_appended_to_is_refused_with_line_and_byte_and_nothing_is_imported(log, file):
    path, n, kept = fused(file, file.first("action.held"))
    offset = len(b"".join(file.lines[:n]))

    with pytest.raises(UsageError, match=rf"line {n + 1}, byte {offset} \({kept} bytes\).*Nothing was imported"):
        import_jsonl(path, log)
    assert held(log) == []


def test_salvage_takes_the_whole_record_too_and_names_the_held_write_that_is_lost(log, file):
    seq = file.first("action.held")
    path, n, kept = fused(file, seq)
    before = path.read_bytes()
    found = import_jsonl(path, log, salvage=True)
    (one,) = found.episodes
    verified = verify_episode(log, one.episode)

    assert (one.result, one.events, one.first_bad_seq) == ("stored", 45, seq)
    assert [event.seq for event in log.stored(one.episode)] == [*range(seq), *range(seq + 1, 46)]
    torn = next(loss for loss in one.losses if loss.startswith(f"line {n + 1}, "))
    assert f"({kept} bytes)" in torn
    assert f"it was event {seq} of {one.episode}" in torn
    assert "held, outcome unknown" in torn
    assert f"event {seq} is missing; its chain is broken at event {seq}, and it stays interrupted." in one.losses
    assert (log.row(one.episode).state, verified.result, verified.first_bad_seq) == ("interrupted", INVALID, seq)
    assert path.read_bytes() == before


def test_what_was_salvaged_does_not_pass_for_whole_when_it_is_read(log, file):
    import_jsonl(fused(file, file.first("action.held"))[0], log, salvage=True)

    with pytest.raises(StoreError, match="is not intact, so it stays here"):
        export_jsonl(log, [file.episode], file.path.with_name("b.jsonl"))


DAMAGE = {
    "nul": (b"\0" * 400, "400 NUL bytes"),
    "list": (b"[1,2]", "JSON that is a list"),
    "utf-8": (b'{"header":"\xff"}', "not UTF-8 text"),
    "other object": (b'{"event":1}', "an object that is no record"),
    "nan": (b'{"header":NaN}', "cut off, or no JSON"),
}


@pytest.mark.parametrize(("bad", "said"), DAMAGE.values(), ids=DAMAGE)
def test_damage_in_the_middle_is_refused_with_its_place_and_salvage_loses_nothing_but_it(log, file, bad, said):
    n = file.at(20)
    path = written(file, *file.lines[:n], bad + b"\n", *file.lines[n:])
    with pytest.raises(UsageError, match=rf"line {n + 1}, byte \d+ \({len(bad)} bytes\): .*{said}"):
        import_jsonl(path, log)
    assert held(log) == []
    found = import_jsonl(path, log, salvage=True)

    assert [(one.result, one.events, one.losses) for one in found.episodes] == [("stored", 46, ())]
    assert [said in fault.detail for fault in found.damage] == [True]
    assert verify_episode(log, file.episode).result == CONSISTENT


@pytest.mark.parametrize("data", [b"", b"\n\n", b'{"a":1}\n', b"\xff\xfe\n", b"not JSON\n"])
@pytest.mark.parametrize("salvage", [False, True])
def test_another_or_an_empty_file_is_refused_even_to_salvage(log, file, data, salvage):
    with pytest.raises(UsageError, match=r"a\.jsonl.*expected a file of JSON lines"):
        import_jsonl(written(file, data), log, salvage=salvage)
    assert held(log) == []


def test_a_newer_file_is_refused_by_name_even_to_salvage(log, file):
    path = written(file, file.lines[0].replace(b"jsonl.v1", b"jsonl.v2"), *file.lines[1:])

    with pytest.raises(NewerSchema, match=r"spectrace\.jsonl\.v2"):
        import_jsonl(path, log, salvage=True)


def test_an_event_of_another_episode_is_refused(log, file):
    n = file.at(20)
    other = file.lines[n].replace(file.episode.encode(), b"0" * len(file.episode))

    with pytest.raises(UsageError, match=r"belongs to the episode 0+, which the first line does not name"):
        import_jsonl(written(file, *file.lines[:n], other, *file.lines[n:]), log)


def test_an_altered_event_is_refused_and_salvaged_as_it_lies(log, file):
    n = file.at(20)
    altered = file.lines[n].replace(b'"salt":"', b'"salt":"00', 1)
    altered = altered[: altered.index(b'","link"') - 2] + altered[altered.index(b'","link"') :]
    path = written(file, *file.lines[:n], altered, *file.lines[n + 1 :])
    with pytest.raises(UsageError, match=rf"line {n + 1}, byte .*event 20 .* is not the one that was recorded"):
        import_jsonl(path, log)
    (one,) = import_jsonl(path, log, salvage=True).episodes

    assert (one.first_bad_seq, verify_episode(log, one.episode).first_bad_seq) == (20, 20)


def test_a_body_that_is_no_json_any_more_is_refused_with_its_line_and_its_event_is_lost(log, file):
    n = file.at(20)
    altered = file.lines[n].replace(b'"body":"{\\"', b'"body":"{\\x'.replace(b"\\x", b"x"), 1)
    assert altered != file.lines[n]
    path = written(file, *file.lines[:n], altered, *file.lines[n + 1 :])
    with pytest.raises(UsageError, match=rf"line {n + 1}, byte .*event 20 .*the stored body is not JSON"):
        import_jsonl(path, log)
    (one,) = import_jsonl(path, log, salvage=True).episodes

    assert (one.events, one.first_bad_seq, verify_episode(log, one.episode).first_bad_seq) == (45, 20, 20)


def test_a_lost_text_is_reported_with_its_event(log, file):
    n = next(n for n, line in enumerate(file.lines) if line.startswith(b'{"blob"'))
    path = written(file, *file.lines[:n], file.lines[n][:30] + b"\n", *file.lines[n + 1 :])
    (one,) = import_jsonl(path, log, salvage=True).episodes

    assert (one.first_bad_seq, one.events) == (0, 46)
    assert any("refers to the blob" in loss for loss in one.losses)
    assert verify_episode(log, one.episode).result == INVALID


def test_an_episode_of_which_nothing_is_left_is_said_to_be_lost(log, source, tmp_path):
    store, _ = source
    other = recorded(store)
    first, second = sorted([other, source[1]])
    export_jsonl(store, [first, second], tmp_path / "b.jsonl")
    lines = (tmp_path / "b.jsonl").read_bytes().splitlines(keepends=True)
    end = next(n for n, line in enumerate(lines) if line.startswith(b'{"episode":"%s"' % second.encode()))
    (tmp_path / "b.jsonl").write_bytes(b"".join(lines[:end]) + lines[end][:20])
    found = import_jsonl(tmp_path / "b.jsonl", log)

    assert [(one.episode, one.result) for one in found.episodes] == [(first, "stored"), (second, "lost")]
    assert found.episodes[1].losses[0] == "nothing of this episode is left in the file."


def test_another_episode_of_the_same_id_is_refused_with_both_heads(log, tmp_path):
    store = MemoryEventStore()
    write_episode(store, "ep1")
    export_jsonl(store, ["ep1"], tmp_path / "b.jsonl")
    write_episode(log, "ep1", seed=2)
    (one,) = import_jsonl(tmp_path / "b.jsonl", log).episodes

    assert (one.result, store.row("ep1").head.hex()[:16] in one.reason) == ("refused", True)


def test_an_import_is_on_record(log, file):
    import_jsonl(file.path, log)
    import_jsonl(file.path, log)
    told = [event.body for event in log.read(admin.episodes(log.database)[0]) if event.type == "admin.imported"]

    assert [(one.source, one.episodes) for one in told] == [("a.jsonl", 1)]


def test_an_import_that_stopped_is_on_record_until_it_is_done_again(log, file):
    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_jsonl(file.path, log, progress=stop)
    with log.database.reading() as connection:
        stopped = unfinished(connection)
    import_jsonl(file.path, log)
    with log.database.reading() as connection:
        left = unfinished(connection)

    assert ([(one.what, one.source.name) for one in stopped], left) == ([("imported", "a.jsonl")], [])


def test_a_file_that_is_not_there_is_said(log, tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        import_jsonl(tmp_path / "no.jsonl", log)


def case(name):
    with (CASE / name).open("rb") as file:
        return [piece for line in read_lines(file, lambda value: value["seq"]) for piece in line.pieces]


def test_of_case_080_events_1_3_and_4_are_found_and_event_2_is_lost_on_line_2():
    expected = json.loads((CASE / "expected.json").read_text())["fused.jsonl"]["damage_lines"]
    found = case("fused.jsonl")
    torn = [piece for piece in found if isinstance(piece, Torn)]

    assert [piece.record for piece in found if isinstance(piece, Whole)] == [1, 3, 4]
    assert [(piece.place.line, piece.place.length) for piece in torn] == [(line, 41) for line in expected]
    assert torn[0].head == b'{"episode": "ep-1", "seq": 2, "type": "he'


def test_of_case_080_a_torn_tail_is_cut_and_an_empty_file_holds_nothing():
    assert [type(piece).__name__ for piece in case("torn.jsonl")] == ["Whole", "Torn"]
    assert case("zero.jsonl") == []


@pytest.mark.parametrize("name", ["fused.jsonl", "torn.jsonl", "zero.jsonl"])
def test_the_files_of_case_080_are_of_another_program_and_are_refused(log, name):
    with pytest.raises(UsageError, match=r"expected a file of JSON lines"):
        import_jsonl(CASE / name, log, salvage=True)
