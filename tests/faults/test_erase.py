"""SIGKILL at every step of an erasure: what is left is whole, and the same command again finishes it."""

import shutil
import signal

import pytest
import sqlalchemy as sa

from spectrace.audit.integrity import CONSISTENT, verify_episode
from spectrace.store import tables
from spectrace.store.cleaning import is_due
from spectrace.store.erasing import Order, erase
from spectrace.store.erasing_plan import Matching
from spectrace.store.matching import Needle
from spectrace.store.soundness import check
from spectrace.store.sql import open_store
from tests.conftest import empty_schema
from tests.erasures import ADDRESS, beside, planted, residue, table_files, traces
from tests.faults.conftest import killing

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def eraser():
    with killing("erase.py") as found:
        yield found


def filled(url):
    store = open_store(url)
    planted(store, episodes=4)
    found = traces(store, ADDRESS)
    store.close()
    return found


def points(count, most):
    return sorted({1 + round(number * (count - 1) / (most - 1)) for number in range(most)})


def names(store):
    with store.database.reading() as connection:
        return list(connection.scalars(sa.select(tables.episodes.c.episode)))


def wrong(url):
    """Return what is not as it should be, whether or not the erasure was finished."""
    store = open_store(url)
    found = {name: verify_episode(store, name) for name in names(store)}
    due = is_due(store.database)
    store.close()
    said = {name: one.detail for name, one in found.items() if one.result != CONSISTENT}
    problems = {one.check: one.problem for one in check(url) if one.problem is not None and one.check != "flush"}
    if due and "may still hold" in problems.get("erasures", "") and ";" not in problems["erasures"]:
        del problems["erasures"]  # that it is still to be cleaned is what it should say
    return {**said, **problems}


def finished(url, needles):
    """Erase again; return what is left of it."""
    store = open_store(url)
    done = erase(store, Matching(Needle(ADDRESS)), Order("Ann", "asked"))
    left = residue(beside(store) if store.database.sqlite else table_files(store), needles)
    again = erase(store, Matching(Needle(ADDRESS)), Order("Ann", "asked"))
    store.close()
    return done.problems, left, again.parts


@pytest.mark.parametrize(("kind", "most"), [("statement", 24), ("step", 12)])
def test_a_killed_erasure_leaves_a_whole_log_and_is_finished_by_the_next(eraser, tmp_path, kind, most):
    template = tmp_path / "template.db"
    before = filled(str(template))
    counted = tmp_path / "counted.db"
    shutil.copyfile(template, counted)
    counts = eraser.counts(url=f"sqlite:///{counted}", text=ADDRESS)
    killed = 0
    for point in points(counts[kind], most):
        path = tmp_path / f"{kind}{point}" / "log.db"
        path.parent.mkdir()
        shutil.copyfile(template, path)
        done = eraser(url=f"sqlite:///{path}", text=ADDRESS, kind=kind, at=point)
        killed += done["signal"] == signal.SIGKILL

        assert wrong(f"sqlite:///{path}") == {}, point
        assert finished(f"sqlite:///{path}", before.needles) == ((), {}, ()), point
        assert wrong(f"sqlite:///{path}") == {}, point
    assert killed >= most // 2


def test_a_killed_erasure_on_postgres_too(eraser, postgres):
    with empty_schema(postgres) as url:
        filled(url)
        counts = eraser.counts(url=url, text=ADDRESS)
    killed = 0
    for point in points(counts["statement"], 10):
        with empty_schema(postgres) as url:
            before = filled(url)
            done = eraser(url=url, text=ADDRESS, kind="statement", at=point)
            killed += done["signal"] == signal.SIGKILL

            assert wrong(url) == {}, point
            assert finished(url, before.needles) == ((), {}, ()), point
    assert killed >= 5
