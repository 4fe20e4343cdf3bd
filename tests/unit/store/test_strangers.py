"""What somebody hangs on a log's tables is named, and what it swallows is not taken for recorded."""

import pytest
import sqlalchemy as sa

from spectrace.core.events import ResetRequested
from spectrace.errors import StoreError
from spectrace.store import strangers
from spectrace.store.database import parse_url
from spectrace.store.event_store import Pending
from spectrace.store.grants import apply
from spectrace.store.samples import EPOCH_US, pending, sample_episode
from spectrace.store.soundness import check
from spectrace.store.sql import open_store

BODIES = sample_episode(1, segments=1)
SWALLOW = {
    "sqlite": ("CREATE TRIGGER trap BEFORE INSERT ON events WHEN NEW.type = 3 BEGIN SELECT RAISE(IGNORE); END",),
    "postgresql": (
        "CREATE FUNCTION trap() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
        "CREATE TRIGGER trap BEFORE INSERT ON events FOR EACH ROW WHEN (NEW.type = 3) EXECUTE FUNCTION trap()",
    ),
}
KEPT_APART = {
    "sqlite": [
        (
            "CREATE TABLE stash (kept)",
            "CREATE TRIGGER keeps AFTER UPDATE ON events BEGIN INSERT INTO stash VALUES (OLD.payload); END",
        )
    ],
    "postgresql": [
        ("CREATE RULE nodel AS ON INSERT TO events WHERE NEW.effect = 'write' DO INSTEAD NOTHING",),
        ("ALTER TABLE leaves SET UNLOGGED",),
        ("ALTER TABLE events ENABLE ROW LEVEL SECURITY", "ALTER TABLE events FORCE ROW LEVEL SECURITY"),
        ("CREATE POLICY hides ON episodes USING (false)",),
    ],
}


def told(url):
    return next(one.problem for one in check(url) if one.check == "strangers")


def said(url, *statements):
    engine = sa.create_engine(parse_url(url))
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
        found = strangers.problems(connection)
    engine.dispose()
    return found


@pytest.fixture
def written(database_url):
    store = open_store(database_url)
    writer = store.create("ep1", BODIES[0], EPOCH_US)
    writer.append(pending(BODIES[1:], 1), durable=True)
    writer.close()
    store.close()
    return database_url


def test_a_log_as_spectrace_makes_it_has_no_strangers(written):
    assert told(written) is None


def test_each_is_named(written):
    kind = sa.make_url(written).get_backend_name()
    for statements in (SWALLOW[kind], *KEPT_APART[kind]):
        before = said(written)
        after = said(written, *statements)

        assert after is not None
        assert after != before
        assert "find out who made it" in after


def test_policies_of_our_own_grants_are_none(postgres_url):
    store = open_store(postgres_url)
    apply(store.database, ["CREATE POLICY spectrace_reads ON episodes USING (true)"])
    store.close()

    assert said(postgres_url) is None


@pytest.mark.parametrize("durable", [False, True])
def test_an_event_that_was_swallowed_is_not_taken_for_recorded(database_url, durable):
    store = open_store(database_url)
    writer = store.create("ep1", BODIES[0], EPOCH_US)
    said(database_url, *SWALLOW[sa.make_url(database_url).get_backend_name()])
    with pytest.raises(StoreError, match="did not keep all events of ep1"):
        writer.append([Pending(1, "", EPOCH_US, ResetRequested(seed=1))], durable=durable)

    assert store.row("ep1").events == 1
    writer.close()
    store.close()
