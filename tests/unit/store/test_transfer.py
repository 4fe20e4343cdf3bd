from dataclasses import replace

import pytest
import sqlalchemy as sa

from spectrace.audit.integrity import CONSISTENT, INVALID, verify_episode
from spectrace.core.digest import body_proof
from spectrace.core.events import EpisodeEnded, Unknown
from spectrace.core.versions import require_readable
from spectrace.errors import Conflict, EpisodeNotFound, NewerSchema, SchemaViolation, StoreError, UsageError
from spectrace.store import tables
from spectrace.store.lines import Line
from spectrace.store.memory import MemoryEventStore
from spectrace.store.recovery import end_interrupted
from spectrace.store.rows import Damage
from spectrace.store.samples import EPOCH_US
from spectrace.store.sql import open_store
from spectrace.store.transfer import GREW, PRESENT, STORED, insert_stored, selection_digest
from tests.shop_log import recorded
from tests.transfers import Told, chained, lines_of, with_field, write_episode


@pytest.fixture(scope="module")
def source():
    store = MemoryEventStore()
    write_episode(store, "ep1")
    return store


@pytest.fixture(scope="module")
def lines(source):
    return lines_of(source, "ep1")


@pytest.fixture
def target(database_url):
    store = open_store(database_url)
    yield store
    store.close()


