import pytest

from spectrace.audit.unreviewed import KINDS
from spectrace.core.baselines import WeakOnly
from spectrace.core.specagent import SpecAgent
from spectrace.store.sql import open_store
from tests.damage import damage
from tests.episodes import CANCEL, DONE, READ
from tests.playbook import accept
from tests.shop_log import recorded


@pytest.fixture
def mixed(line, episode):
    """Beside the reviewed episode one without reviews, and one with an unreviewed segment."""
    store = open_store("spectrace.db")
    alone = recorded(store, protocol=WeakOnly(), weak=[CANCEL, DONE])
    partly = recorded(store, protocol=SpecAgent(k=1), weak=[READ, CANCEL, DONE], strong=[accept(), accept()])
    store.close()
    return alone, partly


def test_an_item_has_the_fields_that_others_rely_on(line, mixed):
    alone, partly = mixed
    items = line.items("audit", "unreviewed")

    assert [(one["episode"], one["kind"], one["tool"]) for one in items] == [
        (alone, "no_review", "cancel_order"),
        (alone, "no_review", None),
        (partly, "segment", None),
    ]
    assert set(items[0]) == {"episode", "seq", "kind", "detail", "tool", "segment"}


def test_people_see_the_gravest_first_and_the_protocols_without_review_last(line, mixed):
    alone, partly = mixed
    shown = line("audit", "unreviewed").stdout

    assert shown.index(partly) < shown.index(alone)
    assert f"2  no_review  {KINDS['no_review']}" in shown


def test_a_kind_or_an_episode_may_be_chosen(line, mixed, episode):
    assert [one["kind"] for one in line.items("audit", "unreviewed", "--kind", "segment")] == ["segment"]
    assert line.items("audit", "unreviewed", episode) == []
    assert "Nothing ran without a verdict (1 episode looked at)." in line("audit", "unreviewed", episode).stdout
    assert len(line.items("audit", "unreviewed", "--protocol", "weak-only")) == 2


def test_what_cannot_be_read_is_said(line, mixed, episode):
    damage("spectrace.db", "UPDATE events SET payload = x'0011' WHERE (key & 1048575) = 10 AND key < (2 << 20)")
    result = line("audit", "unreviewed")

    assert (result.exit_code, f"event 10 of {episode}" in result.stderr) == (3, True)
