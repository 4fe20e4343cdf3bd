import pytest

from spectrace.audit.episodes import summaries
from spectrace.audit.queries import Filters
from spectrace.core.baselines import WeakOnly
from spectrace.errors import UsageError
from spectrace.runs.live import Labels
from spectrace.store.memory import MemoryEventStore
from spectrace.store.sql import open_store
from tests.episodes import DONE, FIND, READ
from tests.playbook import accept
from tests.shop_log import recorded, reverified


def log_of(kind, path):
    """Three episodes: rejected and repaired; one model alone; unfinished because its model broke off."""
    store = MemoryEventStore() if kind == "memory" else open_store(str(path / "log.db"))
    rejected = recorded(store, labels=Labels(project="a", labels=(("team", "x"),), run="first"))
    alone = recorded(store, weak=[FIND, READ, DONE], protocol=WeakOnly(), labels=Labels(project="b", trial=1))
    failed = recorded(store, weak=[READ], task="voucher-late")
    yield store, rejected, alone, failed
    store.close()


@pytest.fixture(scope="module", params=["memory", "sqlite"])
def log(request, tmp_path_factory):
    """A log that is only read."""
    yield from log_of(request.param, tmp_path_factory.mktemp("log"))


@pytest.fixture(params=["memory", "sqlite"])
def own_log(request, tmp_path):
    """A log to write to."""
    yield from log_of(request.param, tmp_path)


def found(store, **filters):
    return [one.episode for one in summaries(store, Filters(**filters))]


def test_the_newest_episode_comes_first(log):
    store, rejected, alone, failed = log

    assert found(store) == [failed, alone, rejected]


def test_a_summary_says_what_became_of_an_episode(log):
    store, rejected, *_ = log
    (one,) = summaries(store, Filters(rejected=True))

    assert (one.episode, one.status, one.end_reason, one.reward) == (rejected, "completed", "finished", "1.0")
    assert (one.env, one.task, one.protocol, one.run, one.project) == ("shop", "cancel-own", "specagent", "first", "a")
    assert (one.weak, one.strong) == ("scripted:scripted", "scripted:scripted")
    assert (one.steps, one.writes, one.reviews, one.rejections, one.unusable, one.repairs) == (5, 1, 3, 1, 0, 1)
    assert (one.weak_calls, one.strong_calls, one.events) == (4, 3, 46)


@pytest.mark.parametrize(
    ("filters", "which"),
    [
        ({"status": ("failed",)}, "failed"),
        ({"env": ("shop",), "protocol": ("weak-only",)}, "alone"),
        ({"env": ("tau2:airline",)}, ""),
        ({"task": ("voucher-late",)}, "failed"),
        ({"project": ("b",)}, "alone"),
        ({"labels": (("team", "x"),)}, "rejected"),
        ({"labels": (("team", "y"),)}, ""),
        ({"run": ("first",)}, "rejected"),
        ({"rejected": True}, "rejected"),
        ({"tool": ("find_customer",)}, "alone rejected"),
        ({"tool": ("cancel_order",)}, "rejected"),
        ({"grep": "FIND THE CUSTOMER FIRST"}, "rejected"),
        ({"grep": "nobody ever said this"}, ""),
        ({"model": ("script",), "task": ("voucher-late",)}, "failed"),
        ({"model": ("gpt",)}, ""),
        ({"limit": 1}, "failed"),
        ({"since": 1 << 62}, ""),
        ({"until": 0}, ""),
    ],
)
def test_a_filter_lets_pass_what_fits(log, filters, which):
    store, *named = log
    ids = dict(zip(("rejected", "alone", "failed"), named, strict=True))

    assert found(store, **filters) == [ids[name] for name in sorted(which.split(), key=list(ids).index, reverse=True)]


def test_a_page_goes_on_after_the_last_episode_of_the_one_before(log):
    store, rejected, alone, failed = log

    assert found(store, after=failed, limit=1) == [alone]
    assert found(store, after=rejected) == []


def test_going_on_after_an_episode_that_is_not_listed_is_refused(log):
    store, rejected, *_ = log

    with pytest.raises(UsageError, match="not in this listing"):
        found(store, after=rejected, status=("failed",))


def test_sorting_goes_by_number_and_puts_the_unknown_last(log):
    store, rejected, alone, failed = log

    assert found(store, sort="-reward") == [rejected, alone, failed]
    assert found(store, sort="reward") == [alone, rejected, failed]
    assert found(store, sort="steps")[-1] == rejected


def test_sorting_by_what_is_no_field_names_the_fields(log):
    with pytest.raises(UsageError, match="started_at"):
        found(log[0], sort="size")


def test_an_episode_without_an_end_counts_what_it_did_so_far(own_log):
    store, *_ = own_log
    events = list(store.read(found(store)[-1]))
    writer = store.create("unfinished", events[0].body, events[0].at + 10**9)
    from spectrace.store.event_store import Pending

    writer.append([Pending(one.seq, one.lane, one.at, one.body) for one in events[1:12]], durable=False)
    (running,) = summaries(store, Filters(status=("running",)))
    writer.close()
    (interrupted,) = summaries(store, Filters(status=("interrupted",)))

    assert (running.episode, running.status, running.rejections, running.end_reason) == (
        "unfinished",
        "running",
        1,
        None,
    )
    assert (interrupted.episode, interrupted.status, interrupted.rejections) == ("unfinished", "interrupted", 1)


def test_a_re_verification_names_its_parent(own_log):
    store, rejected, *_ = own_log
    reverified(store, rejected, "second look", [accept(), accept(), accept()])
    (child,) = summaries(store, Filters(run=("second look",)))

    assert (child.protocol, child.parent, child.parent_seq, child.reviews) == ("reverify", rejected, 45, 3)
