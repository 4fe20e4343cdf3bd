import json
import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace

import pytest
import sqlalchemy as sa

from spectrace.core.digest import body_proof, first_link, link_over
from spectrace.core.events import Event, ResetRequested, Unknown
from spectrace.core.versions import require_readable
from spectrace.errors import Conflict, NewerSchema, StoreError
from spectrace.store import tables
from spectrace.store.blobs import references
from spectrace.store.compression import RAW
from spectrace.store.database import Database, parse_url
from spectrace.store.event_store import Pending
from spectrace.store.memory import MemoryEventStore
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.sql import SqlEventStore, open_store
from spectrace.store.statements import LEASE_US, key
from spectrace.store.tables import SEQ_BITS
from tests.damage import forging

BODIES = sample_episode(1, segments=2)


@pytest.fixture
def store(database_url):
    with_closing = open_store(database_url)
    yield with_closing
    with_closing.close()


def begun(store, episode="ep1"):
    return store.create(episode, BODIES[0], EPOCH_US)


def reset(seq, seed=None):
    return [Pending(seq, "", EPOCH_US + seq, ResetRequested(seed=seed))]


def test_equal_salts_give_equal_links_in_every_store(tmp_path, postgres_url):
    def counted():
        numbers = iter(range(1000))
        return lambda: next(numbers).to_bytes(16, "big")

    def stored(store):
        writer = begun(store)
        writer.append(pending(BODIES)[1:], durable=False)
        writer.close()
        found = list(store.stored("ep1"))
        store.close()
        return found

    def sql(url):
        open_store(url).close()
        return SqlEventStore(Database(parse_url(url), read_only=False), salts=counted())

    memory = stored(MemoryEventStore(counted()))

    assert stored(sql(str(tmp_path / "log.db"))) == memory
    assert stored(sql(postgres_url)) == memory


def test_a_second_writer_is_refused_while_the_first_lives(store, database_url):
    begun(store)
    other = open_store(database_url)

    with pytest.raises(Conflict, match="ep1 is being written by process"):
        other.reopen("ep1")
    other.close()


def test_of_two_writers_the_later_one_gets_a_conflict_and_keeps_nothing(store, database_url):
    first = begun(store)
    other = SqlEventStore(open_store(database_url).database, now=lambda: store.now() + 2 * LEASE_US)
    second = other.reopen("ep1")
    second.append(reset(1, seed=2), durable=False)
    with pytest.raises(Conflict, match="event 1 of ep1 was expected to be free"):
        first.append(reset(1, seed=1), durable=False)
    found = [event.body for event in store.read("ep1")]
    other.close()

    assert found == [BODIES[0], ResetRequested(seed=2)]


def test_a_reopened_episode_goes_on_with_its_chain_and_its_messages(store):
    events = pending(BODIES)
    writer = begun(store)
    writer.append(events[1:20], durable=False)
    writer.close()
    again = store.reopen("ep1")
    again.append(events[20:], durable=True)
    again.close()
    stored, link = list(store.stored("ep1")), first_link("ep1")
    for event in stored:
        link = link_over(link, event.header, body_proof(event.salt, event.body))

    assert [event.body for event in store.read("ep1")] == BODIES
    assert (store.row("ep1").head, store.row("ep1").events) == (link, len(BODIES))


@pytest.mark.parametrize("kind", ["sql", "memory"])
def test_a_flush_of_what_was_appended_before_adds_nothing(store, kind):
    written = store if kind == "sql" else MemoryEventStore()
    writer = begun(written)
    writer.append(reset(1), durable=False)
    writer.append([], durable=True)
    writer.append(reset(2), durable=False)
    writer.close()

    assert [event.seq for event in written.read("ep1")] == [0, 1, 2]


def test_a_lease_that_ran_out_means_interrupted(store):
    writer = begun(store)
    later = SqlEventStore(store.database, now=lambda: store.now() + LEASE_US + 1_000_000)
    before = later.row("ep1").state
    writer.renew()

    assert (before, store.row("ep1").state) == ("interrupted", "running")


def test_a_closed_writer_refuses(store):
    writer = begun(store)
    writer.close()

    with pytest.raises(StoreError, match="the writer of ep1 was closed"):
        writer.append(reset(1), durable=False)


def test_an_unknown_type_is_kept_shown_and_exported_with_equal_bytes(store):
    begun(store).close()
    body = b'{"new":[1,{"deep":true}]}'
    insert_raw(store, 999, "future.thing", 1, body)
    event, stored = list(store.read("ep1"))[1], list(store.stored("ep1"))[1]

    assert event == Event("ep1", 1, "", 7, Unknown("future.thing", 1, body.decode()))
    assert (stored.body, stored.link) == (body, b"l" * 32)
    assert b'"future.thing",1,7' in stored.header