@pytest.fixture
def sqlite(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    yield store
    store.close()


def texts(source):
    return lambda names: {name: data for name in names if (data := source.blob(name)) is not None}


def insert(target, lines, source, **given):
    return insert_stored(target, lines[0].episode, lines[-1].row.link, lines, texts(source), **given)


def test_bytes_salts_links_and_texts_come_out_as_they_went_in(target, lines, source):
    arrival = insert(target, lines, source)

    assert (arrival.result, arrival.events, arrival.ended) == (STORED, len(lines), True)
    assert list(target.stored("ep1")) == list(source.stored("ep1"))
    assert [event.body for event in target.read("ep1")] == [event.body for event in source.read("ep1")]
    assert (target.row("ep1").state, target.row("ep1").head) == ("ended", lines[-1].row.link)


def test_what_is_there_with_the_same_head_is_left_alone(sqlite, lines, source):
    insert(sqlite, lines, source)

    assert insert(sqlite, lines, source).result == PRESENT


def test_an_earlier_part_is_gone_on_with(target, lines, source):
    first = insert(target, lines[:20], source)
    state = target.row("ep1").state
    second = insert(target, lines, source)

    assert (first.result, first.ended, state) == (STORED, False, "interrupted")
    assert (second.result, second.ended) == (GREW, True)
    assert list(target.stored("ep1")) == list(source.stored("ep1"))


def test_a_shorter_part_of_what_is_there_is_nothing_new(sqlite, lines, source):
    insert(sqlite, lines, source)

    assert insert(sqlite, lines[:20], source) == replace(insert(sqlite, lines, source), result=PRESENT)
    assert sqlite.row("ep1").events == len(lines)


@pytest.mark.parametrize("cut", [None, 20])
def test_another_episode_of_the_same_id_is_refused_with_both_heads(sqlite, lines, source, cut):
    insert(sqlite, lines, source)
    other = MemoryEventStore()
    write_episode(other, "ep1", seed=2)
    theirs = lines_of(other, "ep1")[:cut]

    with pytest.raises(Conflict, match=f"{lines[-1].row.link.hex()[:16]}.*{theirs[-1].row.link.hex()[:16]}"):
        insert(sqlite, theirs, other)
    assert list(sqlite.stored("ep1")) == list(source.stored("ep1"))


def test_an_episode_that_is_being_written_is_not_written_into(sqlite, lines, source):
    writer = sqlite.create("ep1", next(source.read("ep1")).body, 1)

    with pytest.raises(Conflict, match="ep1 is here already with other events"):
        insert(sqlite, lines, source)
    writer.close()


def nothing_is_left(store, episode="ep1"):
    with pytest.raises(EpisodeNotFound):
        store.row(episode)
    with store.database.reading() as connection:
        return connection.scalar(sa.select(sa.func.count()).select_from(tables.blobs)) == 0


def test_a_break_in_the_chain_keeps_nothing_of_the_episode(sqlite, lines, source):
    def broken():
        yield from lines[:30]
        yield lines[31]

    with pytest.raises(Damage, match="event 30 of ep1 was expected"):
        insert_stored(sqlite, "ep1", lines[-1].row.link, broken(), texts(source))
    assert nothing_is_left(sqlite)


def test_a_missing_end_is_found_by_the_head(sqlite, lines, source):
    with pytest.raises(Damage, match="events are missing at its end"):
        insert_stored(sqlite, "ep1", lines[-1].row.link, lines[:-3], texts(source))


@pytest.mark.parametrize(("data", "said"), [({}, "is missing"), ("other", "holds other bytes than its name says")])
def test_a_missing_or_altered_text_is_refused_with_its_event(sqlite, lines, data, said):
    def given(names):
        return dict.fromkeys(names, b"other") if data else {}

    with pytest.raises(StoreError, match=f"event 0 of ep1.*{said}|of event 0 of ep1 {said}|{said}"):
        insert_stored(sqlite, "ep1", lines[-1].row.link, lines, given)
    assert nothing_is_left(sqlite)


def test_an_erased_body_is_refused_while_no_record_of_it_comes_along(sqlite, lines, source):
    row = lines[3].row
    erased = Line("ep1", type(row)(*row[:6], None, None, row.link), body_proof(row.salt, row.body))
    with pytest.raises(Damage, match="no record of its erasure"):
        insert(sqlite, [*lines[:3], erased, *lines[4:]], source)


def test_a_body_that_its_schema_does_not_allow_is_refused(sqlite, lines, source):
    last = lines[-1].row
    wrong = chained("ep1", [*lines[:-1], Told(last.type, b'{"reason":5}', 1, last.lifted)])

    with pytest.raises(SchemaViolation, match=r"episode\.ended"):
        insert(sqlite, wrong, source)


@pytest.mark.parametrize("body", [b"[]", b"nonsense", b'"text"'])
def test_a_body_that_is_no_object_is_refused(sqlite, lines, source, body):
    wrong = chained("ep1", [*lines[:5], Told("later.type", body), *lines[5:]])

    with pytest.raises(Damage, match=r"event 5 \(later.type\) of ep1"):
        insert(sqlite, wrong, source)


def foreign(lines):
    """An episode as a later spectrace may write it: another type, another version, another field."""
    return chained(
        "ep1",
        [
            lines[0],
            with_field(lines[1], later="kept"),
            Told("later.type", b'{"a":1,"text":{"$blob":"sha256:%s"}}' % (b"0" * 64)),
            Told("later.other", b'{"b":[true,null]}', 3),
            Told("verdict.given", b'{"quite":"another"}', 2),
        ],
    )


def test_types_versions_and_fields_that_nobody_knows_are_kept_as_they_are(target, lines, source):
    theirs = foreign(lines)
    name = "sha256:" + "0" * 64
    with pytest.raises(Damage, match=f"the text {name} of event 2"):
        insert(target, theirs, source)
    without = chained("ep1", [*theirs[:2], Told("later.type", b'{"a":1}'), *theirs[3:]])
    insert(target, without, source)

    assert [line.row for line in lines_of(target, "ep1")] == [line.row for line in without]
    assert [event.type for event in target.read("ep1")][2:] == ["later.type", "later.other", "verdict.given"]
    assert verify_episode(target, "ep1").result == CONSISTENT


def test_an_event_of_a_newer_version_is_kept_and_refused_by_who_reads_it_by_naming_the_version(sqlite, lines, source):
    insert(sqlite, chained("ep1", [lines[0], Told("verdict.given", b"{}", 2)]), source)
    found = list(sqlite.read("ep1"))[1]

    assert found.body == Unknown("verdict.given", 2, "{}")
    with pytest.raises(NewerSchema, match=r"verdict.given version 2"):
        require_readable(found)


def test_projections_are_made_on_the_way(target):
    source = MemoryEventStore()
    episode = recorded(source)
    insert(target, lines_of(source, episode), source)
    with target.database.reading() as connection:
        summary = connection.execute(tables.summaries.select()).one()
        count = connection.scalar(sa.select(sa.func.count()).select_from(tables.actions))

    assert (summary.status, summary.problem, summary.task) == ("completed", None, "cancel-own")
    assert (count, verify_episode(target, episode).result) == (3, CONSISTENT)
    assert target.row(episode).started_at == next(source.read(episode)).at


def test_of_a_damaged_file_what_is_left_is_stored_with_its_gap(sqlite, lines, source):
    left = [*lines[:6], *lines[8:]]
    arrival = insert(sqlite, left, source, whole=False)
    found = verify_episode(sqlite, "ep1")

    assert (arrival.events, arrival.ended) == (len(lines), False)
    assert [event.seq for event in sqlite.stored("ep1")] == [line.row.seq for line in left]
    assert sqlite.row("ep1").state == "interrupted"
    assert (found.result, found.first_bad_seq) == (INVALID, 6)


def test_a_reference_that_names_nothing_is_refused_and_what_is_saved_keeps_it_as_it_lies(sqlite, lines, source):
    odd = chained("ep1", [*lines[:3], Told("later.type", b'{"a":{"$blob":"sha256:no"}}'), *lines[3:]])
    with pytest.raises(Damage, match="event 3 of ep1 refers to a text by another name"):
        insert(sqlite, odd, source)

    assert insert(sqlite, odd, source, whole=False).result == STORED
    assert lines_of(sqlite, "ep1") == odd


def test_what_was_saved_never_replaces_what_is_there(sqlite, lines, source):
    insert(sqlite, lines, source)

    with pytest.raises(Conflict):
        insert(sqlite, lines[:-1], source, whole=False)


def test_an_odd_id_is_refused(sqlite, lines, source):
    with pytest.raises(UsageError, match="an episode id is"):
        insert_stored(sqlite, "../etc", b"", lines, texts(source))


def test_a_selection_is_told_by_its_episodes_and_heads(sqlite, lines, source):
    one = insert(sqlite, lines, source)

    assert selection_digest([one]) != selection_digest([replace(one, head=b"h" * 32)])


def test_an_unfinished_episode_can_be_given_its_end_here(target):
    source = MemoryEventStore()
    episode = recorded(source)
    insert(target, lines_of(source, episode)[:37], source)

    assert end_interrupted(target, episode, EPOCH_US)
    assert (target.row(episode).state, verify_episode(target, episode).result) == ("ended", CONSISTENT)


def test_only_an_end_that_is_there_ends_an_episode(sqlite, lines, source):
    insert(sqlite, [line for line in lines if line.row.type != EpisodeEnded.TYPE], source)

    assert sqlite.row("ep1").state == "interrupted"
