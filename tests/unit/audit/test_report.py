import asyncio

import pytest

from spectrace.audit.answers import Filters
from spectrace.audit.queries import open_reader
from spectrace.audit.report import Wanted, report
from spectrace.runs.live import Labels
from spectrace.store.erasing import Order, erase
from spectrace.store.erasing_plan import Named
from spectrace.store.sql import open_store
from tests.damage import damage
from tests.episodes import record_shop

HOUR = 3_600_000_000


@pytest.fixture
def log(tmp_path):
    """A log with three episodes of the shop; the second is of another project."""
    path = tmp_path / "log.db"
    store = open_store(str(path))
    labels = (Labels(run="a"), Labels(run="b", project="other"), Labels(run="a"))
    ids = [asyncio.run(record_shop(store, labels=one)).episode for one in labels]
    rows = [store.row(one) for one in ids]
    store.close()
    return path, ids, rows


def made(path, **wanted):
    """Return what a report says, beside the tables that are closed with it."""
    url = str(path)
    with (
        open_reader(url) as reader,
        report(reader, Wanted(title="t", url=url, selection="s", **wanted)) as found,
    ):
        return found, [deed.episode for deed in found.ran], [deed.episode for deed in found.never]


def test_a_whole_log_is_read_in_the_order_in_which_its_episodes_began(log):
    path, ids, _ = log
    found, ran, never = made(path)

    assert found.episodes == ids
    assert ran == [one for one in ids for _ in range(2)]
    assert never == ids
    assert [one.episode for one, _ in found.verified] == [*ids, found.log.administrative[0].episode]
    assert found.begun_at <= found.read_until


def test_named_episodes_and_filters_choose_and_the_administrative_log_is_verified_all_the_same(log):
    path, ids, rows = log
    named, ran, _ = made(path, episodes=frozenset(ids[1:2]))
    filtered, _, never = made(path, filters=Filters(run=("a",)))

    assert (named.episodes, set(ran)) == (ids[1:2], {ids[1]})
    assert (filtered.episodes, never) == ([ids[0], ids[2]], [ids[0], ids[2]])
    assert [one.episode for one, _ in named.verified] == [ids[1], named.log.administrative[0].episode]
    assert named.verified[0][1] == rows[1].head.hex()


def test_a_period_takes_the_actions_in_it_and_the_episodes_that_lie_in_it_with_any_part(log):
    path, ids, rows = log
    middle = rows[1].started_at
    before, ran, _ = made(path, between=(None, middle))
    inside, _, _ = made(path, between=(rows[0].ended_at, rows[2].started_at))
    after, _, never = made(path, between=(rows[2].ended_at + HOUR, None))

    assert (before.episodes, set(ran)) == (ids[:1], {ids[0]})
    assert inside.episodes == ids[:2]
    assert (after.episodes, never, after.figures.total) == ([], [], 0)


def test_rows_beyond_the_limit_are_counted_and_left_out(log):
    found, ran, never = made(log[0], rows=1)

    assert (found.ran.total, found.ran.left_out, len(ran)) == (6, 5, 1)
    assert (found.never.total, found.never.left_out, len(never)) == (3, 2, 1)
    assert found.figures.total == 9


def test_what_cannot_be_read_is_told_once_and_the_rest_is_there(log):
    path, ids, _ = log
    damage(path, "UPDATE events SET payload = NULL, salt = NULL WHERE key = (2 << 20) + 10")
    found, _, _ = made(path, episodes=frozenset(ids))

    assert {one.episode for one in found.lost} == {ids[1]}
    assert len(found.lost) == len({one.detail for one in found.lost})
    assert [one.result for one, _ in found.verified] == ["consistent", "invalid", "consistent", "consistent"]
    assert set(found.episodes) == set(ids)


@pytest.mark.parametrize(("seq", "unasked", "lost"), [(5, 0, 0), (None, 1, 1)])
def test_what_is_erased_on_record_is_unknown_and_unreadable_only_where_the_ledger_lacks_it(log, seq, unasked, lost):
    path, ids, _ = log
    store = open_store(str(path))
    erase(store, Named(((ids[1], seq),)), Order("Ann", "she asked for it"))
    store.close()
    found, _, _ = made(path)

    assert len(found.lost) == lost  # with a repair erased whole, its actions may be left out
    assert [one.episode for one in found.unknowns if one.kind == "erased"] == [ids[1]]
    assert len(found.unasked) == unasked
    assert (found.tally.erased > 0) == (not unasked)


def test_progress_is_told(log):
    heard = []
    with open_reader(str(log[0])) as reader:
        wanted = Wanted(title="t", url=str(log[0]), selection="s")
        with report(reader, wanted, heard.append):
            pass

    assert heard[0] == "100 % of the file hashed"
    assert {one.split(":")[0] for one in heard[1:]} == {"actions", "unknowns", "rules", "verify"}