def test_a_newer_version_of_a_known_type_is_unknown_and_refused_where_it_is_interpreted(store):
    begun(store).close()
    insert_raw(store, 3, None, 9, b'{"seed":"text now"}')
    event = list(store.read("ep1"))[1]

    assert event.body == Unknown("reset.requested", 9, '{"seed":"text now"}')
    with pytest.raises(NewerSchema, match=r"reset\.requested version 9"):
        require_readable(event)


def test_fields_that_are_not_known_stay_in_the_stored_bytes(store):
    begun(store).close()
    body = b'{"later":{"a":[1]},"seed":4}'
    insert_raw(store, 3, None, 1, body)

    assert list(store.read("ep1"))[1].body == ResetRequested(seed=4)
    assert list(store.stored("ep1"))[1].body == body


def test_an_erased_event_is_unknown_with_no_body_and_the_rest_reads_on(store):
    writer = begun(store)
    writer.append(pending(BODIES)[1:], durable=False)
    writer.close()
    with store.database.writing(durable=True) as connection:
        forging(connection)
        where = tables.events.c.key == key(1, 1)
        connection.execute(tables.events.update().where(where).values(payload=None, salt=None))

    assert list(store.read("ep1"))[1].body == Unknown("reset.requested", 1, "null")
    assert [event.body for event in store.read("ep1")][2:] == BODIES[2:]
    assert (list(store.stored("ep1"))[1].body, list(store.stored("ep1"))[1].salt) == (None, None)


def test_calls_that_lean_on_an_erased_message_are_unknown(store):
    asked = [seq for seq, body in enumerate(BODIES) if body.TYPE == "generate.requested"]
    writer = begun(store)
    writer.append(pending(BODIES)[1:], durable=False)
    writer.close()
    with store.database.writing(durable=True) as connection:
        forging(connection)
        where = tables.events.c.key == key(1, asked[0])
        connection.execute(tables.events.update().where(where).values(payload=None, salt=None))
    bodies = [event.body for event in store.read("ep1")]

    assert all(isinstance(bodies[seq], Unknown) for seq in asked)
    with pytest.raises(StoreError, match=f"event {asked[0]} of ep1 was erased"):
        store.reopen("ep1")


def test_a_damaged_payload_names_the_event(store):
    begun(store).close()
    insert_raw(store, 3, None, 1, b'{"seed":')

    with pytest.raises(StoreError, match="not JSON"):
        list(store.read("ep1"))


def test_a_reader_sees_what_a_writer_committed_and_cannot_write(store, database_url):
    writer = begun(store)
    reader = open_store(database_url, read_only=True)
    writer.append(reset(1), durable=False)

    assert [event.seq for event in reader.read("ep1")] == [0, 1]
    with pytest.raises(StoreError, match="opened read-only"):
        begun(reader, "ep2")
    reader.close()


def test_tool_numbers_of_a_refused_append_are_given_out_again(store):
    writer = begun(store)
    act = next(item for item in pending(BODIES) if item.body.TYPE == "act.requested")
    new = replace(act, seq=1, body=replace(act.body, tool="brand_new"))
    with pytest.raises(StoreError, match="expected"):
        writer.append([new, replace(new, seq=9)], durable=False)
    writer.append([new], durable=False)

    assert list(store.read("ep1"))[1].body == new.body


def test_hundreds_of_events_fit_one_append(store):
    writer = begun(store)
    writer.append([item for seq in range(1, 1300) for item in reset(seq)], durable=False)

    assert [event.seq for event in store.read("ep1")] == list(range(1300))


CRASHING = """
    import sys
    from spectrace.store.event_store import Pending
    from spectrace.store.samples import EPOCH_US, sample_episode
    from spectrace.core.events import ResetRequested
    from spectrace.store.sql import open_store
    writer = open_store(sys.argv[1]).create("ep1", sample_episode(1)[0], EPOCH_US)
    for seq in range(1, 100000):
        writer.append([Pending(seq, "", seq, ResetRequested(seed=seq))], durable=seq % 7 == 0)
        print(seq, flush=True)
"""


@pytest.mark.slow
def test_kill_9_leaves_every_committed_event_and_an_interrupted_episode(store, database_url):
    program = [sys.executable, "-c", textwrap.dedent(CRASHING), database_url]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as child:
        seen = [int(next(child.stdout)) for _ in range(50)]
        running = store.row("ep1").state
        os.kill(child.pid, signal.SIGKILL)
        seen += [int(line) for line in child.stdout]
    events, link = list(store.read("ep1")), first_link("ep1")
    for stored in store.stored("ep1"):
        link = link_over(link, stored.header, body_proof(stored.salt, stored.body))

    assert running == "running"
    assert [event.seq for event in events] == list(range(len(events)))
    assert len(events) - 1 in {seen[-1], seen[-1] + 1}  # the last line may not have been printed
    assert (store.row("ep1").state, store.row("ep1").head) == ("interrupted", link)


