"""Databases of every past revision, with runs in them, brought to this one: nothing of what was recorded changes."""

import hashlib
import json
import multiprocessing
import shutil
from pathlib import Path

import pytest
import sqlalchemy as sa

from spectrace.audit.integrity import CONSISTENT, verify_episode
from spectrace.core.events import TYPE_NUMBERS, ControlPassed, PlanMade, ProgressJudged, StepSpeculated, Unknown
from spectrace.errors import NewerSchema, StoreError
from spectrace.store import admin, migrate, projections, revisions, tables
from spectrace.store.database import Database, parse_url
from spectrace.store.evidence import opened
from spectrace.store.migrate import upgrade
from spectrace.store.soundness import check
from spectrace.store.sql import SqlEventStore, open_store
from spectrace.store.triggers import missing_triggers
from spectrace.store.upkeep import rebuild
from tests.migrations.populated import REVISIONS, fill_postgres, sqlite_file, told

HEAD = revisions.head()
NEXT = """
from alembic import op
from spectrace.store.triggers import assert_triggers
revision = "{revision}"
down_revision = "{before}"
def upgrade():
    op.execute("ALTER TABLE runs ADD COLUMN later INTEGER")
    op.execute("UPDATE runs SET later = 1")
    {more}
    assert_triggers(op.get_bind())
"""


@pytest.fixture(
    params=[f"{revision} sqlite" for revision in REVISIONS]
    + [pytest.param(f"{revision} postgres", marks=pytest.mark.slow) for revision in REVISIONS]
)
def old(request, tmp_path) -> tuple[str, str]:
    """A database of a past revision: the revision, its URL."""
    revision, kind = request.param.split()
    if kind == "sqlite":
        return revision, f"sqlite:///{sqlite_file(revision, tmp_path / 'log.db')}"
    return revision, fill_postgres(revision, request.getfixturevalue("postgres_url"))


@pytest.fixture
def next_release(tmp_path, monkeypatch):
    """Give the package one more migration, as its next release would."""

    def make(more: str = "pass") -> None:
        place = tmp_path / "migrations"
        if not place.exists():
            shutil.copytree(revisions._directory(), place, ignore=shutil.ignore_patterns("__pycache__"))
        (place / "versions" / "9999_later.py").write_text(NEXT.format(revision="9999", before=HEAD, more=more))
        monkeypatch.setattr(revisions, "_PLACES", (place,))

    return make


def digest(event) -> str:
    """Return the digest of (header, body, salt, link), as `populate` computed it."""
    parts = (event.header, event.body or b"", event.salt or b"", event.link)
    return hashlib.sha256(b"".join(len(part).to_bytes(8, "big") + part for part in parts)).hexdigest()


def events(store: SqlEventStore, revision: str) -> dict[str, list[str]]:
    return {name: [digest(event) for event in store.stored(name)] for name in told(revision)["events"]}


def counts(store: SqlEventStore, revision: str) -> dict[str, int]:
    """Return the rows of the tables that were there, runs only where the administrative log lies among them."""
    found = {}
    with store.database.reading() as connection:
        for name in told(revision)["rows"]:
            query = sa.select(sa.func.count()).select_from(tables.metadata.tables[name])
            if name in {"episodes", "events"}:
                query = query.where(
                    tables.episodes.c.number > 0 if name == "episodes" else tables.events.c.key >= 1 << 20
                )
            found[name] = connection.scalar(query)
    return found


def types(url: str) -> dict[str, dict[str, str]]:
    """Return the type of every column."""
    engine = sa.create_engine(parse_url(url))
    inspector = sa.inspect(engine)
    found = {
        table: {column["name"]: repr(column["type"]) for column in inspector.get_columns(table)}
        for table in inspector.get_table_names()
    }
    engine.dispose()
    return found


def revision_of(url: str) -> str | None:
    database = Database(parse_url(url), read_only=True)
    try:
        return migrate.revision(database)
    finally:
        database.close()


def test_every_row_and_every_byte_of_every_event_is_kept(old):
    revision, url = old
    upgrade(url)
    store = open_store(url)
    kept, rows = events(store, revision), counts(store, revision)
    store.close()

    assert kept == told(revision)["events"]
    assert {**rows, **_GROWING} == {**told(revision)["rows"], **_GROWING}


_GROWING = {"types": None, "dictionaries": None}
"""Tables that a release may add to."""


