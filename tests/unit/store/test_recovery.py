import os
import subprocess
import sys
from dataclasses import replace

import pytest

from spectrace.core.events import EpisodeEnded
from spectrace.errors import Conflict, UsageError
from spectrace.store import tables
from spectrace.store.event_store import Pending
from spectrace.store.process import this_process
from spectrace.store.recovery import end_interrupted
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.sql import open_store
from spectrace.store.statements import LEASE_US

BODIES = sample_episode(1)
AT = EPOCH_US + 1_000_000_000


@pytest.fixture
def store(database_url):
    opened = open_store(database_url)
    yield opened
    opened.close()


def begun(store, episode="e", events=30, *, close=False):
    writer = store.create(episode, BODIES[0], EPOCH_US)
    writer.append(pending(BODIES)[1:events], durable=True)
    if close:
        writer.close()
    return writer


def written_by(store, episode="e", **columns) -> None:
    """Say that somebody else began the episode."""
    with store.database.writing(durable=True) as connection:
        connection.execute(tables.episodes.update().where(tables.episodes.c.episode == episode).values(columns))


def test_an_episode_that_was_let_go_gets_its_end_once(store):
    begun(store, close=True)

    assert (end_interrupted(store, "e", AT), end_interrupted(store, "e", AT)) == (True, False)
    assert [event.type for event in store.read("e")][-2:] == [BODIES[29].TYPE, "episode.ended"]
    assert store.row("e").state == "ended"


def test_an_end_in_the_past_is_taken_as_it_is(store):
    begun(store, close=True)
    end_interrupted(store, "e", 1)

    assert (store.row("e").ended_at, list(store.read("e"))[-1].at) == (1, 1)


def test_a_living_writer_is_refused_though_its_lease_ran_out(store):
    begun(store)
    store.now = lambda: EPOCH_US + 10**15

    assert store.row("e").state == "interrupted"
    with pytest.raises(Conflict, match=rf"process {os.getpid()} on .*, which lives"):
        end_interrupted(store, "e", AT)


def test_a_writer_on_another_host_is_gone_when_its_lease_is(store):
    begun(store)
    written_by(store, writer_host="elsewhere")
    with pytest.raises(Conflict, match="on elsewhere"):
        end_interrupted(store, "e", AT)
    later = store.now() + LEASE_US + 1
    store.now = lambda: later

    assert end_interrupted(store, "e", AT)


def test_a_dead_process_on_this_host_is_gone_at_once(store):
    begun(store)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        from spectrace.store.process import _start_mark

        mark = replace(this_process(), pid=child.pid, started=_start_mark(child.pid))
        written_by(store, writer_pid=mark.pid, writer_started=mark.started)
        with pytest.raises(Conflict):
            end_interrupted(store, "e", AT)
        child.communicate(b"\n")

    assert end_interrupted(store, "e", AT)


def test_a_writer_that_comes_back_after_it_was_given_up_gets_a_conflict(store):
    writer = begun(store)
    written_by(store, lease_until=0)
    end_interrupted(store, "e", AT)

    with pytest.raises(Conflict, match="somebody else wrote it"):
        writer.append([Pending(30, "", AT, BODIES[30])], durable=True)
    assert [type(event.body) for event in store.read("e")][30:] == [EpisodeEnded]


def test_an_administrative_log_has_no_end(store):
    with pytest.raises(UsageError, match="administrative"):
        end_interrupted(store, "admin-0123456789ab", AT)
