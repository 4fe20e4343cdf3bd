"""Erasing in databases that past revisions wrote, brought to this one: their events lie packed in other ways."""

import pytest
import sqlalchemy as sa

from spectrace.audit.integrity import CONSISTENT, verify_episode
from spectrace.core.events import Unknown
from spectrace.store import tables
from spectrace.store.erasing import Order, erase
from spectrace.store.erasing_plan import Matching, Named
from spectrace.store.matching import Needle
from spectrace.store.migrate import upgrade
from spectrace.store.soundness import check
from spectrace.store.sql import open_store
from spectrace.store.upkeep import rebuild
from tests.erasures import beside, residue, table_files, traces
from tests.migrations.populated import REVISIONS, fill_postgres, sqlite_file

TEXT = "W200"


@pytest.fixture(
    params=[f"{revision} sqlite" for revision in REVISIONS]
    + [pytest.param(f"{revision} postgres", marks=pytest.mark.slow) for revision in REVISIONS]
)
def store(request, tmp_path):
    """A database of a past revision, upgraded."""
    revision, kind = request.param.split()
    if kind == "sqlite":
        url = f"sqlite:///{sqlite_file(revision, tmp_path / 'log.db')}"
    else:
        url = fill_postgres(revision, request.getfixturevalue("postgres_url"))
    upgrade(url)
    rebuild(url, old=True)
    opened = open_store(url)
    yield opened
    opened.close()


def runs(store):
    with store.database.reading() as connection:
        return list(connection.scalars(sa.select(tables.episodes.c.episode).where(tables.episodes.c.number > 0)))


def results(store):
    return {name: verify_episode(store, name).result for name in (*runs(store), *store.administrative())}


def test_a_text_is_erased_wherever_an_older_spectrace_put_it(store):
    before, was = traces(store, TEXT), results(store)
    done = erase(store, Matching(Needle(TEXT)), Order())
    files = beside(store) if store.database.sqlite else table_files(store)
    kept = [path for path in files if ".backup" not in path.name]

    assert before.bodies > 0
    assert {part.episode for part in done.parts} <= set(runs(store))
    assert done.problems == ()
    assert residue(kept, before.needles) == {}
    assert results(store) == was
    assert set(was.values()) == {CONSISTENT}


def test_its_backup_is_named(store):
    done = erase(store, Matching(Needle(TEXT)), Order())
    named = [one for one in done.beyond if ".backup lies beside the database" in one]

    assert bool(named) == any(".backup" in path.name for path in beside(store)) if store.database.sqlite else not named


def test_every_episode_can_be_erased_and_the_database_stays_sound(store):
    names = runs(store)
    done = erase(store, Named(tuple((name, None) for name in names)), Order())
    url = store.database.url.render_as_string(hide_password=False)
    left = [event for name in names for event in store.read(name) if not isinstance(event.body, Unknown)]

    assert done.refused == ()
    assert left == []
    assert set(results(store).values()) == {CONSISTENT}
    assert {one.check: one.problem for one in check(url) if one.problem is not None and one.check != "flush"} == {}