def test_every_event_reads_as_it_did_and_every_chain_verifies(old):
    revision, url = old
    upgrade(url)
    store = open_store(url, read_only=True)
    results = {name: verify_episode(store, name).result for name in [*told(revision)["read"], *logs(store)]}
    events_read = {name: len(list(store.read(name))) for name in told(revision)["events"]}
    store.close()

    assert set(results.values()) == {CONSISTENT}
    assert events_read == {name: len(digests) for name, digests in told(revision)["events"].items()}


def logs(store: SqlEventStore) -> list[str]:
    return admin.episodes(store.database)


def test_column_types_do_not_change(old):
    _, url = old
    before = types(url)
    upgrade(url)
    after = types(url)

    assert {table: after[table] for table in before} == before


def test_guards_and_foreign_keys_are_on_afterwards(old):
    revision, url = old
    upgrade(url)
    store = open_store(url)
    with store.database.reading() as connection:
        missing = missing_triggers(connection)
        stale = set(connection.scalars(sa.select(tables.summaries.c.projection))) != {projections.VERSION}
    orphan = tables.run_items.insert().values(
        run=99, parent="x", verdict_seq=1, repeat=0, episode="x", at=1, state="done", result="{}"
    )
    with pytest.raises(sa.exc.IntegrityError), store.database.writing(durable=False) as connection:
        connection.execute(orphan)
    store.close()

    assert missing == []
    assert [one.check for one in check(url) if one.problem] == (["projections"] if stale else [])
    assert rebuild(url, old=True).episodes == (len(told(revision)["events"]) if stale else 0)
    assert [one.problem for one in check(url) if one.problem] == []
    assert rebuild(url, old=True).episodes == 0


def test_the_upgrade_is_on_record(old):
    revision, url = old
    done = upgrade(url)
    store = open_store(url, read_only=True)
    (log,) = logs(store)
    first, second = (event.body for event in store.read(log))
    store.close()

    had_none = revision == "0001"
    assert first.reason == ("upgraded" if had_none else "created")
    assert first.episodes == (len(told(revision)["events"]) if had_none else 0)
    assert (second.from_revision, second.to_revision) == (revision, HEAD)
    backup = (done.backup.path.name, done.backup.digest) if done.backup else (None, None)
    assert (second.backup, second.backup_digest) == backup
    assert (done.backup is not None) == url.startswith("sqlite")


def test_a_run_can_be_recorded_after_the_upgrade_and_its_number_follows_on(old):
    revision, url = old
    upgrade(url)
    store = open_store(url)
    started = next(store.read("hostile-1")).body
    store.create("new-1", started, 1).close()
    number = store.log.number("new-1")
    store.close()

    assert number == len(told(revision)["events"]) + 1


def test_a_failure_in_the_middle_leaves_the_old_state_and_the_next_try_succeeds(old, next_release, monkeypatch):
    revision, url = old
    places = revisions._PLACES
    next_release("raise RuntimeError('the power went')")
    with pytest.raises(RuntimeError, match="the power went"):
        upgrade(url)
    assert (revision_of(url), "later" in types(url)["runs"]) == (revision, False)

    monkeypatch.setattr(revisions, "_PLACES", places)
    done = upgrade(url)
    store = open_store(url)
    kept = events(store, revision)
    store.close()

    assert (done.before, done.after, kept) == (revision, HEAD, told(revision)["events"])


def test_a_failed_upgrade_of_this_revision_can_be_written_on(old, next_release, monkeypatch):
    _, url = old
    upgrade(url)
    places = revisions._PLACES
    next_release("raise RuntimeError('the power went')")
    with pytest.raises(RuntimeError):
        upgrade(url)
    monkeypatch.setattr(revisions, "_PLACES", places)
    store = open_store(url)
    (log,) = logs(store)
    store.create("new-1", next(store.read("hostile-1")).body, 1).close()
    records = len(list(store.read(log)))
    store.close()

    assert records == 2


def test_a_log_of_a_newer_release_is_refused_naming_the_version(old, next_release, monkeypatch):
    _, url = old
    places = revisions._PLACES
    next_release()
    upgrade(url)
    monkeypatch.setattr(revisions, "_PLACES", places)

    for act in (
        lambda: open_store(url),
        lambda: open_store(url, read_only=True),
        lambda: upgrade(url),
        lambda: check(url),
    ):
        with pytest.raises(NewerSchema, match=f"at revision 9999, .* carries revisions up to {HEAD}"):
            act()


