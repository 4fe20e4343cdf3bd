"""The same name goes on with the same work, or not at all."""

from dataclasses import replace

import pytest

from spectrace.audit.queries import Reader
from spectrace.cli.reverify_begin import NotBegun, begin, grown, plan_of, refuse_recorded, selection_of, spent_micro_usd
from spectrace.core.prompts import Prompts
from spectrace.errors import UsageError
from spectrace.runs.live import Labels
from spectrace.runs.pass_plan import Plan
from spectrace.store import runs
from spectrace.store.arbiter import Item
from spectrace.store.sql import open_store
from tests.playbook import accept
from tests.shop_log import recorded, reverified

PLAN = Plan("again", "m")


@pytest.fixture
def reader(tmp_path):
    with Reader(open_store(str(tmp_path / "log.db"))) as opened:
        yield opened


def test_a_selection_is_the_same_data_set_in_whatever_order_it_was_named(reader):
    store = reader.store
    names = [recorded(store) for _ in range(3)]
    begin(store, PLAN, names)
    first = runs.get(store, "again")
    begin(store, PLAN, names[::-1])
    begin(store, replace(PLAN, run="other"), names[::-1])

    assert runs.get(store, "again") == first
    assert runs.get(store, "other").selection_digest == first.selection_digest


def test_a_run_from_before_there_were_repeats_goes_on_as_it_was_begun(reader):
    store = reader.store
    names = [recorded(store) for _ in range(2)]
    old = '{"only_rejected": false, "prompts": null, "verifier": "m"}'
    pairs = [(name, store.row(name).head.hex()) for name in names[::-1]]
    known = runs.begin(store, "again", "reverify", pairs, old)
    plan = plan_of("again", "m", None, only_rejected=False, repeat=None, known=known)

    assert plan == PLAN
    assert begin(store, plan, names).head(names[0]) == store.row(names[0]).head.hex()
    assert runs.get(store, "again") == known


def test_how_often_is_as_it_was_begun_where_nobody_says(reader):
    known = runs.begin(reader.store, "again", "reverify", [], replace(PLAN, repeat=3).to_json())

    assert plan_of("again", "m", None, only_rejected=False, repeat=None, known=known).repeat == 3
    assert plan_of("again", "m", None, only_rejected=False, repeat=2, known=known).repeat == 2
    assert plan_of("new", "m", Prompts(), only_rejected=True, repeat=None, known=None).repeat == 1


def test_how_verdicts_are_read_and_which_reviews_is_as_it_was_begun_where_nobody_says(reader):
    begun = replace(PLAN, only_rejected=True, verdict="scored", threshold="0.7")
    known = runs.begin(reader.store, "again", "reverify", [], begun.to_json())

    def asked(**more):
        return plan_of("again", "m", None, only_rejected=False, repeat=None, known=known, **more)

    assert asked() == asked(verdict="scored") == asked(threshold="0.7") == begun
    assert asked(verdict="decoded") == replace(PLAN, only_rejected=True)
    with pytest.raises(UsageError, match=r"exists with verdicts scored at 0\.7, now verdicts scored at 0\.6: the same"):
        begin(reader.store, asked(threshold="0.6"), [])
    with pytest.raises(UsageError, match=r"exists with verdicts scored at 0\.7, now decoded verdicts"):
        begin(reader.store, asked(verdict="decoded"), [])


def test_prompts_of_its_own_are_named_again(reader):
    runs.begin(reader.store, "again", "reverify", [], replace(PLAN, prompts="sha256:ab").to_json())

    with pytest.raises(UsageError, match=r"--verifier MODEL` alone does, with its --prompts\)"):
        begin(reader.store, PLAN, [])


def test_a_name_of_recorded_episodes_is_refused_whether_a_run_of_that_name_was_begun_or_not(reader):
    episode = recorded(reader.store, labels=Labels(run="first"))
    runs.begin(reader.store, "batch", "run", [])

    with pytest.raises(UsageError, match="run 'first' is one of recorded episodes"):
        refuse_recorded(reader, "first")
    with pytest.raises(UsageError, match="run 'batch' exists with another kind, run"):
        begin(reader.store, replace(PLAN, run="batch"), [episode])


def test_a_log_that_did_not_grow_is_not_said_to_have(reader):
    episode = recorded(reader.store)
    arbiter = begin(reader.store, PLAN, [episode])

    assert grown(reader.store, arbiter, [episode]) == []


def test_what_nobody_prices_has_cost_nothing_that_is_known(reader):
    episode = recorded(reader.store)
    reverified(reader.store, episode, "again", [accept()] * 3)

    assert spent_micro_usd(reader, "again") == 0


def test_a_run_that_is_only_looked_at_has_heads_and_counts_nothing(reader):
    episode = recorded(reader.store)
    looked = NotBegun(dict(selection_of(reader.store, [episode])))

    assert looked.head(episode) == reader.store.row(episode).head.hex()
    assert (looked.head("other"), looked.items(episode), looked.children(episode), looked.cancelled()) == (
        None,
        (),
        (),
        False,
    )
    with pytest.raises(UsageError, match="its run was not begun"):
        looked.count(Item(parent=episode, episode="child", at=1, state="done"))
