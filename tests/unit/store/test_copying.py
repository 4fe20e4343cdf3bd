import sqlite3

import pytest

from spectrace.errors import Conflict, UsageError
from spectrace.store import admin, runs
from spectrace.store.copying import copy_log
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.soundness import check
from spectrace.store.sql import open_store
from tests.shop_log import recorded
from tests.transfers import blobs_of, events_of, lines_of, write_episode


@pytest.fixture
def stores(tmp_path):
    opened = []

    def at(url):
        opened.append(open_store(url))
        return opened[-1]

    yield at
    for store in opened:
        store.close()


@pytest.fixture
def source(stores, tmp_path):
    """A log with awkward texts, a recorded episode, an interrupted one, and a run with an item."""
    store = stores(str(tmp_path / "source.db"))
    write_episode(store, "ep1")
    write_episode(store, "cut", upto=9)
    episode = recorded(store)
    runs.begin(store, "second", "reverify", [(episode, "00")], '{"k":1}')
    runs.record(store, "second", runs.Item(parent=episode, verdict_seq=3, episode="ep1", at=5, state="done"))
    return store


def problems(store):
    url = store.database.url
    found = check(url.database if store.database.sqlite else url.render_as_string(hide_password=False))
    return {one.check: one.problem for one in found if one.problem is not None}


def theirs(store, of):
    """What a copy holds of its source: its own administrative log is its own."""
    return {name: found for name, found in events_of(store).items() if name in events_of(of)}


def test_from_sqlite_to_postgres_and_back_every_byte_stays(source, stores, postgres_url, tmp_path):
    middle, back = stores(postgres_url), stores(str(tmp_path / "back.db"))
    results = [{one.result for one in copy_log(*pair).episodes} for pair in ((source, middle), (middle, back))]

    assert results == [{"stored"}, {"stored"}]
    assert theirs(middle, source) == theirs(back, source) == events_of(source)
    for copied in (middle, back):
        assert {name: blobs_of(copied)[name] for name in blobs_of(source)} == blobs_of(source)
        assert (runs.every(copied), runs.items(copied, "second")) == (runs.every(source), runs.items(source, "second"))
        assert [copied.row(name).state for name in ("ep1", "cut")] == ["ended", "interrupted"]


def test_a_copy_that_stopped_is_gone_on_with(source, stores, tmp_path):
    target = stores(str(tmp_path / "target.db"))

    def stop(done, _):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_log(source, target, stop)
    stopped = problems(target)
    second = copy_log(source, target)

    assert "not all of source.db was copied" in stopped["copies"]
    assert problems(target) == {}
    assert [one.result for one in second.episodes] == ["present", "present", "stored", "stored"]
    assert theirs(target, source) == events_of(source)
    third = copy_log(source, target)
    assert ({one.result for one in third.episodes}, third.runs, third.run_items) == ({"present"}, 0, 0)


def test_an_episode_that_is_still_written_is_said_to_be_and_gone_on_with_later(stores, tmp_path):
    source, target = stores(str(tmp_path / "source.db")), stores(str(tmp_path / "target.db"))
    bodies = sample_episode(1, segments=1)
    writer = source.create("ep1", bodies[0], EPOCH_US)
    early = copy_log(source, target).episodes[-1]
    between = target.row("ep1").state
    writer.append(pending(bodies)[1:], durable=True)
    writer.close()
    late = copy_log(source, target).episodes[-1]

    assert (early.result, early.events, between) == ("stored", 1, "interrupted")
    assert "still being written: the 1 event committed" in early.losses[0]
    assert (late.result, late.losses, target.row("ep1").state) == ("grew", (), "ended")
    assert lines_of(target, "ep1") == lines_of(source, "ep1")


def test_another_episode_of_the_same_id_is_refused_and_the_others_are_copied(source, stores, tmp_path):
    target = stores(str(tmp_path / "target.db"))
    write_episode(target, "ep1", seed=2)
    mine = lines_of(target, "ep1")
    found = {one.episode: one for one in copy_log(source, target).episodes}

    assert found["ep1"].result == "refused"
    assert lines_of(source, "ep1")[-1].row.link.hex()[:16] in found["ep1"].reason
    assert {one.result for name, one in found.items() if name != "ep1"} == {"stored"}
    assert lines_of(target, "ep1") == mine


def test_an_episode_that_is_not_intact_is_refused(stores, tmp_path):
    source = stores(str(tmp_path / "source.db"))
    write_episode(source, "ep1")
    connection = sqlite3.connect(tmp_path / "source.db")
    connection.execute("DROP TRIGGER events_no_update")
    connection.execute("UPDATE events SET at = at + 1 WHERE key >> 20 > 0 AND (key & 1048575) = 9")
    connection.commit()
    connection.close()
    found = copy_log(source, stores(str(tmp_path / "target.db"))).episodes[-1]

    assert (found.result, "event 9" in found.reason) == ("refused", True)


def test_a_run_of_the_same_name_but_other_work_is_refused(source, stores, tmp_path):
    target = stores(str(tmp_path / "target.db"))
    runs.begin(target, "second", "reverify", [("another", "00")])

    with pytest.raises(Conflict, match="the run 'second' is in the target already"):
        copy_log(source, target)
    assert problems(target) == {}


def test_a_copy_is_on_record_with_where_it_came_from(source, stores, tmp_path):
    target = stores(str(tmp_path / "target.db"))
    copy_log(source, target)
    copy_log(source, target)
    (logged,) = admin.episodes(source.database)
    told = [
        event.body
        for name in admin.episodes(target.database)
        if name != logged
        for event in target.read(name)
        if event.type == "admin.copied"
    ]

    assert [(one.source, one.episodes, one.source_epoch.episode) for one in told] == [("source.db", 4, logged)]


def test_a_database_is_not_copied_into_itself(source, stores, tmp_path):
    with pytest.raises(UsageError, match="is the database that would be copied"):
        copy_log(source, stores(str(tmp_path / "source.db")))