def test_events_of_types_that_were_unknown_are_read_once_this_version_knows_them(old):
    revision, url = old
    if revision < "0002":
        pytest.skip("it has none")
    known = revision >= "0003"
    upgrade(url)
    store = open_store(url, read_only=True)
    late = [event.body for event in store.read("later-1")][-5:-1]
    with store.database.reading() as connection:
        numbers = dict(connection.execute(sa.select(tables.types.c.name, tables.types.c.number)).all())
    store.close()

    assert [type(body) for body in late] == [Unknown, PlanMade, StepSpeculated, ProgressJudged]
    assert (late[1].plan, late[2].tool, late[2].launched, late[3].outcome) == (
        "find it",
        "find_order",
        True,
        "stagnation",
    )
    assert {name: numbers[name] for name in ("plan.made", "step.speculated", "control.passed")} == {
        # given out before it was known, and never changed
        "plan.made": TYPE_NUMBERS[PlanMade] if known else 10_000,
        "step.speculated": TYPE_NUMBERS[StepSpeculated] if known else 10_002,
        "control.passed": TYPE_NUMBERS[ControlPassed],
    }


def test_an_old_start_is_read_as_one_that_recorded_no_price_and_no_concurrency(old):
    revision, url = old
    if revision >= "0003":
        pytest.skip("its starts have them")
    upgrade(url)
    store = open_store(url, read_only=True)
    started = [next(store.read(name)).body for name in told(revision)["events"]]
    versions = {json.loads(next(store.stored(name)).header)[4] for name in told(revision)["events"]}
    store.close()

    assert versions == {1}
    assert {(one.concurrency, *(facts.price for facts in one.models)) for one in started} <= {
        (None,) * n for n in (2, 3)
    }


def upgraded(url: str, start, results) -> None:
    start.wait()
    try:
        done = upgrade(url)
    except StoreError as error:
        results.put(str(error))
    else:
        results.put((done.before, done.after, done.backup is not None))


@pytest.mark.slow
def test_two_upgraders_at_once_do_it_once(old):
    revision, url = old
    processes = multiprocessing.get_context("spawn")
    start, results = processes.Barrier(2), processes.Queue()
    started = [processes.Process(target=upgraded, args=(url, start, results)) for _ in range(2)]
    for one in started:
        one.start()
    found = [results.get(timeout=60) for _ in started]
    for one in started:
        one.join()
    store = open_store(url, read_only=True)
    (log,) = logs(store)
    records, kept = len(list(store.read(log))), events(store, revision)
    store.close()

    assert sorted(found) == [(revision, HEAD, url.startswith("sqlite")), (HEAD, HEAD, False)]
    assert (records, kept) == (2, told(revision)["events"])


def killed(url: str, place: Path) -> None:
    """Upgrade with a migration in which the process dies."""
    revisions._PLACES = (place,)
    upgrade(url)


@pytest.mark.slow
def test_a_process_that_dies_in_the_middle_leaves_the_old_state_and_the_next_upgrade_succeeds(
    old, next_release, monkeypatch
):
    revision, url = old
    places = revisions._PLACES
    next_release("import os; os._exit(9)")
    process = multiprocessing.get_context("spawn").Process(target=killed, args=(url, revisions._PLACES[0]))
    process.start()
    process.join()
    monkeypatch.setattr(revisions, "_PLACES", places)
    left = revision_of(url), "later" in types(url)["runs"]
    done = upgrade(url)
    store = open_store(url, read_only=True)
    kept = events(store, revision)
    store.close()

    assert (process.exitcode, left) == (9, (revision, False))
    assert (done.before, kept) == (revision, told(revision)["events"])


def watched(url: str, whole: int, start, until, results) -> None:
    """Read as a viewer does, again and again: count what was seen."""
    seen: dict[str, int] = {}
    start.wait()
    while True:
        last = until.is_set()
        try:
            with opened(url) as evidence:
                store = open_store(evidence.url, read_only=True)
                try:
                    what = "whole" if len(list(store.stored("hostile-1"))) == whole else "part"
                finally:
                    store.close()
        except StoreError as error:
            what = "told to upgrade" if "run `spectrace db upgrade" in str(error) else str(error)
        seen[what] = seen.get(what, 0) + 1
        if last:
            break
    results.put(seen)


@pytest.mark.slow
def test_who_reads_while_a_migration_runs_gets_a_whole_log_or_is_told_what_to_do(old):
    revision, url = old
    whole = len(told(revision)["events"]["hostile-1"])
    processes = multiprocessing.get_context("spawn")
    start, until, results = processes.Barrier(2), processes.Event(), processes.Queue()
    viewer = processes.Process(target=watched, args=(url, whole, start, until, results))
    viewer.start()
    start.wait()
    upgrade(url)
    until.set()
    seen = results.get(timeout=60)
    viewer.join()

    assert seen.pop("whole") > 0
    assert set(seen) <= {"told to upgrade"}