WRITING = """
    import sys
    from spectrace.store.samples import EPOCH_US, pending, sample_episode
    from spectrace.store.sql import open_store
    store, bodies = open_store(sys.argv[1]), sample_episode(1, segments=2)
    for number in range(4):
        writer = store.create(f"{sys.argv[2]}{number}", bodies[0], EPOCH_US)
        for item in pending(bodies)[1:]:
            writer.append([item], durable=item.seq % 9 == 0)
        writer.close()
    store.close()
"""


@pytest.mark.slow
def test_several_processes_write_one_database(store, database_url):
    program = [sys.executable, "-c", textwrap.dedent(WRITING), database_url]
    children = [subprocess.Popen([*program, name]) for name in "abc"]
    codes = [child.wait() for child in children]

    assert codes == [0, 0, 0]
    for episode in (f"{name}{number}" for name in "abc" for number in range(4)):
        assert [event.body for event in store.read(episode)] == BODIES


def test_an_ended_episode_has_no_lease_to_renew(store):
    writer = begun(store)
    writer.append(pending(BODIES)[1:], durable=False)
    before = store.log.episode("ep1").lease_until
    writer.renew()
    writer.close()

    assert store.log.episode("ep1").lease_until == before
    assert store.row("ep1").state == "ended"


def insert_raw(store, number, name, version, body):
    """Write an event 1 as a newer spectrace would."""
    link = b"l" * 32
    with store.database.writing(durable=True) as connection:
        forging(connection)
        if name is not None:
            connection.execute(tables.types.insert().values(number=number, name=name))
        connection.execute(
            tables.events.insert().values(
                key=key(1, 1),
                type=number,
                lane="",
                version=version,
                at=7,
                codec=RAW,
                payload=body,
                salt=b"s" * 16,
                link=link,
            )
        )
        connection.execute(sa.update(tables.episodes).values(events=2, head=link))


DAMAGE = {
    "packed": "UPDATE events SET codec = 101, payload = x'000102' WHERE key = {key}",
    "no JSON": "UPDATE events SET codec = 0, payload = x'7b' WHERE key = {key}",
    "another body": "UPDATE events SET codec = 0, payload = x'7b7d' WHERE key = {key}",
    "blob": "UPDATE blobs SET codec = 1, bytes = x'000102' WHERE digest = x'{digest}'",
    "blob's bytes": "UPDATE blobs SET codec = 0, bytes = x'00' WHERE digest = x'{digest}'",
    "no blob": "DELETE FROM blobs WHERE digest = x'{digest}'",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_cannot_be_read_names_its_event_and_episode_and_says_what_to_do(tmp_path, damage):
    bodies = sample_episode(1)
    store = open_store(str(tmp_path / "log.db"))
    writer = store.create("ep1", bodies[0], EPOCH_US)
    writer.append(pending(bodies)[1:], durable=True)
    writer.close()
    blobs = {event.seq: list(references(json.loads(event.body))) for event in store.stored("ep1")}
    seq = next(seq for seq, found in blobs.items() if found and seq > 3)
    statement = DAMAGE[damage].format(key=1 << SEQ_BITS | seq, digest=blobs[seq][0].removeprefix("sha256:"))
    with store.database.writing(durable=True) as connection:
        forging(connection)
        connection.exec_driver_sql("DROP TRIGGER events_no_update")
        assert connection.exec_driver_sql(statement).rowcount == 1
    seen = []
    with pytest.raises(StoreError) as raised:
        seen.extend(event.seq for event in store.read("ep1"))
    store.close()

    assert str(raised.value).startswith(f"event {seq} of ep1 cannot be read: ")
    assert str(raised.value).endswith(" `spectrace verify ep1` says what of it is whole.")
    assert seen == list(range(seq))


def test_a_lease_that_cannot_be_renewed_leaves_the_next_append_to_say_so(postgres_url):
    store = open_store(postgres_url)
    writer = begun(store)
    with store.database.writing(durable=False) as connection:
        forging(connection)
        pid = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
    with store.database.reading() as connection:
        connection.exec_driver_sql("SELECT pg_terminate_backend(%s)", (pid,))
    writer.renew()
    writer.append(reset(1), durable=True)  # on a new connection: nothing had been lost with the old one
    found = [event.seq for event in store.read("ep1")]
    store.close()

    assert found == [0, 1]


def test_an_episode_that_cannot_be_let_go_is_told_unless_an_append_said_so_before(tmp_path):
    store = open_store(str(tmp_path / "log.db"))
    writers = [begun(store, name) for name in ("ep1", "ep2")]
    (tmp_path / "log.db").unlink()
    with pytest.raises(StoreError, match="deleted, moved or replaced"):
        writers[0].close()
    with pytest.raises(StoreError, match="deleted, moved or replaced"):
        writers[1].append(reset(1), durable=True)
    writers[1].close()
    store.close()
